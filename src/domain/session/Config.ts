/** Options of a session that a client can show and set: always the complete list, each with a valid value (CFG-01). */
import * as Schema from "effect/Schema"

/** `group` is the heading under which a choice stands: all choices of an option have one, or none has. */
export const ConfigChoice = Schema.Struct({
  value: Schema.String,
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  group: Schema.optionalKey(Schema.Struct({ id: Schema.String, name: Schema.String }))
})
export type ConfigChoice = typeof ConfigChoice.Type

/** An option with its choices; `currentValue` is the `value` of one of them. */
export const ConfigOption = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  category: Schema.optionalKey(Schema.String),
  currentValue: Schema.String,
  options: Schema.Array(ConfigChoice)
})
export type ConfigOption = typeof ConfigOption.Type

/** Ids of our options. */
export const MODEL_OPTION = "model"
export const EFFORT_OPTION = "reasoning_effort"
export const MODE_OPTION = "mode"
