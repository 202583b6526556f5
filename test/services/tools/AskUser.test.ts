import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Elicitation, ElicitationAnswer } from "../../../src/domain/Elicitation.ts"
import { ToolCallId } from "../../../src/domain/Ids.ts"
import { Form } from "../../../src/domain/wire/v1/Elicitation.ts"
import { makeContext, makeEditor, makeWorkspace, prepare, textOf, toolbox } from "../../support/toolbox.ts"

const { editor } = makeEditor(new Map())
const workspace = makeWorkspace("/work", { editor })

const questions = [
  {
    question: "Which database?",
    header: "Database",
    options: [{ label: "SQLite", description: "One file" }, { label: " Postgres " }]
  },
  {
    question: "Which platforms?",
    multiSelect: true,
    options: [{ label: "Linux" }, { label: "macOS" }, { label: "Windows" }]
  },
  { question: "What should it be called?" }
]

/** Runs the tool; `elicit` plays the person. */
const ask = Effect.fnUntraced(function* (input: unknown, answer: ElicitationAnswer | undefined, place = workspace) {
  const asked: Array<Elicitation> = []
  const elicit =
    answer === undefined ? undefined : (request: Elicitation) => Effect.sync(() => (asked.push(request), answer))
  const prepared = yield* prepare("ask_user", input, place)
  const outcome = yield* prepared.run(makeContext(place, { elicit }))
  return { asked, outcome, prepared }
})

const accepted = (content: Schema.JsonObject): ElicitationAnswer => ({ _tag: "Accepted", content })

describe("ask_user", () => {
  it.effect("asks by a form that belongs to its call, with a field for each question", () =>
    Effect.gen(function* () {
      const { asked, prepared } = yield* ask({ questions }, { _tag: "Declined" })
      assert.deepInclude(prepared, { title: "Ask: Database (and 2 more)", kind: "other", access: { _tag: "None" } })
      const [request] = asked
      assert.deepInclude(request, { _tag: "Form", sessionId: workspace.sessionId, callId: ToolCallId.make("call-1") })
      const schema: unknown = request?._tag === "Form" ? request.schema : {}
      // What the protocol knows of forms.
      const { properties = {}, required } = yield* Schema.decodeUnknownEffect(Form)(schema)
      assert.isUndefined(required)
      assert.deepStrictEqual(Object.keys(properties), ["answer1", "words1", "answer2", "words2", "words3"])
      assert.deepInclude(properties["answer1"], {
        type: "string",
        title: "Database",
        description: "Which database?",
        oneOf: [
          { const: "SQLite", title: "SQLite", description: "One file" },
          { const: "Postgres", title: "Postgres" }
        ]
      })
      assert.deepInclude(properties["answer2"], { type: "array", title: "Which platforms?" })
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("gives the answers to the model, question by question", () =>
    Effect.gen(function* () {
      const content = { answer1: "Postgres", answer2: ["Windows", "Linux"], words2: " and Plan 9 ", words3: "Ada" }
      const { outcome } = yield* ask({ questions }, accepted(content))
      assert.strictEqual(outcome.status, "completed")
      assert.strictEqual(
        outcome.text,
        "Which database?\n→ Postgres\n\nWhich platforms?\n→ Linux; Windows; in their own words: and Plan 9\n\nWhat should it be called?\n→ Ada"
      )
      assert.strictEqual(textOf(outcome.content), outcome.text)
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("takes nothing for an answer that was not offered (ELI-07)", () =>
    Effect.gen(function* () {
      const content = { answer1: "MySQL", answer2: ["BeOS", 7, "macOS", "macOS"], words1: 5, words3: null, other: "x" }
      const { outcome } = yield* ask({ questions }, accepted(content))
      assert.match(
        outcome.text,
        /^Which database\?\n→ \(no answer\)\n\nWhich platforms\?\n→ macOS\n\n.*\n→ \(no answer\)$/
      )
      const many = yield* ask({ questions }, accepted({ answer1: ["SQLite", "Postgres"] }))
      assert.include(many.outcome.text, "→ SQLite\n")
      for (const empty of [{}, { words3: "  " }]) {
        assert.include((yield* ask({ questions }, accepted(empty))).outcome.text, "without an answer")
      }
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("says clearly why there is no answer, and what to do then (ELI-07, ELI-08)", () =>
    Effect.gen(function* () {
      const input = { questions: [{ question: "Go on?" }] }
      const cases: ReadonlyArray<readonly [ElicitationAnswer | undefined, RegExp]> = [
        [{ _tag: "Declined" }, /declined to answer\. Do not ask them again/],
        [{ _tag: "Cancelled" }, /closed the form without an answer\. Decide yourself/],
        [{ _tag: "Gone" }, /went away before the user answered\. Put the question into your answer/],
        [
          { _tag: "Unanswered", reason: "The editor could not ask: no." },
          /could not be put: The editor could not ask: no\. Put/
        ],
        [
          undefined,
          /no form can be shown to a user of this session\. Put the question into your answer and end your turn/
        ]
      ]
      for (const [answer, text] of cases) {
        const { outcome } = yield* ask(input, answer)
        assert.strictEqual(outcome.status, "failed")
        assert.match(outcome.text, text)
      }
      const alone = yield* ask(input, undefined, makeWorkspace("/work"))
      assert.match(alone.outcome.text, /nobody is present\. Decide yourself/)
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("names what is wrong with the questions", () =>
    Effect.gen(function* () {
      const one = { label: "a" }
      const wrong: ReadonlyArray<readonly [unknown, string]> = [
        [{}, `"questions" is missing`],
        [{ questions: [] }, `"questions" is empty`],
        [{ questions: Array.from({ length: 5 }, () => ({ question: "x" })) }, "at most 4"],
        [{ questions: [{ question: " " }] }, `"questions.0.question" is empty`],
        [{ questions: [{ question: "x".repeat(2_001) }] }, "longer than 2000"],
        [{ questions: [{ question: "x", options: [one] }] }, "give 2 to 12"],
        [{ questions: [{ question: "x", options: [one, { label: " a" }] }] }, "the same label twice"],
        [{ questions: [{ question: "x", options: [one, { label: "" }] }] }, "a label that is empty"],
        [{ questions: [{ question: "x", header: "x".repeat(201) }] }, `"questions.0.header"`]
      ]
      for (const [input, reason] of wrong) {
        const { message } = yield* Effect.flip(prepare("ask_user", input, workspace))
        assert.include(message, reason)
      }
      assert.strictEqual(
        (yield* prepare("ask_user", { questions: [{ question: "A\n b?" }] }, workspace)).title,
        "Ask: A b?"
      )
    }).pipe(Effect.provide(toolbox()))
  )
})
