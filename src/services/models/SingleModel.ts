/** One model that the application brings along, as all the models there are. */
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import type { ModelInfo } from "../../domain/Model.ts"
import { ModelUnavailable, type ModelsShape } from "../Models.ts"
import type { Script } from "./script/Script.ts"
import * as ScriptedModel from "./script/ScriptedModel.ts"

const make = (info: ModelInfo, model: LanguageModel.LanguageModel): ModelsShape => ({
  list: Effect.succeed([info]),
  resolve: (id) =>
    id === info.id
      ? Effect.succeed(model)
      : Effect.fail(new ModelUnavailable({ model: id, message: `There is no model "${id}" here: choose "${info.id}"` }))
})

export const fromContext = (info: ModelInfo): Effect.Effect<ModelsShape, never, LanguageModel.LanguageModel> =>
  Effect.map(LanguageModel.LanguageModel, (model) => make(info, model))

export const fromScript = (script: Script, info: ModelInfo): Effect.Effect<ModelsShape> =>
  Effect.map(ScriptedModel.make(script), (model) => make(info, model))
