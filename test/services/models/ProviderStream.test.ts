/** What comes out of the four protocols: the real packages over real HTTP against a server that speaks them. */
import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Finish } from "../../support/provider/Dialect.ts"
import { ask, kinds, openModel, streamOf, textOf, thoughtOf } from "../../support/provider/OpenModel.ts"
import * as ProviderServer from "../../support/ProviderServer.ts"

const LoggedPrompt = Schema.fromJsonString(Prompt.Prompt)
const SIGNATURE = "c2lnbmF0dXJl"
const call = (args: string) => ({ call: { id: "call_1", name: "read", args }, signature: SIGNATURE })

/** Where each protocol wants to see the signature of a thought again. */
const replayed: { readonly [K in ProviderServer.DialectName]: (body: string) => boolean } = {
  anthropic: (body) => body.includes(`"thinking":"Look first","signature":"${SIGNATURE}"`),
  openai: (body) => body.includes(`"encrypted_content":"${SIGNATURE}"`),
  "openai-compatible": (body) => body.includes(`"reasoning_content":"Look first"`),
  google: (body) => body.includes(`"thoughtSignature":"${SIGNATURE}"`)
}

describe.each(kinds)("models of kind %s", (kind) => {
  it.effect("tell text, thoughts, calls and usage apart", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      server.answer({
        pieces: [
          { thought: "Look first", signature: SIGNATURE },
          { text: "Hello " },
          { text: "wörld" },
          call(`{"path":"a"}`)
        ],
        finish: "calls"
      })
      const parts = yield* ask(model, "hi")
      assert.strictEqual(textOf(parts), "Hello wörld")
      assert.strictEqual(thoughtOf(parts), "Look first")
      const calls = parts.filter((part) => part.type === "tool-call")
      assert.deepStrictEqual(
        calls.map(({ id, name, params }) => ({ id, name, params })),
        [{ id: "call_1", name: "read", params: { path: "a" } }]
      )
      const finish = parts.find((part) => part.type === "finish")
      assert.strictEqual(finish?.reason, "tool-calls")
      assert.strictEqual(finish?.usage.inputTokens.total, 1000)
      assert.strictEqual(finish?.usage.inputTokens.cacheRead, 200)
      assert.strictEqual(finish?.usage.outputTokens.total, 50)
      assert.strictEqual(finish?.usage.outputTokens.reasoning, 20)
      assert.isTrue(parts.every((part) => !("delta" in part) || part.delta !== ""))
      const streamed = parts.flatMap((part) => (part.type === "tool-params-delta" ? [part.delta] : [])).join("")
      assert.strictEqual(streamed, `{"path":"a"}`)
    })
  )

  // The dialect of Google carries input as JSON, which its package reads.
  it.effect.skipIf(kind === "google")("pass on input that is nested too deep to be handled as text", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      const args = `{"path":${"[".repeat(10_000)}${"]".repeat(10_000)}}`
      server.answer({ pieces: [call(args)], finish: "calls" })
      const calls = (yield* ask(model, "hi")).filter((part) => part.type === "tool-call")
      assert.deepStrictEqual(
        calls.map(({ params }) => params),
        [args]
      )
    })
  )

  it.effect("read a stream that is torn inside characters", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      server.answer({ pieces: [{ text: "äöü€" }, { text: "𝄞" }], bytes: 7 })
      assert.strictEqual(textOf(yield* ask(model, "hi")), "äöü€𝄞")
    })
  )

  it.effect("get their own thoughts, calls and results back", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      server.answer(
        { pieces: [{ thought: "Look first", signature: SIGNATURE }, call(`{"path":"a"}`)], finish: "calls" },
        { pieces: [{ text: "done" }] }
      )
      const asked = Prompt.make("read a")
      const answered = Prompt.concat(asked, Prompt.fromResponseParts(yield* ask(model, asked)))
      const result = Prompt.toolResultPart({
        id: "call_1",
        name: "read",
        isFailure: false,
        result: "line one",
        providerExecuted: false
      })
      const history = Prompt.concat(answered, Prompt.fromMessages([Prompt.toolMessage({ content: [result] })]))
      // A session log keeps messages as JSON, so they have to survive that.
      const prompt = yield* Schema.decodeEffect(LoggedPrompt)(yield* Schema.encodeEffect(LoggedPrompt)(history))
      assert.strictEqual(textOf(yield* ask(model, prompt)), "done")
      const body = server.seen().at(-1)?.text ?? ""
      assert.isTrue(replayed[kind](body), body)
      assert.include(body, "line one")
      assert.include(body, kind === "google" ? `"functionCall"` : "call_1")
    })
  )

  const finishes: ReadonlyArray<readonly [Finish, string]> = [
    ["stop", "stop"],
    ["length", "length"],
    ["filter", "content-filter"]
  ]
  it.effect.each(finishes)("say why they stopped: %s (F111)", ([sent, expected]) =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      server.answer({ pieces: [{ text: "partly" }], finish: sent })
      const finish = (yield* ask(model, "hi")).find((part) => part.type === "finish")
      assert.strictEqual(finish?.reason, expected)
    })
  )

  it.effect("return calls of tools that nobody declared", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      server.answer({ pieces: [{ call: { id: "call_1", name: "shell", args: `{"cmd":1}` } }], finish: "calls" })
      const found = (yield* ask(model, "hi")).find((part) => part.type === "tool-call")
      assert.strictEqual(found?.name, "shell")
      assert.deepStrictEqual(found?.params, { cmd: 1 })
    })
  )

  it.effect("abort the request when the reader stops", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      server.answer({ pieces: [{ text: "one" }, { text: "two" }], then: "hang" })
      const parts = yield* streamOf(model, "hi").pipe(
        Stream.filter((part) => part.type === "text-delta"),
        Stream.take(1),
        Stream.runCollect
      )
      assert.strictEqual(textOf(parts), "one")
      yield* server.abandoned
    })
  )

  it.effect("abort the request when interrupted before its first byte", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      server.answer({ silent: true })
      const fiber = yield* Effect.forkChild(ask(model, "hi"))
      yield* server.arrived
      fiber.interruptUnsafe()
      yield* server.abandoned
    })
  )

  it.effect("answer as a whole what they answer as a stream", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      server.answer({ pieces: [{ thought: "hm", signature: SIGNATURE }, { text: "Hello " }, { text: "world" }] })
      const answer = yield* model.generateText({ prompt: "hi" })
      assert.strictEqual(answer.text, "Hello world")
      assert.strictEqual(answer.reasoningText, "hm")
      assert.strictEqual(answer.finishReason, "stop")
    })
  )
})

// Arguments of calls are objects in Google's protocol, so there they cannot be broken.
describe.each(kinds.filter((kind) => kind !== "google"))("models of kind %s", (kind) => {
  it.effect("pass broken JSON of a call on as it is, and send it back as an object", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      server.answer({ pieces: [call(`{"path":`)], finish: "calls" }, { pieces: [{ text: "again" }] })
      const parts = yield* ask(model, "hi")
      assert.strictEqual(parts.find((part) => part.type === "tool-call")?.params, `{"path":`)
      yield* ask(model, Prompt.concat(Prompt.make("hi"), Prompt.fromResponseParts(parts)))
      assert.match(server.seen().at(-1)?.text ?? "", /\\?"invalid\\?":/)
    })
  )
})
