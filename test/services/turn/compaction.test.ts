/** Long conversations: when they are summed up, what stays, and what happens when that fails (F115). */
import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { text } from "../../../src/domain/Content.ts"
import type { ModelInfo } from "../../../src/domain/Model.ts"
import type { Entry } from "../../../src/domain/session/Session.ts"
import { userMessage } from "../../../src/domain/session/ContextMessage.ts"
import { empty, foldAll, repair } from "../../../src/domain/session/SessionState.ts"
import { Models } from "../../../src/services/Models.ts"
import type { ScriptStep } from "../../../src/services/models/script/Script.ts"
import { Turn } from "../../../src/services/Turn.ts"
import { conversationText } from "../../../src/services/turn/compaction/Conversation.ts"
import { plan } from "../../../src/services/turn/compaction/Plan.ts"
import { tokensOf } from "../../../src/services/turn/compaction/Size.ts"
import { completed, fakeTools } from "../../support/fakeTools.ts"
import { type Asked, info, nothingAsked, scripted, spoken } from "../../support/models.ts"
import { makeSession, type SessionOptions } from "../../support/turnSession.ts"
import { runTurn, turnLayer } from "../../support/turns.ts"

const window = (contextWindow: number): ReadonlyArray<ModelInfo> => [{ ...info, contextWindow }]
const long = (word: string, count = 2_000) => `${word} `.repeat(count)

const answered = (words: string, used: number): ScriptStep => ({
  parts: [{ text: words }],
  usage: { input: used, output: 0 }
})
const tooLong: ScriptStep = {
  parts: [{ error: { status: 400, message: "prompt is too long: 9000 tokens > 8000 maximum" } }]
}

/** One model for all turns of a session. */
const setup = Effect.fnUntraced(function* (steps: ReadonlyArray<ScriptStep>, options: SessionOptions = {}) {
  const asked: Asked = nothingAsked()
  const recorded = makeSession(options)
  const models = Layer.succeed(Models, yield* Effect.provide(Models, scripted(steps, asked, window(8_000))))
  const ask = (prompt: string) => runTurn(recorded.session, prompt, { models })
  return { ...recorded, asked, models, ask }
})

const contextOf = (entries: ReadonlyArray<Entry>) => JSON.stringify(foldAll(empty, entries).context)

const isPaired = (messages: ReadonlyArray<Prompt.Message>): boolean => {
  const called = new Set<string>()
  for (const { content } of messages) {
    if (typeof content === "string") continue
    for (const part of content) {
      if (part.type === "tool-call") called.add(part.id)
      if (part.type === "tool-result" && !called.has(part.id)) return false
    }
  }
  return true
}

describe("a conversation", () => {
  it.effect("that nearly fills the window is summed up before the next request (F115)", () =>
    Effect.gen(function* () {
      const { ask, asked, entries, state, told } = yield* setup([
        answered(long("first"), 7_000),
        answered("THE SUMMARY", 100),
        answered("Done", 500)
      ])
      yield* ask("One")
      const outcome = yield* ask("Two")
      assert.strictEqual(outcome.stopReason, "end_turn")
      // What the model reads: the summary, and the prompt as it was.
      const messages = spoken(asked.prompts.at(-1) ?? [])
      assert.lengthOf(messages, 2)
      assert.include(messages[0], "<summary>\nTHE SUMMARY\n</summary>")
      assert.strictEqual(messages[1], "user Two")
      assert.includeMembers([...told()], ["compaction in_progress", "compaction completed"])
      // The log has all of it, and what it means is what the model reads.
      assert.include(JSON.stringify(entries), "first first first")
      assert.notInclude(contextOf(entries), "first first first")
      assert.deepStrictEqual(foldAll(empty, entries).context, state().context)
      // What the summary took counts.
      assert.strictEqual(outcome.usage?.inputTokens, 600)
    }).pipe(Effect.scoped)
  )

  it.effect("with room left stays as it is", () =>
    Effect.gen(function* () {
      const { ask, asked } = yield* setup([answered(long("first"), 6_000), answered("Done", 500)])
      yield* ask("One")
      yield* ask("Two")
      assert.lengthOf(asked.prompts, 2)
      assert.lengthOf(asked.prompts.at(-1) ?? [], 4)
    })
  )

  it.effect("is measured by a guess where the provider tells nothing", () =>
    Effect.gen(function* () {
      const steps = [answered(long("first", 6_000), 1), answered("THE SUMMARY", 1), answered("Done", 1)]
      const { ask, asked } = yield* setup(steps, { used: Effect.undefined })
      yield* ask("One")
      yield* ask("Two")
      assert.include(spoken(asked.prompts.at(-1) ?? [])[0], "THE SUMMARY")
    })
  )

  it.effect("that the provider finds too long is summed up, and the request made again (F115)", () =>
    Effect.gen(function* () {
      const { ask, asked, told } = yield* setup([
        answered(long("first"), 3_000),
        tooLong,
        answered("THE SUMMARY", 100),
        answered("Done", 500)
      ])
      yield* ask("One")
      assert.strictEqual((yield* ask("Two")).stopReason, "end_turn")
      assert.deepStrictEqual(spoken(asked.prompts.at(-1) ?? []).slice(1), ["user Two"])
      assert.strictEqual(told().filter((line) => line === "text Done").length, 1)
    })
  )

  it.effect(
    "whose last prompt alone is too long is refused, and the prompt left out; what was before stays (TRN-08)",
    () =>
      Effect.gen(function* () {
        const { ask, asked, state } = yield* setup([
          answered("Fine", 100),
          tooLong,
          answered("THE SUMMARY", 100),
          tooLong,
          tooLong,
          answered("Back", 100)
        ])
        yield* ask("One")
        const outcome = yield* ask(long("huge"))
        assert.deepStrictEqual([outcome.stopReason, outcome.error?.kind], ["refusal", "context_overflow"])
        assert.notInclude(JSON.stringify(state().context), "huge")
        yield* ask("And now?")
        const messages = spoken(asked.prompts.at(-1) ?? [])
        assert.include(messages[0], "THE SUMMARY")
        assert.strictEqual(messages.at(-1), "user And now?")
      })
  )

  it.effect("that cannot be summed up goes on as it is, and says so once", () =>
    Effect.gen(function* () {
      const { ask, asked, told } = yield* setup([
        answered(long("first"), 7_000),
        { parts: [{ error: { status: 401, message: "no key" } }] },
        answered("Done", 7_200)
      ])
      yield* ask("One")
      assert.strictEqual((yield* ask("Two")).stopReason, "end_turn")
      assert.lengthOf(asked.prompts.at(-1) ?? [], 4)
      assert.strictEqual(
        told().filter((line) => line.startsWith("compaction failed The provider did not accept")).length,
        1
      )
    })
  )

  it.effect("with a tool result larger than the window goes on with a summary of it (F115)", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      const { entries, session } = makeSession()
      const steps: ReadonlyArray<ScriptStep> = [
        { parts: [{ tool: { name: "read", input: { value: "x" } } }], usage: { input: 1_000, output: 10 } },
        answered("IT READ MUCH", 100),
        answered("Done", 500)
      ]
      const outcome = yield* runTurn(session, "Read it", {
        models: scripted(steps, asked, window(8_000)),
        tools: fakeTools({ read: { run: () => Effect.succeed(completed(long("much", 20_000))) } })
      })
      assert.strictEqual(outcome.stopReason, "end_turn")
      const last = asked.prompts.at(-1) ?? []
      assert.isTrue(isPaired(last))
      assert.isBelow(tokensOf(last), 4_000)
      assert.include(spoken(last).join("\n"), "IT READ MUCH")
      assert.include(JSON.stringify(entries), "much much much")
    })
  )
})

describe("a summing up that is broken off", () => {
  it.effect("is closed, and changes nothing", () =>
    Effect.gen(function* () {
      const { ask, entries, session, state, told, until } = yield* setup([
        answered(long("first"), 7_000),
        { parts: [{ hang: true }] }
      ])
      yield* ask("One")
      const before = state().context
      const asking = yield* Effect.forkChild(ask("Two"), { startImmediately: true })
      yield* until(() => told().includes("compaction in_progress"))
      yield* Fiber.interrupt(asking)
      yield* session.settle("Cancelled")
      assert.strictEqual(told().at(-1), "compaction cancelled")
      assert.deepStrictEqual(state().context.slice(0, before.length), before)
      // The same for a log that a crash cut off there.
      const cut = entries.findIndex(({ _tag }) => _tag === "CompactionUpdated") + 1
      const torn = foldAll(empty, entries.slice(0, cut))
      const closed = repair(torn).find(({ _tag }) => _tag === "CompactionUpdated")
      assert.deepInclude(closed ?? {}, { status: "cancelled" })
      assert.deepStrictEqual(repair(foldAll(torn, repair(torn))), [])
    })
  )
})

describe("summing up on request", () => {
  const compact = (
    focus: string | undefined,
    session: Parameters<typeof runTurn>[0],
    models: ReturnType<typeof scripted>
  ) => Effect.flatMap(Turn, (turn) => turn.compact(session, focus)).pipe(Effect.provide(turnLayer({ models })))

  it.effect("replaces what was said by the model's own words, with what is to be kept in mind", () =>
    Effect.gen(function* () {
      const { ask, models, session, state } = yield* setup([
        answered(long("first"), 3_000),
        answered("Short.", 3_100),
        { when: "kept above all: the names", parts: [{ text: "NAMES" }] }
      ])
      yield* ask("One")
      yield* ask("Two")
      const result = yield* compact("the names", session, models)
      if (result._tag !== "Compacted") return assert.fail(result._tag)
      assert.isAbove(result.before, result.after)
      const context = JSON.stringify(state().context)
      assert.include(context, "NAMES")
      assert.include(context, "Short.")
      assert.notInclude(context, "first first")
    })
  )

  it.effect("of nothing is nothing, and a failure changes nothing", () =>
    Effect.gen(function* () {
      const { ask, models, session, state } = yield* setup([
        answered(long("first"), 3_000),
        { parts: [{ error: { status: 401, message: "no key" } }] },
        { parts: [{ text: " \n" }] }
      ])
      assert.strictEqual((yield* compact(undefined, session, models))._tag, "Nothing")
      yield* ask("One")
      const before = state().context
      for (const expected of [/did not accept the API key/, /no summary/]) {
        const result = yield* compact(undefined, session, models)
        assert.match(result._tag === "Failed" ? result.message : "", expected)
      }
      assert.deepStrictEqual(state().context, before)
    })
  )
})

const Message = Schema.Literals(["user", "assistant", "call", "tool"])

/** Calls with their results behind them, as a turn leaves them. */
const toMessages = (sorts: ReadonlyArray<typeof Message.Type>, length: number): ReadonlyArray<Prompt.Message> =>
  sorts.flatMap((sort, index): ReadonlyArray<Prompt.Message> => {
    const words = "x".repeat(((index * 37) % 5) * length)
    const id = `call-${index}`
    switch (sort) {
      case "user":
        return [Prompt.userMessage({ content: [Prompt.textPart({ text: words })] })]
      case "assistant":
        return [Prompt.assistantMessage({ content: [Prompt.textPart({ text: words })] })]
      default:
        return [
          Prompt.assistantMessage({
            content: [Prompt.toolCallPart({ id, name: "read", params: {}, providerExecuted: false })]
          }),
          Prompt.toolMessage({
            content: [
              Prompt.toolResultPart({ id, name: "read", isFailure: false, result: words, providerExecuted: false })
            ]
          })
        ]
    }
  })

describe("what stays", () => {
  it.effect.prop(
    "is the end of the conversation, no more than allowed, each result with its call, and the open prompt always",
    [Schema.Array(Message), Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_000 }))],
    ([sorts, tokens]) =>
      Effect.sync(() => {
        const messages = toMessages(sorts, 100)
        const { kept, older } = plan(messages, tokens)
        assert.deepStrictEqual([...older, ...kept], messages)
        assert.isTrue(isPaired(kept))
        const last = messages.at(-1)
        if (last?.role === "user") assert.include(kept, last)
        assert.isTrue(tokensOf(kept) <= tokens || (kept.length === 1 && kept[0]?.role === "user"))
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect.prop(
    "of a conversation as a text is bounded, whatever it is",
    [Schema.Array(Message), Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 5_000 }))],
    ([sorts, limit]) =>
      Effect.sync(() => assert.isBelow(conversationText(toMessages(sorts, 5_000), limit).length, limit + 100)),
    { arbitrary: { runs: 50 } }
  )

  it("of images is no more than a word", () => {
    const image = { type: "image", data: "A".repeat(100_000), mimeType: "image/png" } as const
    const message = Schema.decodeUnknownSync(Prompt.Message)(userMessage([text("Look"), image]))
    assert.strictEqual(conversationText([message], 1_000), "## The user\nLook\n[a file of the type image/png]")
    assert.isBelow(tokensOf([message]), 2_000)
  })
})
