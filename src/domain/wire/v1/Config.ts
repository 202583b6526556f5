/** Options of a session that a client shows and sets. */
import * as Schema from "effect/Schema"
import { SessionId } from "../../Ids.ts"
import * as Lenient from "../Lenient.ts"

export const SelectChoice = Schema.Struct({
  value: Schema.String,
  name: Schema.String,
  description: Lenient.drop(Schema.String),
  _meta: Lenient.meta
})

export const SelectGroup = Schema.Struct({
  group: Schema.String,
  name: Schema.String,
  options: Schema.Array(SelectChoice),
  _meta: Lenient.meta
})

const option = {
  id: Schema.String,
  name: Schema.String,
  description: Lenient.drop(Schema.String),
  category: Lenient.drop(Schema.String),
  _meta: Lenient.meta
}

export const SelectOption = Schema.Struct({
  ...option,
  type: Schema.Literal("select"),
  currentValue: Schema.String,
  options: Schema.Union([Schema.Array(SelectChoice), Schema.Array(SelectGroup)])
})

/** Only for clients that advertise `session.configOptions.boolean` (CFG-02). */
export const BooleanOption = Schema.Struct({ ...option, type: Schema.Literal("boolean"), currentValue: Schema.Boolean })

export const ConfigOption = Schema.Union([SelectOption, BooleanOption])

const target = { sessionId: SessionId, configId: Schema.String, _meta: Lenient.meta }

export const SetBoolean = Schema.Struct({ ...target, type: Schema.Literal("boolean"), value: Schema.Boolean })

/** A string is the id of a choice, whatever a `type` beside it says (CFG-03). */
export const SetChoice = Schema.Struct({ ...target, value: Schema.String })

export const SetConfigOptionRequest = Schema.Union([SetChoice, SetBoolean])

export const SetConfigOptionResponse = Schema.Struct({
  configOptions: Schema.Array(ConfigOption),
  _meta: Lenient.meta
})
