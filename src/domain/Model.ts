/** A model that can be chosen, and what is known of it. */
import * as Schema from "effect/Schema"

/** US dollars per million tokens. */
export const ModelPrice = Schema.Struct({
  input: Schema.Finite,
  output: Schema.Finite,
  cacheRead: Schema.Finite,
  cacheWrite: Schema.Finite
})
export type ModelPrice = typeof ModelPrice.Type

/**
 * `id` is `provider/model`; `contextWindow` and `outputLimit`, the longest answer, are in tokens; `efforts` is empty where
 * the model has no effort control.
 */
export const ModelInfo = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  contextWindow: Schema.Int,
  outputLimit: Schema.optionalKey(Schema.Int),
  image: Schema.Boolean,
  efforts: Schema.Array(Schema.String),
  price: Schema.optionalKey(ModelPrice)
})
export type ModelInfo = typeof ModelInfo.Type

/** Context window of a model that nobody described: small enough to be safe, large enough to work. */
export const UNKNOWN_CONTEXT_WINDOW = 128_000
