/** An agent on the stdin and stdout of this process, until the input ends: one of its own, or the one that editors share. */
import * as Effect from "effect/Effect"
import { agent } from "../../composition/Agent.ts"
import { version } from "../../domain/Version.ts"
import { type Flags, Settings } from "../../services/Settings.ts"
import * as Connection from "../../transports/acp/Connection.ts"
import { Frames } from "../../transports/Frames.ts"
import * as Stdio from "../../transports/Stdio.ts"
import type { NoLeader } from "./Bridge.ts"
import { endSoon } from "../Process.ts"

/** `leader` absent: what the configuration says. `socket` absent: that of the user. */
export interface LeaderChoice {
  readonly leader?: boolean
  readonly socket?: string
}

/** Requests that came right before the end of input, as from a pipe of a shell, still get their answers (TR-03). */
const limits = { settle: "200 millis" } as const

/** Every mode is open over stdio: whoever starts the process could do all of it without the agent. */
const serve = Effect.gen(function* () {
  yield* Effect.sync(() => process.stdin.once("end", endSoon))
  yield* Connection.serve(yield* Frames, { version, limits })
}).pipe(Effect.provide(Stdio.layer))

const serveShared = (flags: Flags, socket: string | undefined): Effect.Effect<void, NoLeader> =>
  Effect.flatMap(
    Effect.promise(() => import("./Bridge.ts")),
    (shared) => shared.serveShared(flags, socket)
  )

const usesLeader = Settings.use(({ current }) => Effect.map(current, ({ useLeader }) => useLeader))

export const serveStdio = (flags: Flags, { leader, socket }: LeaderChoice = {}): Effect.Effect<void, NoLeader> => {
  if (leader === true) return serveShared(flags, socket)
  return Effect.flatMap(leader === false ? Effect.succeed(false) : usesLeader, (shared) =>
    shared ? serveShared(flags, socket) : serve
  ).pipe(Effect.provide(agent(flags)))
}
