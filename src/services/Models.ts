/** The models that can be chosen, and the way from a model id to a `LanguageModel`. */
import * as Context from "effect/Context"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ModelInfo } from "../domain/Model.ts"

/** No such model, or its provider has no key. `message` names the remedy. */
export class ModelUnavailable extends Schema.TaggedError<ModelUnavailable>()("ModelUnavailable", {
  model: Schema.String,
  message: Schema.String
}) {}

export interface ModelsShape {
  /** Models whose provider is configured, the default first. Cheap: loads no provider. */
  readonly list: Effect.Effect<ReadonlyArray<ModelInfo>>
  /** Loads the provider at the first use. `effort` is one of `info.efforts`. */
  readonly resolve: (
    modelId: string,
    effort: string | undefined
  ) => Effect.Effect<LanguageModel.LanguageModel, ModelUnavailable>
}

export class Models extends Context.Service<Models, ModelsShape>()("super-pi/Models") {}
