/** When a request is tried again, and when not. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import type { ScriptPart } from "../../../src/services/models/script/Script.ts"
import { nothingAsked, scripted, steps } from "../../support/models.ts"
import { runTurn } from "../../support/turns.ts"
import { makeSession } from "../../support/turnSession.ts"

const failing = (error: NonNullable<ScriptPart["error"]>): ReadonlyArray<ScriptPart> => [{ error }]

const start = Effect.fnUntraced(function* (...answers: ReadonlyArray<ReadonlyArray<ScriptPart>>) {
  const asked = nothingAsked()
  const { session, told, until } = makeSession()
  const fiber = yield* Effect.forkChild(runTurn(session, "go", { models: scripted(steps(...answers), asked) }))
  // From here on nothing but the time is waited for.
  yield* asked.requests(1)
  return { asked, fiber, told, until }
})

describe("a model request", () => {
  it.effect("waits as long as the provider asks, tells it, and answers then", () =>
    Effect.gen(function* () {
      const { asked, fiber, told, until } = yield* start(failing({ status: 429, retryAfter: 7 }), [{ text: "Here." }])
      yield* until(() => told().length > 0)
      assert.deepStrictEqual(told(), ["notice The model did not answer; trying again in 7s"])
      yield* TestClock.adjust("6999 millis")
      assert.lengthOf(asked.prompts, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(fiber)).stopReason, "end_turn")
      assert.deepStrictEqual(told().slice(1), ["text Here.", "UsageUpdated"])
      assert.deepStrictEqual(asked.prompts[1], asked.prompts[0])
    })
  )

  it.effect("is sent four times at most, after one, two and four seconds", () =>
    Effect.gen(function* () {
      const busy = failing({ status: 529 })
      const { asked, fiber, told, until } = yield* start(busy, busy, busy, busy, [{ text: "never" }])
      for (const [pause, requests] of [
        [1, 2],
        [2, 3],
        [4, 4]
      ] as const) {
        yield* until(() => told().length === requests - 1)
        yield* TestClock.adjust(pause * 1000 - 1)
        assert.lengthOf(asked.prompts, requests - 1)
        yield* TestClock.adjust(1)
        yield* asked.requests(requests)
      }
      const outcome = yield* Fiber.join(fiber)
      assert.strictEqual(outcome.error?.kind, "overloaded")
      assert.strictEqual(outcome.error?.status, 529)
    })
  )

  it.effect("is tried again when the connection broke off before an answer began", () =>
    Effect.gen(function* () {
      const { fiber, told, until } = yield* start(failing({}), [{ text: "Here." }])
      yield* until(() => told().length > 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber)).stopReason, "end_turn")
    })
  )

  it.effect("is not tried again once anything of an answer came, be it the begin of a call", () =>
    Effect.gen(function* () {
      for (const begun of [{ text: "Once up" }, { thought: "hm" }, { tool: { name: "read", input: {} } }] as const) {
        const { asked, fiber } = yield* start([begun, { error: { status: 529 } }], [{ text: "again" }])
        const outcome = yield* Fiber.join(fiber)
        assert.strictEqual(outcome.stopReason, "refusal")
        assert.lengthOf(asked.prompts, 1)
      }
    })
  )

  it.effect("is not tried again when nothing could change, or the pause would be too long", () =>
    Effect.gen(function* () {
      const errors = [{ status: 401 }, { status: 400 }, { status: 404 }, { status: 429, retryAfter: 61 }]
      const kinds: Array<string | undefined> = []
      for (const error of errors) {
        const { asked, fiber } = yield* start(failing(error))
        const outcome = yield* Fiber.join(fiber)
        assert.lengthOf(asked.prompts, 1)
        kinds.push(outcome.error?.kind)
        if (error.retryAfter !== undefined) assert.strictEqual(outcome.error?.retryAfter, 61)
      }
      assert.deepStrictEqual(kinds, ["authentication", "invalid_request", "model_unavailable", "rate_limit"])
    })
  )

  it.effect("that waits for its next try ends with a cancel", () =>
    Effect.gen(function* () {
      const { asked, fiber, told, until } = yield* start(failing({ status: 529 }), [{ text: "again" }])
      yield* until(() => told().length > 0)
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(asked.prompts, 1)
    })
  )

  it.effect("is closed by a cancel while it streams", () =>
    Effect.gen(function* () {
      const { asked, fiber, told, until } = yield* start([{ text: "Once" }, { hang: true }])
      yield* until(() => told().length > 0)
      assert.strictEqual(asked.open, 1)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(asked.open, 0)
    })
  )
})
