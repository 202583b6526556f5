/** Questions to the user beside permissions: a form, or a page to open. Nothing secret goes through a form (ELI-04). */
import * as Schema from "effect/Schema"
import { SessionId } from "../../Ids.ts"
import * as Lenient from "../Lenient.ts"

const described = { title: Lenient.drop(Schema.String), description: Lenient.drop(Schema.String), _meta: Lenient.meta }

export const Choice = Schema.Struct({
  const: Schema.String,
  title: Schema.String,
  description: Lenient.drop(Schema.String),
  _meta: Lenient.meta
})

export const StringField = Schema.Struct({
  ...described,
  type: Schema.Literal("string"),
  minLength: Lenient.nullable(Schema.Natural),
  maxLength: Lenient.nullable(Schema.Natural),
  pattern: Lenient.nullable(Schema.String),
  format: Lenient.nullable(Schema.Literals(["email", "uri", "date", "date-time"])),
  default: Lenient.drop(Schema.String),
  enum: Lenient.nullable(Schema.Array(Schema.String)),
  oneOf: Lenient.nullable(Schema.Array(Choice))
})

export const NumberField = Schema.Struct({
  ...described,
  type: Schema.Literal("number"),
  minimum: Lenient.nullable(Schema.Finite),
  maximum: Lenient.nullable(Schema.Finite),
  default: Lenient.drop(Schema.Finite)
})

export const IntegerField = Schema.Struct({
  ...described,
  type: Schema.Literal("integer"),
  minimum: Lenient.nullable(Schema.Int),
  maximum: Lenient.nullable(Schema.Int),
  default: Lenient.drop(Schema.Int)
})

export const BooleanField = Schema.Struct({
  ...described,
  type: Schema.Literal("boolean"),
  default: Lenient.drop(Schema.Boolean)
})

const Items = Schema.Union([
  Schema.Struct({ type: Schema.Literal("string"), enum: Schema.Array(Schema.String), _meta: Lenient.meta }),
  Schema.Struct({ anyOf: Schema.Array(Choice), _meta: Lenient.meta }),
  Lenient.open({ type: Lenient.otherThan("string") })
])

export const MultiSelectField = Schema.Struct({
  ...described,
  type: Schema.Literal("array"),
  minItems: Lenient.nullable(Schema.Natural),
  maxItems: Lenient.nullable(Schema.Natural),
  items: Items,
  default: Lenient.drop(Schema.Array(Schema.String))
})

export const Field = Schema.Union([
  StringField,
  NumberField,
  IntegerField,
  BooleanField,
  MultiSelectField,
  Lenient.open({ type: Lenient.otherThan("string", "number", "integer", "boolean", "array") })
])

export const Form = Schema.Struct({
  ...described,
  type: Lenient.drop(Schema.Literal("object")),
  properties: Schema.optionalKey(Schema.Record(Schema.String, Field)),
  required: Lenient.nullable(Schema.Array(Schema.String))
})

/** Exactly one of a session and an open request of the client (ELI-02). */
const inSession = { sessionId: SessionId, toolCallId: Lenient.drop(Schema.String) }
const inRequest = { requestId: Schema.Union([Schema.String, Schema.Int, Schema.Null]) }

const form = {
  mode: Schema.Literal("form"),
  message: Schema.String,
  requestedSchema: Form,
  _meta: Lenient.meta
}

const url = {
  mode: Schema.Literal("url"),
  message: Schema.String,
  elicitationId: Schema.String,
  url: Schema.String,
  _meta: Lenient.meta
}

const other = { mode: Lenient.otherThan("form", "url"), message: Schema.String, _meta: Lenient.meta }

export const CreateElicitationRequest = Schema.Union([
  Schema.Struct({ ...form, ...inSession }),
  Schema.Struct({ ...form, ...inRequest }),
  Schema.Struct({ ...url, ...inSession }),
  Schema.Struct({ ...url, ...inRequest }),
  Lenient.open({ ...other, ...inSession }),
  Lenient.open({ ...other, ...inRequest })
])

const Value = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Array(Schema.String)])

export const CreateElicitationResponse = Schema.Union([
  Schema.Struct({
    action: Schema.Literal("accept"),
    content: Lenient.nullable(Schema.Record(Schema.String, Value)),
    _meta: Lenient.meta
  }),
  Schema.Struct({ action: Schema.Literals(["decline", "cancel"]), _meta: Lenient.meta }),
  Lenient.open({ action: Lenient.otherThan("accept", "decline", "cancel") })
])

export const CompleteElicitation = Schema.Struct({ elicitationId: Schema.String, _meta: Lenient.meta })
