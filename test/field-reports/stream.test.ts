import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { configFor, configForAll, everyKind } from "../support/LocalProvider.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import { load, newSession, open, prompt, turn } from "../support/Probe.ts"
import { at } from "../support/Schema.ts"
import { mark, ofKind, textOf, thoughtOf, updatesOf } from "../support/Updates.ts"

const isChunk = ({ sessionUpdate }: { readonly sessionUpdate?: unknown }) => String(sessionUpdate).endsWith("_chunk")

describe("1h. message stream", () => {
  it.live("F66 a reply is told once, though the provider repeats it at its end", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const words = ["Hel", "lo ", "wor", "ld."].map((text) => ({ text }))
      server.answer({ pieces: words })
      const writer = ProviderServer.dialects.openai.writer("m")
      for (const word of words) writer.piece(word)
      assert.include(writer.close("stop", ProviderServer.plainUsage), "Hello world.")
      const models = ['"gpt-6-sol"', '"gpt-6.1-sol"']
      const agent = yield* open({ config: configFor(server, { kind: "openai", models }) })
      const session = yield* newSession(agent, agent.home)
      const seen = new Set<unknown>()
      for (const value of ["local/gpt-6-sol", "local/gpt-6-sol", "local/gpt-6.1-sol"]) {
        yield* agent.ok("session/set_config_option", { sessionId: session, configId: "model", value })
        const from = mark(agent)
        yield* turn(agent, session, "hi")
        const updates = updatesOf(agent, session, from)
        assert.strictEqual(textOf(updates), "Hello world.")
        const ids = new Set(ofKind(updates, "agent_message_chunk").map(({ messageId }) => messageId))
        assert.lengthOf(ids, 1)
        for (const id of ids) seen.add(id)
      }
      assert.lengthOf(seen, 3)
      const from = mark(agent)
      yield* load(agent, session, agent.home)
      assert.strictEqual(textOf(updatesOf(agent, session, from)), "Hello world.".repeat(3))
    })
  )

  for (const [name, pieces] of [
    ["as the protocol has it", [{ thought: "R", signature: "s" }, { text: "T" }]],
    ["as tags in the text", [{ text: "<think>R</think>T" }]],
    ["as tags that straddle deltas", [{ text: "<thi" }, { text: "nk>R</thi" }, { text: "nk>" }, { text: "T" }]]
  ] as const) {
    it.live(`F67 thinking is no part of the answer: ${name}`, () =>
      Effect.gen(function* () {
        const server = yield* ProviderServer.start
        server.answer({ pieces, bytes: 40 })
        const agent = yield* open({ config: configFor(server) })
        const session = yield* newSession(agent, agent.home)
        yield* turn(agent, session, "hi")
        const updates = updatesOf(agent, session)
        assert.deepStrictEqual([thoughtOf(updates), textOf(updates)], ["R", "T"])
      })
    )
  }

  it.live("F68 thoughts arrive as they are thought", () =>
    Effect.gen(function* () {
      const thoughts = Array.from({ length: 20 }, (_, index) => [{ thought: `${index} ` }, { delayMs: 25 }]).flat()
      const agent = yield* open({ steps: [{ parts: [...thoughts, { hang: true }] }] })
      const session = yield* newSession(agent, agent.home)
      const { answer } = yield* prompt(agent, session, "hi")
      yield* agent.until("the last thought", () =>
        thoughtOf(updatesOf(agent, session)).endsWith("19 ") ? true : undefined
      )
      assert.isAtLeast(ofKind(updatesOf(agent, session), "agent_thought_chunk").length, 10)
      yield* agent.notify("session/cancel", { sessionId: session })
      yield* answer
    })
  )

  it.live("F68 a thought without words is not told", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const agent = yield* open({ config: configForAll(server) })
      for (const modelId of Object.values(everyKind)) {
        server.answer({ pieces: [{ thought: "", signature: "sealed" }, { text: "" }, { text: "T" }] })
        const session = yield* newSession(agent, agent.home, { _meta: { modelId } })
        assert.strictEqual(yield* turn(agent, session, "hi"), "end_turn")
        const chunks = updatesOf(agent, session).filter(isChunk)
        assert.deepStrictEqual(
          chunks.map((update) => [update["sessionUpdate"], at(update, "content", "text")]),
          [["agent_message_chunk", "T"]]
        )
      }
    })
  )

  for (const [finish, reason] of [
    ["length", "max_tokens"],
    ["filter", "refusal"],
    ["stop", "end_turn"]
  ] as const) {
    it.live(`F111 an answer that ended with "${finish}" ends the turn with ${reason}`, () =>
      Effect.gen(function* () {
        const server = yield* ProviderServer.start
        const agent = yield* open({ config: configForAll(server) })
        for (const [kind, modelId] of Object.entries(everyKind)) {
          server.answer({ pieces: [{ text: "half" }], finish })
          const session = yield* newSession(agent, agent.home, { _meta: { modelId } })
          assert.strictEqual(yield* turn(agent, session, "hi"), reason, kind)
          assert.strictEqual(server.seen().at(-1)?.dialect, kind)
          assert.include(textOf(updatesOf(agent, session)), "half")
        }
      })
    )
  }

  it.live("F112 the context is what the last request took, and the sum is told apart", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const usage = (input: number) => ({ input, cached: 0, output: 100, reasoning: 0 })
      const call = { call: { id: "c", name: "list", args: "{}" } }
      const rounds = Array.from({ length: 7 }, (_, index) => ({
        pieces: [call],
        finish: "calls" as const,
        usage: usage(10_000 + index)
      }))
      server.answer(...rounds, { pieces: [{ text: "done" }], usage: usage(10_007) })
      const models = ['{ id = "qwen", context_window = 32000 }']
      const agent = yield* open({ config: configFor(server, { models }) })
      const session = yield* newSession(agent, agent.home)
      const { answer } = yield* prompt(agent, session, "go")
      const { result } = yield* answer
      const told = ofKind(updatesOf(agent, session), "usage_update")
      assert.deepStrictEqual(
        told.map(({ size, used }) => [used, size]),
        Array.from({ length: 8 }, (_, index) => [10_100 + index, 32_000])
      )
      assert.include(at(result, "_meta", "superPi", "usage"), { inputTokens: 80_028, outputTokens: 800 })
    })
  )
})
