/** A program of its own: a peer on its standard input and output, for tests of real pipes. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { Frames } from "../../src/transports/Frames.ts"
import * as Peer from "../../src/transports/Peer.ts"
import * as Stdio from "../../src/transports/Stdio.ts"
import { routes } from "./Link.ts"

const program = Effect.gen(function* () {
  const peer = yield* Peer.make(yield* Frames, { settle: "50 millis" })
  const text = "x".repeat(1000)
  yield* peer.serve(
    routes({
      echo: Effect.succeed,
      memory: () => Effect.sync(() => process.memoryUsage().rss),
      /** Says more than any reader wants, for ever. */
      flood: () => Effect.forever(peer.notify("update", { text })),
      /** Says so many updates, then answers. */
      count: (params) =>
        Effect.forEach(
          Array.from({ length: Number(params) || 0 }, (_, at) => at),
          (at) => peer.notify("update", { at }),
          { discard: true }
        ),
      turn: () => Effect.ensuring(Effect.never, peer.notify("tool failed", {}))
    })
  )
})

NodeRuntime.runMain(Effect.scoped(Effect.provide(program, Stdio.layer)))
