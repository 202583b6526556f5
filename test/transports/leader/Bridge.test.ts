import { assert, describe, it } from "@effect/vitest"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Bridge from "../../../src/transports/leader/Bridge.ts"
import { LeaderFailed } from "../../../src/transports/leader/LeaderFailed.ts"
import * as Memory from "../../../src/transports/Memory.ts"
import { call, cancel, messageOf, result } from "../../support/Link.ts"

const read = (frames: Memory.MemoryEnd) =>
  Effect.map(Queue.unbounded<unknown, Cause.Done>(), (queue) => ({ frames, queue })).pipe(
    Effect.tap(({ queue }) =>
      Effect.forkScoped(
        Queue.into(
          Stream.runForEach(frames.incoming, (frame) =>
            Queue.offer(queue, frame._tag === "Text" ? JSON.parse(frame.text) : frame)
          ),
          queue
        )
      )
    ),
    Effect.map(({ queue }) => ({
      ...frames,
      say: (...messages: ReadonlyArray<unknown>) => frames.send(messages.map((message) => JSON.stringify(message))),
      next: Effect.orDie(Queue.take(queue)),
      rest: Queue.collect(queue)
    }))
  )

/** A bridge between a test that is the editor and leaders that the test is, too. */
const bridged = Effect.fnUntraced(function* (available: () => boolean = () => true) {
  const pair = yield* Memory.pair
  const editor = yield* read(pair.editor)
  const leaders = yield* Queue.unbounded<Effect.Success<ReturnType<typeof read>>>()
  const tries: Array<number> = []
  const reach = Effect.gen(function* () {
    tries.push(yield* Effect.clockWith((clock) => clock.currentTimeMillis))
    if (!available()) return yield* new LeaderFailed({ message: "No leader today" })
    const link = yield* Memory.pair
    yield* Queue.offer(leaders, yield* read(link.agent))
    return {
      frames: link.editor,
      reply: { superPiLeader: 1, version: "1.0.0", pid: 1 },
      end: link.editor.end,
      gone: Effect.never
    }
  })
  const running = yield* Effect.forkScoped(Bridge.run({ editor: pair.agent, version: "1.0.0", reach }), {
    startImmediately: true
  })
  return { editor, tries, running, leader: Queue.take(leaders) }
})

const initialize = call(0, "initialize", { protocolVersion: 1 })

/** The two have greeted each other. */
const greeted = Effect.fnUntraced(function* ({ editor, leader }: Effect.Success<ReturnType<typeof bridged>>) {
  const first = yield* leader
  yield* editor.say(initialize)
  assert.deepStrictEqual(yield* first.next, initialize)
  yield* first.say(result(0, {}))
  assert.deepStrictEqual(yield* editor.next, result(0, {}))
  return first
})

const quietly = Effect.provide(Logger.layer([]))

describe("Bridge", () => {
  it.effect("keeps what the editor says until there is a leader again, and then passes it on", () =>
    Effect.gen(function* () {
      const bridge = yield* bridged()
      const first = yield* greeted(bridge)
      yield* first.close
      yield* bridge.editor.say(call(1, "session/list", {}))
      yield* TestClock.adjust("1 second")
      const second = yield* bridge.leader
      const again = messageOf(yield* second.next)
      assert.strictEqual(again.method, "initialize")
      yield* second.say(result(again.id, {}))
      assert.deepStrictEqual(yield* second.next, call(1, "session/list", {}))
      assert.propertyVal(yield* bridge.editor.next, "method", "x.ai/leader_reconnected")
      yield* second.say(result(1, {}))
      assert.deepStrictEqual(yield* bridge.editor.next, result(1, {}))
      assert.deepStrictEqual(bridge.tries, [0, 1000])
    }).pipe(quietly)
  )

  it.effect("tries five times, each after twice the time; then everything that waits is answered with the reason", () =>
    Effect.gen(function* () {
      let available = true
      const bridge = yield* bridged(() => available)
      const first = yield* greeted(bridge)
      available = false
      yield* bridge.editor.say(call(1, "session/prompt", { sessionId: "s" }))
      yield* first.next
      yield* first.close
      assert.nestedInclude(yield* bridge.editor.next, { id: 1, "error.code": -32603 })
      yield* bridge.editor.say(call(2, "session/list", {}))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(bridge.tries, [0, 1_000, 3_000, 7_000, 15_000, 31_000])
      assert.deepInclude(yield* bridge.editor.next, { id: 2, error: { code: -32603, message: "No leader today" } })
      const failure = yield* Effect.flip(Fiber.join(bridge.running))
      assert.strictEqual(failure.message, "No leader today")
    }).pipe(quietly)
  )

  it.effect("counts the tries anew after each leader", () =>
    Effect.gen(function* () {
      const bridge = yield* bridged()
      for (let index = 0; index < 8; index++) {
        yield* (yield* bridge.leader).close
        yield* TestClock.adjust("1 second")
      }
      assert.lengthOf(bridge.tries, 9)
    }).pipe(quietly)
  )

  it.effect("takes back what is open when the editor ends its input, and gives the answers time to come", () =>
    Effect.gen(function* () {
      const bridge = yield* bridged()
      const leader = yield* greeted(bridge)
      yield* bridge.editor.say(call(1, "session/prompt", { sessionId: "s" }))
      yield* leader.next
      yield* bridge.editor.end
      yield* TestClock.adjust("200 millis")
      assert.deepStrictEqual(yield* leader.next, cancel(1))
      yield* leader.say({ jsonrpc: "2.0", id: 1, error: { code: -32800, message: "Request cancelled" } })
      assert.nestedInclude(yield* bridge.editor.next, { id: 1, "error.code": -32800 })
      // Nothing more is sent, and the leader lets go.
      assert.deepStrictEqual(yield* leader.rest, [])
      yield* leader.close
      yield* Fiber.join(bridge.running)
    }).pipe(quietly)
  )

  it.effect("ends in bounded time though the leader hangs, and answers in its place", () =>
    Effect.gen(function* () {
      const bridge = yield* bridged()
      const leader = yield* greeted(bridge)
      yield* bridge.editor.say(call(1, "session/prompt", { sessionId: "s" }))
      yield* leader.next
      yield* bridge.editor.end
      yield* TestClock.adjust("1600 millis")
      yield* Fiber.join(bridge.running)
      assert.nestedInclude(yield* bridge.editor.next, { id: 1, "error.code": -32603 })
    }).pipe(quietly)
  )

  it.effect("goes at once with an editor that goes while there is no leader", () =>
    Effect.gen(function* () {
      const bridge = yield* bridged()
      const leader = yield* greeted(bridge)
      yield* leader.close
      yield* bridge.editor.end
      yield* Fiber.join(bridge.running)
    }).pipe(quietly)
  )

  it.effect("waits for the first leader with what an editor asked before it ended its input", () =>
    Effect.gen(function* () {
      const bridge = yield* bridged()
      yield* bridge.editor.say(initialize)
      yield* bridge.editor.end
      const leader = yield* bridge.leader
      assert.deepStrictEqual(yield* leader.next, initialize)
      yield* leader.say(result(0, {}))
      assert.deepStrictEqual(yield* bridge.editor.next, result(0, {}))
      assert.deepStrictEqual(yield* leader.rest, [])
      yield* leader.close
      yield* Fiber.join(bridge.running)
    }).pipe(quietly)
  )

  it.effect("refuses a line that is too long by itself", () =>
    Effect.gen(function* () {
      const pair = yield* Memory.pair
      const editor = yield* read(pair.editor)
      const frames = {
        ...pair.agent,
        incoming: Stream.concat(Stream.make({ _tag: "TooLong" as const, bytes: 99 }), Stream.never)
      }
      yield* Effect.forkScoped(Bridge.run({ editor: frames, version: "1.0.0", reach: Effect.never }))
      const refusal = messageOf(yield* editor.next)
      assert.deepInclude(refusal, { id: null })
      assert.match(refusal.error?.message ?? "", /99 bytes long, and the limit is 33554432 bytes/)
    })
  )
})
