import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as KeyedLock from "../../../src/services/session/KeyedLock.ts"

const fork = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })

describe("KeyedLock", () => {
  it.effect("runs one after the other for a key, in order, and does not keep other keys waiting", () =>
    Effect.gen(function* () {
      const alone = KeyedLock.make<string>()
      const gate = yield* Deferred.make<void>()
      const order: Array<string> = []
      const work = (name: string, wait: Effect.Effect<void> = Effect.void) =>
        Effect.andThen(
          wait,
          Effect.sync(() => order.push(name))
        )
      const fibers = [
        yield* fork(alone("a", work("a1", Deferred.await(gate)))),
        yield* fork(alone("a", work("a2"))),
        yield* fork(alone("a", work("a3"))),
        yield* fork(alone("b", work("b1")))
      ]
      assert.deepStrictEqual(order, ["b1"])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(order, ["b1", "a1", "a2", "a3"])
    })
  )

  it.effect("is free again after a failure and after an interruption, of the one that waits too", () =>
    Effect.gen(function* () {
      const alone = KeyedLock.make<string>()
      assert.strictEqual(yield* Effect.flip(alone("a", Effect.fail("no"))), "no")
      const first = yield* fork(alone("a", Effect.never))
      const second = yield* fork(alone("a", Effect.never))
      yield* Fiber.interrupt(second)
      yield* Fiber.interrupt(first)
      assert.strictEqual(yield* alone("a", Effect.succeed("yes")), "yes")
    })
  )
})
