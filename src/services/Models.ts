/** The models that can be chosen, and the way from a model id to a `LanguageModel`. */
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { type ModelInfo, UNKNOWN_CONTEXT_WINDOW } from "../domain/Model.ts"
import type { Script } from "./models/script/Script.ts"

/** No such model, or its provider has no key. `message` names the remedy. */
export class ModelUnavailable extends Schema.TaggedError<ModelUnavailable>()("ModelUnavailable", {
  model: Schema.String,
  message: Schema.String
}) {}

/** What `Models` promises. */
export interface ModelsShape {
  /** Models whose provider is configured, the default first. Cheap: loads no provider. */
  readonly list: Effect.Effect<ReadonlyArray<ModelInfo>>
  /** Runs `tell` whenever the list has become another one because of what an endpoint said. Absent where none is asked. */
  readonly observe?: (tell: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
  /** Loads the provider at the first use. `effort` is one of `info.efforts`; another one counts as none. */
  readonly resolve: (
    modelId: string,
    effort: string | undefined
  ) => Effect.Effect<LanguageModel.LanguageModel, ModelUnavailable>
}

const scriptedInfo: ModelInfo = {
  id: "scripted/script",
  name: "Scripted",
  contextWindow: UNKNOWN_CONTEXT_WINDOW,
  image: true,
  efforts: []
}

/** The models of this process. An application that brings its own `LanguageModel` uses `fromLanguageModel`. */
export class Models extends Context.Service<Models, ModelsShape>()("super-pi/Models") {
  /** The only model is the one that the application provides, described by `info`. Loads no provider of ours. */
  static readonly fromLanguageModel = (info: ModelInfo): Layer.Layer<Models, never, LanguageModel.LanguageModel> =>
    Layer.effect(
      this,
      Effect.flatMap(
        Effect.promise(() => import("./models/SingleModel.ts")),
        ({ fromContext }) => fromContext(info)
      )
    )

  /** The only model answers by a script. `info` describes it; default `scripted/script`, which takes images. */
  static readonly scripted = (script: Script, info: ModelInfo = scriptedInfo): Layer.Layer<Models> =>
    Layer.effect(
      this,
      Effect.flatMap(
        Effect.promise(() => import("./models/SingleModel.ts")),
        ({ fromScript }) => fromScript(script, info)
      )
    )
}
