/** The stdio of an editor joined to the agent that editors share. Loaded in place of an agent of one's own. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { bridge } from "../../composition/Bridge.ts"
import { settings } from "../../composition/Platform.ts"
import type { Flags } from "../../services/Settings.ts"
import * as Stdio from "../../transports/Stdio.ts"
import { endSoon } from "../Process.ts"

/** There is no leader, and stderr says why. */
export class NoLeader extends Schema.TaggedError<NoLeader>()("NoLeader", {}) {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
}

export const serveShared = (flags: Flags, socket: string | undefined): Effect.Effect<void, NoLeader> =>
  bridge(flags, socket, Effect.sync(endSoon)).pipe(
    Effect.catch(({ message }) =>
      Effect.andThen(
        Console.error(`error: ${message}. With --no-leader the editor gets an agent of its own`),
        Effect.fail(new NoLeader())
      )
    ),
    Effect.provide(Layer.merge(settings(flags), Stdio.layer))
  )
