/** What is sent to the four kinds of providers. */
import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { version } from "../../../src/domain/Version.ts"
import { Conversation } from "../../../src/services/models/Conversation.ts"
import { baseUrlOf } from "../../../src/services/models/provider/Providers.ts"
import {
  ask,
  kinds,
  openModel,
  textOf,
  thinker,
  thoughtOf,
  type OpenOptions
} from "../../support/provider/OpenModel.ts"
import * as ProviderServer from "../../support/ProviderServer.ts"

const sent = Effect.fnUntraced(function* (
  kind: ProviderServer.DialectName,
  prompt: Prompt.RawInput,
  options?: OpenOptions
) {
  const server = yield* ProviderServer.start
  const model = yield* openModel(kind, server, options)
  server.answer({ pieces: [{ text: "ok" }] })
  assert.strictEqual(textOf(yield* ask(model, prompt)), "ok")
  const [request] = server.seen()
  assert.isDefined(request)
  return request
})

const efforts: { readonly [K in ProviderServer.DialectName]: string } = {
  anthropic: `"output_config":{"effort":"high"}`,
  openai: `"reasoning":{"effort":"high","summary":"auto"}`,
  "openai-compatible": `"reasoning_effort":"high"`,
  google: `"thinkingConfig":{"thinkingLevel":"high","includeThoughts":true}`
}

describe.each(kinds)("requests of kind %s", (kind) => {
  it.effect("name this program as the user agent, and nothing else", () =>
    Effect.gen(function* () {
      const { headers } = yield* sent(kind, "hi")
      assert.strictEqual(headers["user-agent"], `super-pi/${version}`)
    })
  )

  it.effect("carry the effort in the provider's own way", () =>
    Effect.gen(function* () {
      const { text } = yield* sent(kind, "hi", { effort: "high" })
      assert.include(text, efforts[kind])
      assert.notInclude((yield* sent(kind, "hi")).text, `"high"`)
    })
  )

  it.effect("describe tools by closed schemas without empty bounds", () =>
    Effect.gen(function* () {
      const { text } = yield* sent(kind, "hi")
      assert.include(
        text,
        `{"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"}},"required":["path"],"additionalProperties":false}`
      )
      assert.include(text, `"Tells the time"`)
    })
  )

  it.effect("leave a schema that somebody wrote by hand as it is", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      const tool = Tool.dynamic("mcp", {
        parameters: { type: "object", properties: { a: { type: "string" } }, additionalProperties: true }
      })
      server.answer({ pieces: [{ text: "ok" }] })
      yield* Stream.runDrain(
        model.streamText({
          prompt: "hi",
          toolkit: { tools: { mcp: tool }, handle: () => Effect.die("unused") },
          disableToolCallResolution: true
        })
      )
      assert.include(
        server.seen()[0]?.text,
        `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}`
      )
    })
  )

  it.effect("carry images as base64 and by address", () =>
    Effect.gen(function* () {
      const image = (data: string) => Prompt.filePart({ mediaType: "image/png", data })
      const content = [image("aVZCT1I="), image("https://example.org/a.png"), Prompt.textPart({ text: "what is it?" })]
      const { text } = yield* sent(kind, Prompt.fromMessages([Prompt.userMessage({ content })]))
      assert.include(text, "aVZCT1I=")
      assert.include(text, "https://example.org/a.png")
      assert.include(text, "image/png")
      assert.include(text, "what is it?")
    })
  )

  it.effect("tell failed results, and results that hold an image", () =>
    Effect.gen(function* () {
      const result = (id: string, failed: boolean, output?: Prompt.ToolResultPart["modelOutput"]) =>
        Prompt.toolResultPart({
          id,
          name: "read",
          isFailure: failed,
          result: `result of ${id}`,
          providerExecuted: false,
          ...(output === undefined ? {} : { modelOutput: output })
        })
      const call = (id: string) => Prompt.toolCallPart({ id, name: "read", params: {}, providerExecuted: false })
      const picture = [
        Prompt.textPart({ text: "a picture" }),
        Prompt.filePart({ mediaType: "image/png", data: "aVZCT1I=" })
      ]
      const { text } = yield* sent(
        kind,
        Prompt.fromMessages([
          Prompt.userMessage({ content: [Prompt.textPart({ text: "hi" })] }),
          Prompt.assistantMessage({ content: [call("one"), call("two")] }),
          Prompt.toolMessage({ content: [result("one", true), result("two", false, picture)] })
        ])
      )
      assert.include(text, "result of one")
      assert.include(text, "a picture")
      if (kind === "anthropic") assert.include(text, `"is_error":true`)
      if (kind === "openai-compatible") assert.include(text, "image/png left out")
      else assert.include(text, "aVZCT1I=")
    })
  )

  it.effect("ask for a structured answer by its schema", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      server.answer({ pieces: [{ text: `{"title":"A title"}` }] })
      const answer = yield* model.generateObject({ prompt: "name it", schema: Schema.Struct({ title: Schema.String }) })
      assert.deepStrictEqual(answer.value, { title: "A title" })
      assert.match(
        server.seen()[0]?.text ?? "",
        kind === "openai-compatible" ? /json_object/ : /"title":\{"type":"string"/
      )
    })
  )

  it.effect("leave out messages and texts that say nothing", () =>
    Effect.gen(function* () {
      const { text } = yield* sent(
        kind,
        Prompt.fromMessages([
          Prompt.userMessage({ content: [Prompt.textPart({ text: "hi" })] }),
          Prompt.assistantMessage({ content: [Prompt.textPart({ text: "" })] }),
          Prompt.userMessage({ content: [Prompt.textPart({ text: "go on" })] })
        ])
      )
      assert.notInclude(text, `"text":""`)
      assert.notInclude(text, `"content":""`)
    })
  )
})

describe("requests to Anthropic", () => {
  it.effect("mark for the cache the tools, the system prompt, the last message and what was asked before", () =>
    Effect.gen(function* () {
      const messages = [
        Prompt.systemMessage({ content: "SYSTEM" }),
        Prompt.userMessage({ content: [Prompt.textPart({ text: "first" })] }),
        Prompt.assistantMessage({ content: [Prompt.textPart({ text: "second" })] }),
        Prompt.userMessage({ content: [Prompt.textPart({ text: "third" })] })
      ]
      const { text } = yield* sent("anthropic", Prompt.fromMessages(messages))
      const here = `"cache_control":{"type":"ephemeral"}`
      // More than four are refused.
      assert.strictEqual(text.split(here).length - 1, 4)
      assert.include(text, `"text":"SYSTEM",${here}`)
      assert.include(text, `"text":"first",${here}`)
      assert.include(text, `"text":"third",${here}`)
    })
  )

  it.effect("bring ids of calls of other providers into shape", () =>
    Effect.gen(function* () {
      const id = "functions.read:0"
      const { text } = yield* sent(
        "anthropic",
        Prompt.fromMessages([
          Prompt.userMessage({ content: [Prompt.textPart({ text: "hi" })] }),
          Prompt.assistantMessage({
            content: [Prompt.toolCallPart({ id, name: "read", params: {}, providerExecuted: false })]
          }),
          Prompt.toolMessage({
            content: [
              Prompt.toolResultPart({ id, name: "read", isFailure: false, result: "x", providerExecuted: false })
            ]
          })
        ])
      )
      assert.include(text, `"id":"functions_read_0"`)
      assert.include(text, `"tool_use_id":"functions_read_0"`)
    })
  )

  it.effect("leave room for a long answer of a model that the package does not know", () =>
    Effect.gen(function* () {
      assert.include((yield* sent("anthropic", "hi", { modelId: "other-model" })).text, `"max_tokens":32000`)
    })
  )
})

describe("requests to OpenAI", () => {
  it.effect("keep nothing there and ask for encrypted thoughts", () =>
    Effect.gen(function* () {
      const { path, text } = yield* sent("openai", "hi", { modelId: thinker.openai })
      assert.strictEqual(path, "/v1/responses")
      assert.include(text, `"store":false`)
      assert.include(text, `"include":["reasoning.encrypted_content"]`)
      assert.notInclude(text, "prompt_cache_key")
    })
  )

  it.effect("share the cache within a conversation", () =>
    Effect.gen(function* () {
      const { text } = yield* sent("openai", "hi").pipe(Effect.provideService(Conversation, "conversation-1"))
      assert.include(text, `"prompt_cache_key":"conversation-1"`)
    })
  )
})

describe("requests to compatible servers", () => {
  it.effect("ask for the usage, and carry efforts that only the server knows", () =>
    Effect.gen(function* () {
      const { path, text } = yield* sent("openai-compatible", "hi", { effort: "turbo" })
      assert.strictEqual(path, "/v1/chat/completions")
      assert.include(text, `"stream_options":{"include_usage":true}`)
      assert.include(text, `"reasoning_effort":"turbo"`)
    })
  )

  it.effect("split thoughts in tags from the answer, however they are cut (F67)", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel("openai-compatible", server)
      server.answer({ pieces: ["<th", "ink>R1 ", "R2</thi", "nk>\n\nT1", " T2"].map((text) => ({ text })) })
      const parts = yield* ask(model, "hi")
      assert.strictEqual(textOf(parts), "T1 T2")
      const kinds = parts.map((part) => part.type).filter((type) => /^(text|reasoning)-(start|end)$/.test(type))
      assert.deepStrictEqual(kinds, ["reasoning-start", "reasoning-end", "text-start", "text-end"])
    })
  )
})

describe("answers of compatible servers", () => {
  it.effect("keep tags in the text if the server tells thoughts apart itself", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel("openai-compatible", server)
      server.answer({ pieces: [{ thought: "R", signature: "" }, { text: "<think>is a tag</think>" }] })
      const parts = yield* ask(model, "hi")
      assert.strictEqual(thoughtOf(parts), "R")
      assert.strictEqual(textOf(parts), "<think>is a tag</think>")
    })
  )
})

describe("addresses", () => {
  const table: ReadonlyArray<readonly [ProviderServer.DialectName, string | undefined, string]> = [
    ["anthropic", undefined, "https://api.anthropic.com/v1"],
    ["anthropic", "http://127.0.0.1:1", "http://127.0.0.1:1/v1"],
    ["anthropic", "http://127.0.0.1:1/v1/", "http://127.0.0.1:1/v1"],
    ["anthropic", "http://127.0.0.1:1/proxy/anthropic", "http://127.0.0.1:1/proxy/anthropic/v1"],
    ["openai", undefined, "https://api.openai.com/v1"],
    ["openai", "http://127.0.0.1:1", "http://127.0.0.1:1/v1"],
    ["openai", "http://127.0.0.1:1/custom", "http://127.0.0.1:1/custom"],
    ["google", undefined, "https://generativelanguage.googleapis.com/v1beta"],
    ["google", "http://127.0.0.1:1", "http://127.0.0.1:1/v1beta"],
    ["google", "http://127.0.0.1:1/v1beta", "http://127.0.0.1:1/v1beta"],
    ["openai-compatible", "http://127.0.0.1:1/", "http://127.0.0.1:1"]
  ]
  it.each(table)("%s at %s", (kind, baseUrl, expected) => {
    assert.strictEqual(baseUrlOf({ kind, ...(baseUrl === undefined ? {} : { baseUrl }) }), expected)
  })
})
