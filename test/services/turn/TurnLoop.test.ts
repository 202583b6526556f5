import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { ModelInfo } from "../../../src/domain/Model.ts"
import { findHarness } from "../../../src/domain/Harness.ts"
import { ModelUnavailable, Models } from "../../../src/services/Models.ts"
import * as Layer from "effect/Layer"
import { echo, fakeTool, fakeTools } from "../../support/fakeTools.ts"
import { finish, info, nothingAsked, rawModel, scripted, spoken, steps } from "../../support/models.ts"
import { runTurn } from "../../support/turns.ts"
import { makeSession } from "../../support/turnSession.ts"

const call = (value: string, name = "read") => ({ tool: { name, input: { value } } })

describe("TurnLoop", () => {
  it.effect("tells text and thoughts, each message under an id of its own", () =>
    Effect.gen(function* () {
      const { events, session, told } = makeSession()
      const models = scripted(
        steps([{ thought: "hmm" }, { text: "Hello", chunk: 2 }, { thought: "so" }, { text: "Bye" }])
      )
      const outcome = yield* runTurn(session, "hi", { models })
      assert.strictEqual(outcome.stopReason, "end_turn")
      assert.deepStrictEqual(told(), ["thought hmm", "text Hello", "thought so", "text Bye", "UsageUpdated"])
      const ids = events.flatMap((event) => ("messageId" in event ? [event.messageId] : []))
      assert.strictEqual(new Set(ids).size, 4)
    })
  )

  it.effect("gives no id twice, in whatever turn", () =>
    Effect.gen(function* () {
      const ids: Array<string> = []
      for (const turn of ["one", "two"]) {
        const { events, session } = makeSession()
        const models = scripted(steps([{ text: turn }, call("a"), call("b")], [{ text: "done" }]))
        yield* runTurn(session, turn, { models, tools: fakeTools({ read: echo }) })
        for (const event of events) {
          if (event._tag === "TextDelta") ids.push(event.messageId)
          if (event._tag === "ToolCallStarted") ids.push(event.call.id)
        }
      }
      assert.lengthOf(ids, 8)
      assert.strictEqual(new Set(ids).size, 8)
    })
  )

  it.effect("takes each block for a message and each call for itself, whatever ids the provider uses again", () =>
    Effect.gen(function* () {
      const text = (delta: string) =>
        [
          { type: "text-start", id: "0" },
          { type: "text-delta", id: "0", delta },
          { type: "text-end", id: "0" }
        ] as const
      const call = (value: string) => ({ type: "tool-call", id: "0", name: "read", params: { value } }) as const
      const start = { type: "tool-params-start", id: "0", name: "read" } as const
      const answer = [...text("One"), ...text("Two"), start, call("a"), call("b"), finish("tool-calls")]
      const models = rawModel(answer, [finish("stop")])
      const { events, session, state } = makeSession()
      yield* runTurn(session, "go", { models, tools: fakeTools({ read: echo }) })
      const ids = (tag: string) =>
        events.flatMap((event) =>
          event._tag === tag ? ["messageId" in event ? event.messageId : "call" in event ? event.call.id : ""] : []
        )
      assert.lengthOf(new Set(ids("TextDelta")), 2)
      assert.lengthOf(new Set(ids("ToolCallStarted")), 2)
      assert.strictEqual(state().openCalls.size, 0)
    })
  )

  it.effect("runs the tools and asks again, with what they answered", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      const { session, told } = makeSession()
      const models = scripted(steps([{ text: "Look:" }, call("a"), call("b")], [{ text: "Done." }]), asked)
      const outcome = yield* runTurn(session, "look", { models, tools: fakeTools({ read: echo }) })
      assert.strictEqual(outcome.stopReason, "end_turn")
      assert.deepStrictEqual(
        told().filter((line) => line !== "UsageUpdated"),
        [
          "text Look:",
          "start read",
          "start read",
          "in_progress",
          "completed echo a",
          "in_progress",
          "completed echo b",
          "text Done."
        ]
      )
      assert.deepStrictEqual(spoken(asked.prompts[1] ?? []), [
        "user look",
        "assistant Look:",
        'call read {"value":"a"}',
        'call read {"value":"b"}',
        "result read echo a",
        "result read echo b"
      ])
      assert.deepStrictEqual(asked.tools, ["read"])
    })
  )

  it.effect("remembers the conversation from turn to turn", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      const { session, state } = makeSession()
      const answers = [...steps([call("a")], [{ text: "First." }]), ...steps([{ text: "Second." }])]
      yield* runTurn(session, "one", { models: scripted(answers, asked), tools: fakeTools({ read: echo }) })
      const before = state().context.length
      yield* runTurn(session, "two", { models: scripted(steps([{ text: "Second." }]), asked) })
      assert.deepStrictEqual(spoken(asked.prompts.at(-1) ?? []), [
        "user one",
        'call read {"value":"a"}',
        "result read echo a",
        "assistant First.",
        "user two"
      ])
      assert.strictEqual(state().context.length, before + 2)
    })
  )

  it.effect("gives thoughts back with their metadata, which providers check", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      const { session } = makeSession()
      const models = scripted(steps([{ thought: "deep" }, call("a")], [{ text: "Done." }]), asked)
      yield* runTurn(session, "think", { models, tools: fakeTools({ read: echo }) })
      assert.include(spoken(asked.prompts[1] ?? []), "assistant thought deep")
    })
  )

  it.effect("ends with max_tokens at the length limit", () =>
    Effect.gen(function* () {
      const { session } = makeSession()
      const models = scripted(steps([{ text: "cut o" }, { finish: "length" }]))
      assert.strictEqual((yield* runTurn(session, "go", { models })).stopReason, "max_tokens")
    })
  )

  it.effect("goes on after a pause of the provider", () =>
    Effect.gen(function* () {
      const { session, told } = makeSession()
      const models = scripted(steps([{ text: "half" }, { finish: "pause" }], [{ text: "whole" }]))
      assert.strictEqual((yield* runTurn(session, "go", { models })).stopReason, "end_turn")
      assert.deepStrictEqual(
        told().filter((line) => line !== "UsageUpdated"),
        ["text half", "text whole"]
      )
    })
  )

  it.effect("ends with max_turn_requests at its own cap, with every call closed", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      const { session, state } = makeSession()
      const models = scripted([{ again: true, parts: [call("a")] }], asked)
      const outcome = yield* runTurn(session, "loop", { models, maxRequests: 3, tools: fakeTools({ read: echo }) })
      assert.strictEqual(outcome.stopReason, "max_turn_requests")
      assert.lengthOf(asked.prompts, 3)
      assert.strictEqual(state().openCalls.size, 0)
      assert.strictEqual(outcome.usage?.inputTokens, 300)
    })
  )

  it.effect("sums tokens over the turn and costs over the session", () =>
    Effect.gen(function* () {
      const priced: ModelInfo = { ...info, price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } }
      const { events, session } = makeSession()
      const models = scripted(
        [
          { parts: [call("a")], usage: { input: 1000, output: 100, cached: 600, thought: 40 } },
          { parts: [{ text: "Done." }], usage: { input: 2000, output: 10 } }
        ],
        nothingAsked(),
        [priced]
      )
      const earlier = { ...session, cost: Effect.succeed(0.5) }
      const outcome = yield* runTurn(earlier, "go", { models, tools: fakeTools({ read: echo }) })
      assert.deepStrictEqual(outcome.usage, {
        inputTokens: 3000,
        outputTokens: 110,
        thoughtTokens: 40,
        cachedReadTokens: 600,
        cachedWriteTokens: 0
      })
      const usages = events.filter((event) => event._tag === "UsageUpdated")
      assert.deepStrictEqual(
        usages.map(({ size, used }) => [used, size]),
        [
          [1100, 100_000],
          [2010, 100_000]
        ]
      )
      const first = 0.5 + (400 * 3 + 600 * 0.3 + 100 * 15) / 1e6
      assert.closeTo(usages[0]?.cost ?? 0, first, 1e-12)
      assert.closeTo(usages[1]?.cost ?? 0, first + (2000 * 3 + 10 * 15) / 1e6, 1e-12)
    })
  )

  it.effect("tells no usage when the provider said nothing of it, which is not the same as no tokens", () =>
    Effect.gen(function* () {
      const nobody = { total: undefined, cacheRead: undefined, cacheWrite: undefined, uncached: undefined }
      const silent = {
        type: "finish",
        reason: "stop",
        usage: { inputTokens: nobody, outputTokens: { total: undefined, text: undefined, reasoning: undefined } }
      } as const
      const none = { ...silent, usage: { ...silent.usage, outputTokens: { ...silent.usage.outputTokens, total: 0 } } }
      for (const [answer, told] of [
        [silent, []],
        [none, ["UsageUpdated"]]
      ] as const) {
        const recorded = makeSession()
        const outcome = yield* runTurn(recorded.session, "go", { models: rawModel([answer]) })
        assert.strictEqual(outcome.stopReason, "end_turn")
        assert.deepStrictEqual(recorded.told(), told)
      }
    })
  )

  it.effect("tells no cost of a model without a price", () =>
    Effect.gen(function* () {
      const { events, session } = makeSession()
      yield* runTurn(session, "go", { models: scripted(steps([{ text: "x" }])) })
      assert.notProperty(
        events.find(({ _tag }) => _tag === "UsageUpdated"),
        "cost"
      )
    })
  )

  it.effect("shows a model without eyes a note, and keeps the image for one that sees", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      const { session } = makeSession()
      const image = { type: "image", mimeType: "image/png", data: "AAAA" } as const
      const seeing = scripted(steps([{ text: "I see." }]), asked)
      yield* runTurn(session, "look", { models: seeing })
      yield* session.log({
        _tag: "ContextAppended",
        messages: [{ role: "user", content: [{ type: "file", mediaType: image.mimeType, data: image.data }] }]
      })
      const blind = scripted(steps([{ text: "I do not." }]), asked, [{ ...info, image: false }])
      yield* runTurn(session, "and now?", { models: blind })
      assert.deepStrictEqual(spoken(asked.prompts[1] ?? []), [
        "user look",
        "assistant I see.",
        "user [An image (image/png) was attached, but this model takes no images]",
        "user and now?"
      ])
      yield* runTurn(session, "again", { models: scripted(steps([{ text: "I see." }]), asked) })
      assert.include(spoken(asked.prompts[2] ?? []), "user file image/png")
    })
  )

  it.effect("takes the tools of the harness and of the MCP servers, and no others", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      const planner = findHarness("super-pi-planner")
      assert.isDefined(planner)
      const { session } = makeSession({
        ...(planner === undefined ? {} : { harness: planner }),
        ownTools: Effect.succeed([fakeTool("mcp__one__look", echo)])
      })
      yield* runTurn(session, "go", {
        models: scripted(steps([{ text: "x" }]), asked),
        tools: fakeTools({ read: echo, write: echo, bash: echo })
      })
      assert.deepStrictEqual(asked.tools, ["read", "mcp__one__look"])
    })
  )

  it.effect("refuses when the model is not available, and keeps the prompt", () =>
    Effect.gen(function* () {
      const { session, state, told } = makeSession()
      const models = Layer.succeed(Models, {
        list: Effect.succeed([]),
        resolve: (model) => Effect.fail(new ModelUnavailable({ model, message: "Set OPENAI_API_KEY" }))
      })
      const outcome = yield* runTurn(session, "go", { models })
      assert.deepStrictEqual(
        [outcome.stopReason, outcome.error],
        ["refusal", { kind: "model_unavailable", message: "Set OPENAI_API_KEY" }]
      )
      assert.deepStrictEqual(told(), ["text Set OPENAI_API_KEY"])
      assert.lengthOf(state().context, 1)
    })
  )
})
