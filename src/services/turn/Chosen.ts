/** The model that a request goes to. */
import type * as LanguageModel from "effect/ai/LanguageModel"
import type { ModelInfo } from "../../domain/Model.ts"

export interface Chosen {
  readonly info: ModelInfo
  readonly model: LanguageModel.LanguageModel
}
