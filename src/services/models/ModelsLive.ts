/** Models of the configured providers and scripted ones. Neither a provider nor `effect/ai` is loaded before a first use. */
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type { ModelInfo } from "../../domain/Model.ts"
import { Models, ModelUnavailable } from "../Models.ts"
import { type ProviderSettings, Settings, type SettingsValue } from "../Settings.ts"
import { findModel, hasOwnList, keyAdvice, listModels, nothingOffered, type Offered, SCRIPTED } from "./ModelList.ts"

type Model = LanguageModel.LanguageModel

interface Choice {
  readonly provider: ProviderSettings
  readonly info: ModelInfo
  /** The name that the provider gives the model. */
  readonly model: string
  readonly effort: string | undefined
}

/** How long an editor waits that could offer no model at all without the answer of an endpoint. */
const PATIENCE = Duration.seconds(1)

const unavailable = (model: string, message: string): ModelUnavailable => new ModelUnavailable({ model, message })

const loadFailed = (model: string) => () =>
  unavailable(model, "A part of Super-Pi that models need could not be loaded: install it again")

/** A file that cannot be used is an error of the person who wrote it: the message says where. */
const loadScript = Effect.fnUntraced(function* (id: string, files: FileSystem.FileSystem) {
  const path = id.slice(SCRIPTED.length)
  const text = yield* Effect.mapError(files.readFileString(path), () =>
    unavailable(id, `The script ${path} cannot be read: give the path of an existing file, as scripted/<path>`)
  )
  const [{ parseScript }, ScriptedModel] = yield* Effect.tryPromise({
    try: () => Promise.all([import("./script/Script.ts"), import("./script/ScriptedModel.ts")]),
    catch: loadFailed(id)
  })
  const script = yield* Effect.mapError(parseScript(text), (error) =>
    unavailable(id, `The script ${path} is not valid: ${error.message}`)
  )
  return yield* ScriptedModel.make(script)
})

/** `Models` of the providers in the settings, read anew when those change, and of script files (`scripted/<path>`). */
export const layer: Layer.Layer<Models, never, Settings | FileSystem.FileSystem | Path.Path> = Layer.effect(
  Models,
  Effect.gen(function* () {
    const settings = yield* Settings
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const scope = yield* Effect.scope
    const settingsFile = `${settings.home}/config.toml`
    const scripts = new Map<string, Model>()
    // Settings that were read anew are new objects, so a changed key is never answered from here.
    const loaded = new WeakMap<ProviderSettings, Map<string, Model>>()
    let lists = new WeakMap<SettingsValue, ReadonlyArray<ModelInfo>>()
    const observers = new Set<Effect.Effect<void>>()

    const http = yield* Effect.cached(
      Effect.flatMap(
        Effect.promise(() => import("./provider/ProviderHttp.ts")),
        (module) => Scope.provide(module.make, scope)
      )
    )

    const endpoints = yield* Effect.cached(
      Effect.flatMap(
        Effect.promise(() => import("./EndpointModels.ts")),
        (module) =>
          module.make({
            fs: files,
            paths,
            home: settings.home,
            send: Effect.map(http, ({ send }) => send),
            scope,
            changed: Effect.suspend(() => {
              lists = new WeakMap()
              return Effect.forEach([...observers], (tell) => tell, { discard: true })
            })
          })
      )
    )

    const facts = yield* Effect.cached(Effect.promise(() => import("./Catalogue.ts")))

    const listed = Effect.fnUntraced(function* (value: SettingsValue, offered: Offered) {
      const { catalogue } = yield* facts
      const list = lists.get(value) ?? listModels(value, catalogue, offered)
      lists.set(value, list)
      return { value, listed: list, offered }
    })

    /** Waits for an endpoint only where there would be nothing to choose from. */
    const known = Effect.gen(function* () {
      const value = yield* settings.current
      if (value.providers.length === 0) return { value, listed: listModels(value), offered: nothingOffered }
      if (!value.providers.some(hasOwnList)) return yield* listed(value, nothingOffered)
      const { answered, ask, offered } = yield* endpoints
      yield* ask(value.providers)
      const present = yield* listed(value, offered)
      if (present.listed.length > 0) return present
      yield* answered(PATIENCE)
      return yield* listed(value, offered)
    })

    const load = Effect.fnUntraced(function* ({ effort, info, model, provider }: Choice) {
      const [AiSdkModel, Providers, client] = yield* Effect.all([
        Effect.tryPromise({ try: () => import("./provider/AiSdkModel.ts"), catch: loadFailed(info.id) }),
        Effect.tryPromise({ try: () => import("./provider/Providers.ts"), catch: loadFailed(info.id) }),
        http
      ])
      const request = { settings: provider, modelId: model, effort, thinks: info.efforts.length > 0 }
      return yield* AiSdkModel.make({
        provider: yield* Effect.mapError(Providers.loadModel(request, client), ({ message }) =>
          unavailable(info.id, message)
        ),
        http: client,
        failure: {
          provider: provider.name,
          keyAdvice: keyAdvice(provider, settingsFile),
          secrets: provider.apiKey === undefined ? [] : [Redacted.value(provider.apiKey)]
        }
      })
    })

    const resolveProvider = Effect.fnUntraced(function* (id: string, wished: string | undefined) {
      const { listed, offered, value } = yield* known
      const found = findModel(id, value, listed, settingsFile, offered)
      if (Result.isFailure(found)) return yield* unavailable(id, found.failure)
      const { info, provider } = found.success
      const effort = wished !== undefined && info.efforts.includes(wished) ? wished : undefined
      const models = loaded.get(provider) ?? new Map<string, Model>()
      loaded.set(provider, models)
      const key = `${id} ${effort ?? ""}`
      const model = models.get(key) ?? (yield* load({ ...found.success, effort }))
      models.set(key, model)
      return model
    })

    const resolveScript = Effect.fnUntraced(function* (id: string) {
      const present = scripts.get(id)
      if (present !== undefined) return present
      const model = yield* loadScript(id, files)
      // All who ask share the steps, also those who asked while the file was read.
      const shared = scripts.get(id) ?? model
      scripts.set(id, shared)
      return shared
    })

    return Models.of({
      list: Effect.map(known, ({ listed }) => listed),
      observe: (tell) =>
        Effect.asVoid(
          Effect.acquireRelease(
            Effect.sync(() => observers.add(tell)),
            () => Effect.sync(() => observers.delete(tell))
          )
        ),
      resolve: Effect.fn("Models.resolve")((id: string, effort: string | undefined) =>
        id.startsWith(SCRIPTED) ? resolveScript(id) : resolveProvider(id, effort)
      )
    })
  })
)
