import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { parseScript, type Script } from "../../../src/services/models/script/Script.ts"
import * as ScriptedModel from "../../../src/services/models/script/ScriptedModel.ts"
import { ask, streamOf, textOf, thoughtOf } from "../../support/provider/OpenModel.ts"

const model = (...steps: Script["steps"]) => ScriptedModel.make({ steps })

describe("a scripted model", () => {
  it.effect("tells thoughts, text and calls as written", () =>
    Effect.gen(function* () {
      const scripted = yield* model({
        parts: [
          { thought: "Hm." },
          { text: "Hel" },
          { text: "lo", chunk: 1 },
          { tool: { name: "read", input: { path: "a" } } },
          { tool: { name: "read", input: `{"path":`, id: "mine" } },
          { text: "!" }
        ],
        usage: { input: 12, output: 7, thought: 3, cached: 4 }
      })
      const parts = yield* ask(scripted, "hi")
      assert.strictEqual(thoughtOf(parts), "Hm.")
      assert.strictEqual(textOf(parts), "Hello!")
      assert.deepStrictEqual(
        parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : [])),
        ["Hel", "l", "o", "!"]
      )
      assert.deepStrictEqual(
        parts.flatMap((part) => (part.type === "tool-call" ? [[part.id, part.params]] : [])),
        [
          ["call_1", { path: "a" }],
          ["mine", `{"path":`]
        ]
      )
      const finish = parts.at(-1)
      assert(finish?.type === "finish")
      assert.strictEqual(finish.reason, "tool-calls")
      assert.strictEqual(finish.usage.inputTokens.total, 12)
      assert.strictEqual(finish.usage.inputTokens.cacheRead, 4)
      assert.strictEqual(finish.usage.outputTokens.reasoning, 3)
    })
  )

  it.effect("takes for each request the first step that fits, once", () =>
    Effect.gen(function* () {
      const scripted = yield* model(
        { when: "apple", parts: [{ text: "A1" }] },
        { parts: [{ text: "any" }] },
        { when: "apple", again: true, parts: [{ text: "A2" }] }
      )
      const say = (prompt: string) => Effect.map(ask(scripted, prompt), textOf)
      assert.strictEqual(yield* say("pear"), "any")
      assert.strictEqual(yield* say("an apple"), "A1")
      assert.strictEqual(yield* say("an apple"), "A2")
      assert.strictEqual(yield* say("an apple"), "A2")
      const error = yield* Effect.flip(say("pear"))
      assert.include(error.message, `no step left for "pear"`)
      assert.isFalse(error.isRetryable)
    })
  )

  it.effect("answers side requests in any order", () =>
    Effect.gen(function* () {
      const scripted = yield* model({ again: true, parts: [{ echo: true }] })
      const words = Array.from({ length: 20 }, (_, index) => `word ${index}`)
      const answers = yield* Effect.forEach(words, (word) => Effect.map(ask(scripted, word), textOf), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(answers, words)
    })
  )

  it.effect("pauses by the clock", () =>
    Effect.gen(function* () {
      const scripted = yield* model({ parts: [{ text: "a" }, { delayMs: 500 }, { text: "b" }] })
      const seen: Array<string> = []
      const fiber = yield* streamOf(scripted, "hi").pipe(
        Stream.runForEach((part) => Effect.sync(() => part.type === "text-delta" && seen.push(part.delta))),
        Effect.forkChild
      )
      yield* TestClock.adjust("499 millis")
      assert.deepStrictEqual(seen, ["a"])
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(seen, ["a", "b"])
    })
  )

  it.effect("fails as a provider would", () =>
    Effect.gen(function* () {
      const scripted = yield* model(
        { parts: [{ error: { status: 429, retryAfter: 2 } }] },
        { parts: [{ error: { status: 400, message: "prompt is too long" } }] },
        { parts: [{ text: "partly" }, { error: {} }] }
      )
      const limited = yield* Effect.flip(ask(scripted, "hi"))
      assert.strictEqual(limited.reason._tag, "RateLimitError")
      assert.deepStrictEqual(limited.retryAfter, Duration.seconds(2))
      const long = yield* Effect.flip(ask(scripted, "hi"))
      assert.strictEqual(long.reason._tag === "InvalidRequestError" && long.reason.constraint, "context-overflow")
      const seen: Array<string> = []
      const broken = yield* streamOf(scripted, "hi").pipe(
        Stream.runForEach((part) => Effect.sync(() => part.type === "text-delta" && seen.push(part.delta))),
        Effect.flip
      )
      assert.strictEqual(broken.reason._tag, "NetworkError")
      assert.deepStrictEqual(seen, ["partly"])
    })
  )

  it.effect("hangs until it is interrupted", () =>
    Effect.gen(function* () {
      const scripted = yield* model({ parts: [{ text: "a" }, { hang: true }] })
      const fiber = yield* Effect.forkChild(ask(scripted, "hi"))
      yield* TestClock.adjust("1 days")
      assert.isUndefined(fiber.pollUnsafe())
      yield* Fiber.interrupt(fiber)
    })
  )

  it.effect("repeats a text as often as it is told, a delta each", () =>
    Effect.gen(function* () {
      const scripted = yield* model({ parts: [{ repeat: 5000, text: "tok " }], usage: { input: 1, output: 5000 } })
      const parts = yield* ask(scripted, "hi")
      assert.strictEqual(parts.filter((part) => part.type === "text-delta").length, 5000)
      assert.strictEqual(textOf(parts), "tok ".repeat(5000))
    })
  )

  it.effect("answers as a whole, too", () =>
    Effect.gen(function* () {
      const scripted = yield* model({ parts: [{ text: "Hello" }, { finish: "length" }] })
      const answer = yield* scripted.generateText({ prompt: "hi" })
      assert.strictEqual(answer.text, "Hello")
      assert.strictEqual(answer.finishReason, "length")
    })
  )
})

describe("the text of a script", () => {
  it.effect("is read in the form that the documentation shows", () =>
    Effect.gen(function* () {
      const script = yield* parseScript(`{
        "steps": [
          { "when": "fix the test", "parts": [
            { "thought": "Look first." },
            { "tool": { "name": "read", "input": { "path": "sum.ts" } } } ] },
          { "parts": [{ "text": "Done.", "chunk": 2 }], "usage": { "input": 1200, "output": 9 } },
          { "again": true, "parts": [{ "repeat": 5000, "text": "tok " }] }
        ]
      }`)
      assert.strictEqual(script.steps.length, 3)
    })
  )

  const faults: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    [`{`, ["JSON"]],
    [`{"step":[]}`, ["steps"]],
    [`{"steps":[{"parts":[{"text":1}]}]}`, [`["steps"][0]["parts"][0]["text"]`]],
    [`{"steps":[{"parts":[{"delayMs":-1}]}]}`, [`["delayMs"]`]],
    [`{"steps":[{"parts":[{"txt":"a"}]}]}`, [`["txt"]`]],
    [`{"steps":[{"parts":[{"text":"a","thought":"b"}]}]}`, ["exactly one of", "thought"]],
    [`{"steps":[{"parts":[{"finish":"done"}]}]}`, [`["finish"]`, `"length"`]]
  ]
  it.effect.each(faults)("that is wrong names the field: %s", ([text, words]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(parseScript(text))
      for (const word of words) assert.include(error.message, word)
    })
  )
})
