import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Outbox from "../../src/transports/Outbox.ts"

const start = <A>(effect: Effect.Effect<A>) => Effect.forkChild(effect, { startImmediately: true })

/** Takes everything, batch by batch, into one list of batches. */
const drained = (outbox: Outbox.Outbox) => {
  const batches: Array<ReadonlyArray<string>> = []
  return Effect.as(
    outbox.drain((batch) => Effect.sync(() => batches.push(batch.map(({ text }) => text)))),
    batches
  )
}

describe("Outbox", () => {
  it.effect("hands on in one batch what is put in one turn", () =>
    Effect.gen(function* () {
      const outbox = Outbox.make({ frames: 100, bytes: 1000 })
      const draining = yield* start(drained(outbox))
      for (const text of ["a", "b", "c"]) yield* outbox.put(Outbox.outgoing(text))
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      yield* outbox.put(Outbox.outgoing("d"))
      outbox.end()
      assert.deepStrictEqual(yield* Fiber.join(draining), [["a", "b", "c"], ["d"]])
    })
  )

  it.effect("a small frame does not overtake a large one that waits", () =>
    Effect.gen(function* () {
      const outbox = Outbox.make({ frames: 100, bytes: 10 })
      yield* outbox.put(Outbox.outgoing("12345"))
      const large = yield* start(outbox.put(Outbox.outgoing("1234567")))
      const small = yield* start(outbox.put(Outbox.outgoing("1")))
      assert.isUndefined(small.pollUnsafe())
      const draining = yield* start(drained(outbox))
      yield* Fiber.joinAll([large, small])
      outbox.end()
      assert.deepStrictEqual((yield* Fiber.join(draining)).flat(), ["12345", "1234567", "1"])
    })
  )

  it.effect("one that gives up waiting lets those behind it in", () =>
    Effect.gen(function* () {
      const outbox = Outbox.make({ frames: 100, bytes: 10 })
      yield* outbox.put(Outbox.outgoing("12345"))
      const large = yield* start(outbox.put(Outbox.outgoing("1234567")))
      const small = yield* start(outbox.put(Outbox.outgoing("1")))
      yield* Fiber.interrupt(large)
      yield* Fiber.join(small)
      outbox.end()
      assert.deepStrictEqual(yield* drained(outbox), [["12345", "1"]])
    })
  )

  it.effect("a frame can be withdrawn until the writer has it, and its room is free again", () =>
    Effect.gen(function* () {
      const outbox = Outbox.make({ frames: 1, bytes: 10 })
      const first = Outbox.outgoing("a")
      yield* outbox.put(first)
      const second = Outbox.outgoing("b")
      const waiting = yield* start(outbox.put(second))
      assert.isTrue(outbox.withdraw(first))
      yield* Fiber.join(waiting)
      outbox.end()
      assert.deepStrictEqual(yield* drained(outbox), [["b"]])
      assert.isFalse(outbox.withdraw(second))
    })
  )

  it.effect("a writer that was woken for a frame that is gone goes back to sleep", () =>
    Effect.gen(function* () {
      const outbox = Outbox.make({ frames: 1, bytes: 10 })
      const draining = yield* start(drained(outbox))
      const frame = Outbox.outgoing("a")
      yield* outbox.put(frame)
      outbox.withdraw(frame)
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.isUndefined(draining.pollUnsafe())
      yield* outbox.put(Outbox.outgoing("b"))
      outbox.end()
      assert.deepStrictEqual(yield* Fiber.join(draining), [["b"]])
    })
  )

  it.effect("after the end nothing goes in, and nobody waits", () =>
    Effect.gen(function* () {
      const outbox = Outbox.make({ frames: 1, bytes: 10 })
      yield* outbox.put(Outbox.outgoing("a"))
      const waiting = yield* start(outbox.put(Outbox.outgoing("b")))
      outbox.end()
      yield* Fiber.join(waiting)
      yield* outbox.put(Outbox.outgoing("c"))
      outbox.push(Outbox.outgoing("d"))
      assert.deepStrictEqual(yield* drained(outbox), [["a"]])
    })
  )

  it.effect("counts bytes of UTF-8", () => Effect.sync(() => assert.strictEqual(Outbox.outgoing("漢🎉").bytes, 7)))
})
