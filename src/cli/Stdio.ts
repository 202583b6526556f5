/** One agent on the stdin and stdout of this process, until the input ends. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { agent } from "../composition/Agent.ts"
import { version } from "../domain/Version.ts"
import type { Flags } from "../services/Settings.ts"
import * as Connection from "../transports/acp/Connection.ts"
import { Frames } from "../transports/Frames.ts"
import * as Stdio from "../transports/Stdio.ts"
import { endSoon } from "./Process.ts"

/** Requests that came right before the end of input, as from a pipe of a shell, still get their answers (TR-03). */
const limits = { settle: "200 millis" } as const

/** Every mode is open over stdio: whoever starts the process could do all of it without the agent. */
const serve = Effect.gen(function* () {
  yield* Effect.sync(() => process.stdin.once("end", endSoon))
  yield* Connection.serve(yield* Frames, { version, limits })
})

export const serveStdio = (flags: Flags): Effect.Effect<void> =>
  Effect.provide(serve, Layer.merge(agent(flags), Stdio.layer))
