/** What an endpoint says of its models, and how long that is remembered. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { Models } from "../../../src/services/Models.ts"
import { hasOwnList } from "../../../src/services/models/ModelList.ts"
import * as ModelsLive from "../../../src/services/models/ModelsLive.ts"
import { modelsIn } from "../../../src/services/models/OfferedModels.ts"
import { type ProviderSettings, Settings } from "../../../src/services/Settings.ts"
import * as ProviderServer from "../../support/ProviderServer.ts"

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)
const server = { name: "work", kind: "openai-compatible", models: [] } as const
const key = Redacted.make("sk-test-0123456789")
const offering = (...ids: ReadonlyArray<string>) => ({
  object: "list",
  data: ids.map((id) => ({ id, object: "model" }))
})

/** One process: what it lists. */
const process = <A>(home: string, provider: ProviderSettings, use: Effect.Effect<A, never, Models>) =>
  use.pipe(
    Effect.provide(
      Layer.fresh(
        ModelsLive.layer.pipe(
          Layer.provide(Settings.layerValues({ home, providers: [provider] })),
          Layer.provide(platform)
        )
      )
    )
  )

const ids = Effect.flatMap(Models, ({ list }) => Effect.map(list, (models) => models.map(({ id }) => id)))

const home = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()).pipe(Effect.provide(platform))

describe("the list of an endpoint", () => {
  it("has the facts that servers add to it, each as far as it can be understood", () => {
    const answer = {
      object: "list",
      data: [
        {
          id: "maker/model",
          name: "Maker: Model",
          context_length: 200_000,
          architecture: { input_modalities: ["text", "image"] },
          pricing: { prompt: "0.000003", completion: "0.000015", input_cache_read: "0.0000003" },
          top_provider: { max_completion_tokens: 64_000 },
          supported_parameters: ["tools", "reasoning_effort"]
        },
        { id: "Qwen/Qwen3", object: "model", owned_by: "vllm", max_model_len: 40_960 },
        { id: "plain", context_length: "many", pricing: "cheap", architecture: null },
        { id: "text-embedding-3" },
        { id: "with space" },
        { id: "esc\u001b[2J" },
        { name: "nameless" },
        5
      ]
    }
    assert.deepStrictEqual(modelsIn(answer), [
      {
        id: "maker/model",
        name: "Maker: Model",
        contextWindow: 200_000,
        outputLimit: 64_000,
        image: true,
        efforts: ["low", "medium", "high"],
        price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3 }
      },
      { id: "Qwen/Qwen3", contextWindow: 40_960 },
      { id: "plain" }
    ])
    for (const none of [null, "text", [], {}, { data: {} }]) assert.isUndefined(modelsIn(none))
  })

  it("is asked for where nobody named the models, and on this machine", () => {
    const at = (baseUrl: string, models: ProviderSettings["models"] = []): ProviderSettings => ({
      ...server,
      baseUrl,
      models
    })
    assert.isTrue(hasOwnList(at("https://models.example.org/v1")))
    assert.isFalse(hasOwnList(at("https://models.example.org/v1", [{ id: "x" }])))
    for (const local of ["http://127.0.0.1:8080/v1", "http://localhost/v1", "http://[::1]:1/v1"]) {
      assert.isTrue(hasOwnList(at(local, [{ id: "x" }])))
    }
    assert.isFalse(hasOwnList(at("http://127.0.0.1.example.org/v1", [{ id: "x" }])))
    assert.isFalse(hasOwnList({ ...server, kind: "openai", apiKey: key }))
  })

  it.live("is there for the first session, is asked for once, and outlives the server on disk", () =>
    Effect.gen(function* () {
      const folder = yield* home
      const endpoint = yield* ProviderServer.start
      const provider = { ...server, baseUrl: `${endpoint.origin}/v1`, apiKey: key }
      endpoint.offer(offering("a", "b"))
      const twice = Effect.andThen(ids, ids)
      assert.deepStrictEqual(yield* process(folder, provider, twice), ["work/a", "work/b"])
      assert.deepStrictEqual(endpoint.asked(), [`Bearer ${Redacted.value(key)}`])
      const fs = yield* FileSystem.FileSystem
      assert.notInclude(yield* fs.readFileString(`${folder}/cache/models.json`), Redacted.value(key))
      endpoint.offer(undefined)
      assert.deepStrictEqual(yield* process(folder, provider, ids), ["work/a", "work/b"])
    }).pipe(Effect.provide(platform))
  )

  it.live("that nobody heard yet may have any model, and one that was heard has its own", () =>
    Effect.gen(function* () {
      const folder = yield* home
      const endpoint = yield* ProviderServer.start
      const provider = { ...server, baseUrl: `${endpoint.origin}/v1` }
      const has = (id: string) =>
        process(
          folder,
          provider,
          Effect.flatMap(Models, ({ resolve }) => Effect.isSuccess(resolve(id, undefined)))
        )
      assert.deepStrictEqual([yield* has("work/old"), yield* has("other/old")], [true, false])
      endpoint.offer(offering("new"))
      yield* process(folder, provider, ids)
      assert.deepStrictEqual([yield* has("work/old"), yield* has("work/new")], [false, true])
    }).pipe(Effect.provide(platform))
  )

  it.live("that became another one is told while the first answer holds", () =>
    Effect.gen(function* () {
      const folder = yield* home
      const endpoint = yield* ProviderServer.start
      const provider = { ...server, baseUrl: `${endpoint.origin}/v1` }
      endpoint.offer(offering("a"))
      yield* process(folder, provider, ids)
      endpoint.offer(offering("a", "new"))
      const [before, after] = yield* process(
        folder,
        provider,
        Effect.gen(function* () {
          const models = yield* Models
          const told: Array<string> = []
          const changed = Deferred.makeUnsafe<void>()
          yield* models.observe?.(Effect.asVoid(Deferred.succeed(changed, undefined))) ?? Effect.void
          told.push((yield* ids).join())
          yield* Deferred.await(changed)
          told.push((yield* ids).join())
          return told
        }).pipe(Effect.scoped)
      )
      assert.deepStrictEqual([before, after], ["work/a", "work/a,work/new"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("is asked for again where a server was started meanwhile, and not at every look", () =>
    Effect.gen(function* () {
      const endpoint = yield* ProviderServer.start
      const provider = { ...server, baseUrl: `${endpoint.origin}/v1` }
      const looks = Effect.gen(function* () {
        const before = yield* Effect.andThen(ids, ids)
        const asked = endpoint.asked().length
        endpoint.offer(offering("a"))
        yield* TestClock.adjust("5 seconds")
        return { before, asked, after: yield* ids }
      })
      const found = yield* process(yield* home, provider, looks)
      assert.deepStrictEqual(found, { before: [], asked: 1, after: ["work/a"] })
    }).pipe(Effect.provide(platform))
  )
})
