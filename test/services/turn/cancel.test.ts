/** A turn that is interrupted, and the session settled as its owner does it: what the model sees next (F22). */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import type { ScriptPart } from "../../../src/services/models/script/Script.ts"
import { completed, type FakeTool, fakeTools } from "../../support/fakeTools.ts"
import { nothingAsked, scripted, spoken, steps } from "../../support/models.ts"
import { runTurn } from "../../support/turns.ts"
import { makeSession } from "../../support/turnSession.ts"

const INTERRUPTED = "This call was interrupted before it finished; its effect is unknown."

const call = (name: string, value: string): ScriptPart => ({ tool: { name, input: { value } } })

/** Cancels a turn when it has told `last`, and asks the model once more. */
const cancelled = Effect.fnUntraced(function* (
  answer: ReadonlyArray<ScriptPart>,
  last: string | undefined,
  tools: Parameters<typeof fakeTools>[0] = {},
  then: Effect.Effect<void> = Effect.void
) {
  const asked = nothingAsked()
  const recorded = makeSession()
  const running = yield* Effect.forkChild(
    runTurn(recorded.session, "go", { models: scripted(steps(answer), asked), tools: fakeTools(tools) })
  )
  yield* asked.requests(1)
  if (last !== undefined) yield* recorded.until(() => recorded.told().includes(last))
  yield* then
  yield* Fiber.interrupt(running)
  yield* recorded.session.settle("Cancelled.")
  yield* recorded.session.log({ _tag: "TurnEnded", outcome: { stopReason: "cancelled" } })
  const told = recorded.told()
  yield* recorded.session.log({ _tag: "TurnStarted" })
  yield* runTurn(recorded.session, "go on", { models: scripted(steps([{ text: "Sure." }]), asked) })
  return { ...recorded, told, seen: spoken(asked.prompts.at(-1) ?? []) }
})

describe("a cancelled turn", () => {
  it.effect("keeps the prompt when nothing came", () =>
    Effect.gen(function* () {
      const { seen } = yield* cancelled([{ hang: true }], undefined)
      assert.deepStrictEqual(seen, ["user go", "user go on"])
    })
  )

  it.effect("keeps what was said, down to what still waited to be told", () =>
    Effect.gen(function* () {
      const answer = [{ text: "Once " }, { delayMs: 1 }, { text: "upon a time" }, { hang: true }] as const
      const { seen, told } = yield* cancelled(answer, "text Once ", {}, TestClock.adjust(1))
      assert.deepStrictEqual(told, ["text Once upon a time"])
      assert.deepStrictEqual(seen, ["user go", "assistant Once upon a time", "user go on"])
    })
  )

  it.effect("shows thoughts, but gives the model no half ones back", () =>
    Effect.gen(function* () {
      const { seen, told } = yield* cancelled([{ thought: "I wonder" }, { hang: true }], "thought I wonder")
      assert.deepStrictEqual(told, ["thought I wonder"])
      assert.deepStrictEqual(seen, ["user go", "user go on"])
    })
  )

  it.effect("closes calls whose step was not complete, which then never run", () =>
    Effect.gen(function* () {
      const read: FakeTool = { run: () => Effect.die("it ran") }
      const { seen, state, told } = yield* cancelled(
        [{ text: "Look" }, call("read", "a"), { hang: true }],
        "start read",
        {
          read
        }
      )
      assert.deepStrictEqual(told, ["text Look", "start read", "failed Cancelled."])
      assert.strictEqual(state().openCalls.size, 0)
      assert.deepStrictEqual(seen, ["user go", "assistant Look", "user go on"])
    })
  )

  it.effect("keeps the results of calls that were done, and tells the model of those that were not", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      let stopped = false
      const read: FakeTool = {
        run: (value) =>
          value === "quick"
            ? Effect.succeed(completed("found"))
            : Effect.andThen(Deferred.succeed(begun, undefined), Effect.never).pipe(
                Effect.onInterrupt(() =>
                  Effect.sync(() => {
                    stopped = true
                  })
                )
              )
      }
      const write: FakeTool = { concurrency: "exclusive", run: () => Effect.die("it ran") }
      const { seen, state, told } = yield* cancelled(
        [call("read", "slow"), call("read", "quick"), call("write", "x")],
        "completed found",
        { read, write },
        Deferred.await(begun)
      )
      assert.isTrue(stopped)
      assert.strictEqual(state().openCalls.size, 0)
      assert.sameMembers(
        told.filter((line) => line.startsWith("completed") || line.startsWith("failed")),
        ["completed found", "failed Cancelled.", "failed Cancelled."]
      )
      assert.deepStrictEqual(seen, [
        "user go",
        'call read {"value":"slow"}',
        'call read {"value":"quick"}',
        'call write {"value":"x"}',
        "result read found",
        `failed read ${INTERRUPTED}`,
        `failed write ${INTERRUPTED}`,
        "user go on"
      ])
    })
  )

  it.effect("keeps the result of a call that was just being told", () =>
    Effect.gen(function* () {
      const telling = yield* Deferred.make<void>()
      const reading = yield* Deferred.make<void>()
      const { session, state, told } = makeSession({
        onEvent: (event) =>
          event._tag === "ToolCallUpdated" && event.patch.status === "completed"
            ? Effect.andThen(Deferred.succeed(telling, undefined), Deferred.await(reading))
            : Effect.void
      })
      const read: FakeTool = { run: () => Effect.succeed(completed("found")) }
      const models = scripted(steps([call("read", "a")]))
      const running = yield* Effect.forkChild(runTurn(session, "go", { models, tools: fakeTools({ read }) }))
      // The call comes to rest first, in the middle of its last word.
      yield* Effect.andThen(Deferred.await(telling), Effect.yieldNow)
      const stopping = yield* Effect.forkChild(Fiber.interrupt(running), { startImmediately: true })
      yield* Deferred.succeed(reading, undefined)
      yield* Fiber.join(stopping)
      assert.strictEqual(told().at(-1), "completed found")
      assert.strictEqual(state().openCalls.size, 0)
      assert.include(JSON.stringify(state().context.at(-1)), "found")
    })
  )

  it.effect("whose error was just being told takes that for no answer of the model", () =>
    Effect.gen(function* () {
      const telling = yield* Deferred.make<void>()
      const reading = yield* Deferred.make<void>()
      const { session, state, told } = makeSession({
        onEvent: (event) =>
          event._tag === "TextDelta"
            ? Effect.andThen(Deferred.succeed(telling, undefined), Deferred.await(reading))
            : Effect.void
      })
      const models = scripted(steps([{ error: { status: 401 } }]))
      const running = yield* Effect.forkChild(runTurn(session, "go", { models }))
      yield* Effect.andThen(Deferred.await(telling), Effect.yieldNow)
      const stopping = yield* Effect.forkChild(Fiber.interrupt(running), { startImmediately: true })
      yield* Deferred.succeed(reading, undefined)
      yield* Fiber.join(stopping)
      yield* session.settle("Cancelled.")
      assert.match(told().join(), /^text The provider did not accept/)
      assert.lengthOf(state().context, 1)
    })
  )

  it.effect("shows what a call had shown, beside why it ended", () =>
    Effect.gen(function* () {
      const write: FakeTool = {
        preview: [{ type: "diff", path: "/work/a", oldText: "1", newText: "2" }],
        run: () => Effect.never
      }
      const { told } = yield* cancelled([call("write", "a")], "in_progress", { write })
      assert.strictEqual(told.at(-1), "failed diff | Cancelled.")
    })
  )
})
