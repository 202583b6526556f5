/** What a turn does when the model does not answer: what is told, and what the model sees afterwards (TRN-08, F98). */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { foldAll, empty } from "../../../src/domain/session/SessionState.ts"
import type { ScriptPart } from "../../../src/services/models/script/Script.ts"
import { echo, fakeTools } from "../../support/fakeTools.ts"
import { finish, nothingAsked, rawModel, scripted, spoken, steps } from "../../support/models.ts"
import { runTurn } from "../../support/turns.ts"
import { makeSession } from "../../support/turnSession.ts"

const call = (value: string) => ({ tool: { name: "read", input: { value } } })

/** A conversation of one turn, then a prompt that is answered by `answers`, then "go on". */
const converse = Effect.fnUntraced(function* (...answers: ReadonlyArray<ReadonlyArray<ScriptPart>>) {
  const asked = nothingAsked()
  const recorded = makeSession()
  const tools = fakeTools({ read: echo })
  const turn = (prompt: string, script: ReadonlyArray<ReadonlyArray<ScriptPart>>) =>
    Effect.gen(function* () {
      yield* recorded.session.log({ _tag: "TurnStarted" })
      const outcome = yield* runTurn(recorded.session, prompt, { models: scripted(steps(...script), asked), tools })
      yield* recorded.session.log({ _tag: "TurnEnded", outcome })
      return outcome
    })
  yield* turn("first", [[{ text: "Hello." }]])
  const from = recorded.events.length
  const outcome = yield* turn("bad", answers)
  const to = recorded.events.length
  yield* turn("go on", [[{ text: "Sure." }]])
  return {
    outcome,
    text: recorded.events
      .slice(from, to)
      .map((event) => (event._tag === "TextDelta" ? event.text : ""))
      .join(""),
    /** What the model saw at the third turn. */
    seen: spoken(asked.prompts.at(-1) ?? []),
    ...recorded
  }
})

const remembered = ["user first", "assistant Hello.", "user bad"]
const forgotten = ["user first", "assistant Hello."]

describe("a refusal", () => {
  it.effect("of the request takes the prompt away from the model, and says so", () =>
    Effect.gen(function* () {
      const { outcome, seen, text } = yield* converse([{ error: { status: 400, message: "image exceeds 5 MB" } }])
      assert.strictEqual(outcome.stopReason, "refusal")
      assert.strictEqual(outcome.error?.kind, "invalid_request")
      assert.include(text, "image exceeds 5 MB")
      assert.include(text, "left out of the conversation")
      assert.strictEqual(outcome.error?.message, text)
      assert.deepStrictEqual(seen, [...forgotten, "user go on"])
    })
  )

  it.effect("by the content filter does so too, with what was said until then", () =>
    Effect.gen(function* () {
      const { outcome, seen, told } = yield* converse([{ text: "Well, " }, { finish: "content-filter" }])
      assert.strictEqual(outcome.error?.kind, "content_policy")
      assert.strictEqual(outcome.usage?.outputTokens, 10)
      assert.include(told(), "text Well, ")
      assert.deepStrictEqual(seen, [...forgotten, "user go on"])
    })
  )

  it.effect("of a conversation that is too long does so too", () =>
    Effect.gen(function* () {
      const { outcome, seen } = yield* converse([
        { error: { status: 400, message: "prompt is too long: 250000 tokens" } }
      ])
      assert.strictEqual(outcome.error?.kind, "context_overflow")
      assert.deepStrictEqual(seen, [...forgotten, "user go on"])
    })
  )

  it.effect("after the first request keeps the prompt: its tools have done their work", () =>
    Effect.gen(function* () {
      const { outcome, seen, text } = yield* converse([call("a")], [{ error: { status: 400, message: "no" } }])
      assert.strictEqual(outcome.error?.kind, "invalid_request")
      assert.notInclude(text, "left out")
      assert.deepStrictEqual(seen, [...remembered, 'call read {"value":"a"}', "result read echo a", "user go on"])
    })
  )

  it.effect("for want of a key, a network or capacity keeps the prompt, so that the user can go on", () =>
    Effect.gen(function* () {
      for (const status of [401, 404, 429]) {
        const { seen } = yield* converse([{ error: { status, retryAfter: 100 } }])
        assert.deepStrictEqual(seen, [...remembered, "user go on"], String(status))
      }
    })
  )

  it.effect("is the same after a reload", () =>
    Effect.gen(function* () {
      const { entries, state } = yield* converse([{ error: { status: 400 } }])
      assert.deepStrictEqual(foldAll(empty, entries).context, state().context)
    })
  )
})

describe("an answer that breaks off", () => {
  it.effect("keeps what was said, and tells the error apart from it", () =>
    Effect.gen(function* () {
      const { events, outcome, seen, told } = yield* converse([{ text: "Once upon" }, { error: {} }])
      assert.strictEqual(outcome.error?.kind, "network")
      assert.deepStrictEqual(seen, [...remembered, "assistant Once upon", "user go on"])
      const ids = events.flatMap((event) => (event._tag === "TextDelta" ? [event.messageId] : []))
      assert.lengthOf(new Set(ids), 4)
      assert.match(told().join("\n"), /text Once upon\ntext The connection to the provider failed/)
    })
  )

  it.effect("closes the calls that it had announced, which then never run", () =>
    Effect.gen(function* () {
      const { seen, state, told } = yield* converse([{ text: "Look" }, call("a"), { error: {} }])
      assert.strictEqual(state().openCalls.size, 0)
      assert.match(
        told().join("\n"),
        /start read\nfailed The model's answer broke off before this call ran\.\ntext The conn/
      )
      assert.deepStrictEqual(seen, [...remembered, "assistant Look", "user go on"])
    })
  )

  it.effect("without a finish is a failure, not an end", () =>
    Effect.gen(function* () {
      const models = rawModel([
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: "Half" },
        { type: "text-end", id: "0" }
      ])
      const { session, state, told } = makeSession()
      const outcome = yield* runTurn(session, "go", { models })
      assert.deepStrictEqual([outcome.stopReason, outcome.error?.kind], ["refusal", "network"])
      assert.match(told().join("\n"), /^text Half\ntext The model's answer broke off/)
      assert.lengthOf(state().context, 2)
    })
  )

  it.effect("as failed is a failure, too", () =>
    Effect.gen(function* () {
      const { session } = makeSession()
      const outcome = yield* runTurn(session, "go", { models: rawModel([finish("error")]) })
      assert.deepStrictEqual([outcome.stopReason, outcome.error?.kind], ["refusal", "internal"])
    })
  )
})
