/** What one request and one notification cost in a peer, in this process. Run: `node bench/peer.ts`. */
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { Frame, FramesShape } from "../src/transports/Frames.ts"
import * as Memory from "../src/transports/Memory.ts"
import * as Peer from "../src/transports/Peer.ts"
import type { Routes } from "../src/transports/Routes.ts"

const echo: Routes = {
  request: () => (params) => Effect.succeed(params),
  notification: () => () => Effect.void
}

const update = {
  sessionId: "0199c1d2-7b1f-7000-8000-5a2b5f0c1a11",
  update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "a few words " } }
}

/** Frames that a bench feeds by hand and whose output is only counted. */
const counted = Effect.gen(function* () {
  const input = yield* Queue.unbounded<Frame>()
  let frames = 0
  let writes = 0
  let target = Number.POSITIVE_INFINITY
  let reached = yield* Deferred.make<void>()
  const shape: FramesShape = {
    incoming: Stream.fromQueue(input),
    send: (batch) =>
      Effect.sync(() => {
        frames += batch.length
        writes += 1
        if (frames >= target) Deferred.doneUnsafe(reached, Effect.void)
      }),
    closed: Effect.never,
    disconnect: () => Effect.void
  }
  const expect = (count: number) =>
    Effect.gen(function* () {
      reached = yield* Deferred.make<void>()
      target = frames + count
      writes = 0
      const done = Deferred.await(reached)
      return { done: Effect.map(done, () => writes) }
    })
  return { shape, input, expect }
})

const timed = Effect.fnUntraced(function* (name: string, count: number, work: Effect.Effect<string | void>) {
  const before = yield* Clock.currentTimeNanos
  const note = yield* work
  const millis = Number((yield* Clock.currentTimeNanos) - before) / 1e6
  const each = ((millis * 1000) / count).toFixed(2)
  yield* Console.log(`${name.padEnd(34)} ${millis.toFixed(1).padStart(8)} ms ${each.padStart(8)} µs each ${note ?? ""}`)
})

const program = Effect.gen(function* () {
  const { shape, input, expect } = yield* counted
  const agent = yield* Peer.make(shape)
  yield* Effect.forkScoped(agent.serve(echo))
  const { agent: left, editor: right } = yield* Memory.pair
  const server = yield* Peer.make(left)
  const client = yield* Peer.make(right)
  yield* Effect.forkScoped(server.serve(echo))
  yield* Effect.forkScoped(client.serve(echo))

  for (let round = 0; round < 4; round++) {
    yield* timed(
      "20,000 requests, batches of 100",
      20_000,
      Effect.gen(function* () {
        for (let batch = 0; batch < 200; batch++) {
          const { done } = yield* expect(100)
          const texts = Array.from({ length: 100 }, (_, index): Frame => ({
            _tag: "Text",
            text: `{"jsonrpc":"2.0","id":${index},"method":"echo","params":${JSON.stringify(update)}}`
          }))
          yield* Queue.offerAll(input, texts)
          yield* done
        }
      })
    )
    yield* timed(
      "5,000 notifications",
      5000,
      Effect.gen(function* () {
        const { done } = yield* expect(5000)
        for (let index = 0; index < 5000; index++) yield* agent.notify("session/update", update)
        return `in ${yield* done} writes`
      })
    )
    yield* timed(
      "2,000 round trips, one by one",
      2000,
      Effect.gen(function* () {
        for (let index = 0; index < 2000; index++) yield* client.request("echo", update)
      }).pipe(Effect.orDie)
    )
  }
})

// oxlint-disable-next-line typescript/no-floating-promises -- the process ends with it
Effect.runPromise(Effect.scoped(program))
