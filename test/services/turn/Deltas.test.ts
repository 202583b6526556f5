import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import type { Delta } from "../../../src/domain/session/Delta.ts"
import { MessageId } from "../../../src/domain/Ids.ts"
import * as Deltas from "../../../src/services/turn/Deltas.ts"

const delta = (text: string, id = "m"): Delta => ({ _tag: "TextDelta", messageId: MessageId.make(id), text })

const make = Effect.gen(function* () {
  const told: Array<string> = []
  const deltas = yield* Deltas.make((delta) => Effect.sync(() => void told.push(delta.text)))
  return { told, ...deltas }
})

describe("Deltas", () => {
  it.effect("tells the first at once and the next ones with the beat", () =>
    Effect.gen(function* () {
      const { push, told } = yield* make
      yield* push(delta("a"))
      yield* push(delta("b"))
      yield* push(delta("c"))
      assert.deepStrictEqual(told, ["a"])
      yield* TestClock.adjust("19 millis")
      assert.deepStrictEqual(told, ["a"])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(told, ["a", "bc"])
    })
  )

  it.effect("tells a slow stream without any delay", () =>
    Effect.gen(function* () {
      const { push, told } = yield* make
      for (const text of ["a", "b", "c"]) {
        yield* push(delta(text))
        yield* TestClock.adjust("41 millis")
      }
      yield* push(delta("d"))
      assert.deepStrictEqual(told, ["a", "b", "c", "d"])
    })
  )

  it.effect("tells at once what fills a piece", () =>
    Effect.gen(function* () {
      const { push, told } = yield* make
      yield* push(delta("a"))
      yield* push(delta("b".repeat(2047)))
      assert.lengthOf(told, 1)
      yield* push(delta("cc"))
      assert.deepStrictEqual(
        told.map((text) => text.length),
        [1, 2048]
      )
    })
  )

  it.effect("begins a new message at once, behind the rest of the one before", () =>
    Effect.gen(function* () {
      const { push, told } = yield* make
      yield* push(delta("a"))
      yield* push(delta("b"))
      yield* push(delta("c", "n"))
      assert.deepStrictEqual(told, ["a", "b", "c"])
    })
  )

  it.effect("keeps the halves of a pair together, and tells a lone half in the end", () =>
    Effect.gen(function* () {
      const { flush, push, told } = yield* make
      yield* push(delta("a\ud83d"))
      assert.deepStrictEqual(told, ["a"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(told, ["a"])
      yield* push(delta("\ude00\ud83d"))
      yield* TestClock.adjust("20 millis")
      assert.deepStrictEqual(told, ["a", "😀"])
      yield* flush
      assert.deepStrictEqual(told, ["a", "😀", "\ud83d"])
    })
  )

  it.effect("tells the rest when its scope ends", () =>
    Effect.gen(function* () {
      const told = yield* Effect.scoped(
        Effect.gen(function* () {
          const { push, told } = yield* make
          yield* push(delta("a"))
          yield* push(delta("b"))
          return told
        })
      )
      assert.deepStrictEqual(told, ["a", "b"])
    })
  )

  it.effect("loses nothing when it is interrupted while the editor does not read", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const reading = yield* Deferred.make<void>()
      yield* Effect.gen(function* () {
        const deltas = yield* Deltas.make((delta) =>
          Effect.andThen(
            Deferred.await(reading),
            Effect.sync(() => void told.push(delta.text))
          )
        )
        const pushing = yield* Effect.forkChild(
          Effect.forEach(["a", "b", "c"], (text) => deltas.push(delta(text))),
          { startImmediately: true }
        )
        const stopping = yield* Effect.forkChild(Fiber.interrupt(pushing), { startImmediately: true })
        yield* Deferred.succeed(reading, undefined)
        yield* Fiber.join(stopping)
      }).pipe(Effect.scoped)
      assert.deepStrictEqual(told, ["a"])
    })
  )
})
