import { assert, describe, it } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { ModelInfo } from "../../../src/domain/Model.ts"
import { Models } from "../../../src/services/Models.ts"
import { catalogue } from "../../../src/services/models/Catalogue.ts"
import * as ModelsLive from "../../../src/services/models/ModelsLive.ts"
import * as ScriptedModel from "../../../src/services/models/script/ScriptedModel.ts"
import { type ProviderSettings, Settings, type SettingsValue } from "../../../src/services/Settings.ts"
import { toTurnError } from "../../../src/services/turn/ModelFailure.ts"
import { ask, textOf } from "../../support/provider/OpenModel.ts"
import * as ProviderServer from "../../support/ProviderServer.ts"

const key = Redacted.make("sk-test-0123456789")
const anthropic: ProviderSettings = { name: "anthropic", kind: "anthropic", apiKey: key, models: [] }
const local: ProviderSettings = {
  name: "local",
  kind: "openai-compatible",
  baseUrl: "http://127.0.0.1:1/v1",
  models: [{ id: "qwen/coder", contextWindow: 32_000, image: true, efforts: ["low", "high"] }, { id: "plain" }]
}

const withSettings = (settings: Partial<SettingsValue>) => {
  const dependencies = Layer.merge(
    Settings.layerValues({ home: "/home/me/.supercharge", ...settings }),
    Layer.merge(NodeFileSystem.layer, NodePath.layer)
  )
  return Layer.merge(Layer.provide(ModelsLive.layer, dependencies), dependencies)
}

const listed = (settings: Partial<SettingsValue>) =>
  Effect.provide(
    Effect.flatMap(Models, (models) => models.list),
    withSettings(settings)
  )

const refused = (settings: Partial<SettingsValue>, id: string) =>
  Effect.provide(
    Effect.flatMap(Models, (models) =>
      Effect.map(Effect.flip(models.resolve(id, undefined)), ({ message }) => message)
    ),
    withSettings(settings)
  )

describe("the list of models", () => {
  it.effect("is empty without a provider", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* listed({}), [])
    })
  )

  it.effect("holds what is known of a kind, and what the file says", () =>
    Effect.gen(function* () {
      const models = yield* listed({ providers: [anthropic, local] })
      const sonnet = models.find(({ id }) => id === "anthropic/claude-sonnet-5-5")
      assert.strictEqual(sonnet?.contextWindow, 1_000_000)
      assert.isTrue(sonnet?.image)
      assert.deepStrictEqual(sonnet?.price, { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 })
      assert.deepStrictEqual(
        models.filter(({ id }) => id.startsWith("local/")),
        [
          { id: "local/qwen/coder", name: "qwen/coder", contextWindow: 32_000, image: true, efforts: ["low", "high"] },
          { id: "local/plain", name: "plain", contextWindow: 128_000, image: false, efforts: [] }
        ]
      )
    })
  )

  it.effect("begins with the default, whether it is known or not", () =>
    Effect.gen(function* () {
      for (const id of [
        "local/plain",
        "anthropic/claude-opus-5-5",
        "anthropic/claude-of-tomorrow",
        "scripted//tmp/a.json"
      ]) {
        const models = yield* listed({ providers: [anthropic, local], defaultModel: id })
        assert.strictEqual(models[0]?.id, id)
        assert.strictEqual(models.filter((model) => model.id === id).length, 1)
      }
      assert.strictEqual((yield* listed({ providers: [anthropic] }))[0]?.id, "anthropic/claude-sonnet-5-5")
    })
  )

  it.effect("leaves out what could not answer", () =>
    Effect.gen(function* () {
      const { apiKey: _, ...keyless } = anthropic
      assert.deepStrictEqual(yield* listed({ providers: [keyless], defaultModel: "anthropic/claude-opus-5-5" }), [])
      assert.deepStrictEqual(yield* listed({ providers: [], defaultModel: "nobody/x" }), [])
    })
  )

  it.effect("has well-formed entries, each id once", () =>
    Effect.gen(function* () {
      const providers = (["anthropic", "openai", "google"] as const).map((kind): ProviderSettings => ({
        name: kind,
        kind,
        apiKey: key,
        models: []
      }))
      const models = yield* listed({ providers })
      yield* Effect.forEach(models, (model) => Schema.decodeEffect(ModelInfo)(model, { onExcessProperty: "error" }))
      assert.strictEqual(new Set(models.map(({ id }) => id)).size, models.length)
      for (const { price } of Object.values(catalogue).flat()) {
        assert.isBelow(price.cacheRead, price.input + price.output)
        assert.isAtLeast(price.output, price.input)
      }
    })
  )
})

describe("a model that is not available", () => {
  it.effect("of no provider says what to configure", () =>
    Effect.gen(function* () {
      const message = yield* refused({ providers: [local] }, "anthropic/claude-opus-5-5")
      assert.include(message, `"anthropic" is not configured`)
      assert.include(message, "ANTHROPIC_API_KEY")
      assert.include(message, "/home/me/.supercharge/config.toml")
      assert.include(message, "local")
      assert.include(yield* refused({}, "groq/x"), "[providers.groq]")
    })
  )

  it.effect("without a slash says how an id looks, and what was meant", () =>
    Effect.gen(function* () {
      const message = yield* refused({ providers: [anthropic] }, "claude-sonnet-5-5")
      assert.include(message, "provider/model")
      assert.include(message, "anthropic/claude-sonnet-5-5")
    })
  )

  it.effect("of an unknown name suggests close ones", () =>
    Effect.gen(function* () {
      const message = yield* refused({ providers: [anthropic] }, "anthropic/claude-sonet-5-5")
      assert.include(message, "anthropic/claude-sonnet-5-5")
      assert.include(message, "--model anthropic/claude-sonet-5-5")
      assert.notInclude(yield* refused({ providers: [anthropic] }, "anthropic/zzz"), "Did you mean")
    })
  )

  it.effect("of a provider without key or address says which is missing", () =>
    Effect.gen(function* () {
      const { apiKey: _, ...keyless } = anthropic
      const { baseUrl: __, ...homeless } = local
      assert.include(yield* refused({ providers: [keyless] }, "anthropic/claude-opus-5-5"), "ANTHROPIC_API_KEY")
      assert.include(yield* refused({ providers: [homeless] }, "local/plain"), "base_url")
    })
  )

  it.effect("of a script says what is wrong with the file", () =>
    Effect.gen(function* () {
      assert.include(yield* refused({}, "scripted//nonexistent.json"), "/nonexistent.json cannot be read")
      const files = yield* FileSystem.FileSystem
      const path = yield* files.makeTempFileScoped()
      yield* files.writeFileString(path, `{"steps":[{"parts":[{"text":1}]}]}`)
      const message = yield* refused({}, `scripted/${path}`)
      assert.include(message, path)
      assert.include(message, `["text"]`)
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )
})

describe("a resolved model", () => {
  it.effect("answers, and is the same the next time", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      server.answer({ pieces: [{ text: "Hello" }] })
      const providers = [{ ...local, baseUrl: `${server.origin}/v1`, apiKey: key }]
      yield* Effect.gen(function* () {
        const models = yield* Models
        const model = yield* models.resolve("local/qwen/coder", "high")
        assert.strictEqual(textOf(yield* ask(model, "hi")), "Hello")
        assert.strictEqual(yield* models.resolve("local/qwen/coder", "high"), model)
        assert.notStrictEqual(yield* models.resolve("local/qwen/coder", "low"), model)
        const [request] = server.seen()
        assert.include(request?.text, `"model":"qwen/coder"`)
        assert.include(request?.text, `"reasoning_effort":"high"`)
        assert.strictEqual(request?.headers.authorization, `Bearer ${Redacted.value(key)}`)
      }).pipe(Effect.provide(withSettings({ providers })))
    })
  )

  it.effect("says of a key that is not accepted whose it is and where it came from, and never the key", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const at = { ...local, baseUrl: `${server.origin}/v1` }
      for (const [provider, advice] of [
        [
          { ...at, apiKey: key, keySource: { kind: "variable", name: "LOCAL_KEY" } },
          /^The provider local did not accept the API key from the environment variable LOCAL_KEY\. .* start the agent again\. \(/
        ],
        [
          { ...at, apiKey: key, keySource: { kind: "file", name: "providers.local.api_key" } },
          /^The provider local did not accept the API key from providers\.local\.api_key in \/home\/me\/\.supercharge\/config\.toml\. /
        ],
        [{ ...at, apiKey: key }, /^The provider local did not accept the API key\. Check it/],
        [
          at,
          /^The provider local wants an API key and none is set\. Run super-pi login --provider local, or set api_key_env or api_key under \[providers\.local\]/
        ]
      ] as const) {
        server.answer({ status: 401, message: `no such key: ${Redacted.value(key)}` })
        const error = yield* Effect.flatMap(Models, ({ resolve }) => resolve("local/plain", undefined)).pipe(
          Effect.flatMap((model) => Effect.flip(ask(model, "hi"))),
          Effect.provide(withSettings({ providers: [provider] }))
        )
        const { message } = toTurnError(error)
        assert.match(message, advice)
        assert.include(message, "no such key")
        if ("apiKey" in provider) assert.notInclude(message, Redacted.value(key))
      }
    })
  )

  it.effect("takes an effort that it does not have for none", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      server.answer({ pieces: [{ text: "Hello" }] })
      yield* Effect.gen(function* () {
        const model = yield* (yield* Models).resolve("local/plain", "high")
        yield* ask(model, "hi")
        assert.notInclude(server.seen()[0]?.text, "effort")
        assert.isUndefined(server.seen()[0]?.headers.authorization)
      }).pipe(Effect.provide(withSettings({ providers: [{ ...local, baseUrl: `${server.origin}/v1` }] })))
    })
  )

  it.effect("can be a script, whose steps all share", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = yield* files.makeTempFileScoped()
      yield* files.writeFileString(path, `{"steps":[{"parts":[{"text":"one"}]},{"parts":[{"text":"two"}]}]}`)
      const models = yield* Models
      const answer = Effect.flatMap(models.resolve(`scripted/${path}`, undefined), (model) => ask(model, "hi"))
      const texts = (yield* Effect.all([answer, answer], { concurrency: 2 })).map(textOf)
      assert.deepStrictEqual(texts.toSorted(), ["one", "two"])
    }).pipe(Effect.provide(withSettings({})))
  )
})

describe("models for embedding", () => {
  const info: ModelInfo = { id: "mine/model", name: "Mine", contextWindow: 1000, image: false, efforts: [] }

  it.effect("are the one that the application brings", () =>
    Effect.gen(function* () {
      const models = yield* Models
      assert.deepStrictEqual(yield* models.list, [info])
      assert.strictEqual(textOf(yield* ask(yield* models.resolve("mine/model", undefined), "hi")), "hi")
      assert.include((yield* Effect.flip(models.resolve("other/model", undefined))).message, "mine/model")
    }).pipe(
      Effect.provide(Models.fromLanguageModel(info)),
      Effect.provideServiceEffect(
        LanguageModel.LanguageModel,
        ScriptedModel.make({ steps: [{ parts: [{ echo: true }] }] })
      )
    )
  )

  it.effect("can be a script", () =>
    Effect.gen(function* () {
      const models = yield* Models
      const [model] = yield* models.list
      assert.strictEqual(model?.id, "scripted/script")
      assert.strictEqual(textOf(yield* ask(yield* models.resolve("scripted/script", undefined), "hi")), "Hello")
    }).pipe(Effect.provide(Models.scripted({ steps: [{ parts: [{ text: "Hello" }] }] })))
  )
})
