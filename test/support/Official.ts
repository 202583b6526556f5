/** Values as the official JSON Schema describes them: what a conforming peer may send. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { definition, isObject } from "./Schema.ts"

type Json = Schema.Json
type JsonObject = Schema.JsonObject
type Generator = Arbitrary.Arbitrary<Json>

export interface OfficialOptions {
  /** Whether optional values may be `null`, where the schema lets them. */
  readonly nulls: boolean
  /** Values of a property, where the agent asks for more than the schema. */
  readonly property: (key: string, schema: JsonObject) => Generator | undefined
}

const text: Generator = Arbitrary.schema(Schema.String)
const flag: Generator = Arbitrary.schema(Schema.Boolean)
const json: Generator = Arbitrary.schema(Schema.Json)
const maxSafe = Number.MAX_SAFE_INTEGER

const oneOf = (choices: ReadonlyArray<Generator>): Generator =>
  Arbitrary.schema(Schema.Literals(choices.map((_, index) => index))).pipe(
    Arbitrary.flatMap((index) => choices[index] ?? Arbitrary.Constant(null))
  )

const objects = (value: Json | undefined): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter(isObject) : []

const isNull = (schema: JsonObject): boolean => schema["type"] === "null"

const record = (value: Generator): Generator =>
  Arbitrary.array(Arbitrary.all([text, value]), { maxLength: 2 }).pipe(
    Arbitrary.map((entries) => Object.fromEntries(entries))
  )

/** Values of an official definition. */
export const official = (name: string, options: OfficialOptions): Generator => {
  const integer = (schema: JsonObject): Generator => {
    const minimum = typeof schema["minimum"] === "number" ? schema["minimum"] : -maxSafe
    const maximum = typeof schema["maximum"] === "number" ? schema["maximum"] : maxSafe
    return Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))
  }

  const typed = (type: Json, schema: JsonObject): Generator => {
    switch (type) {
      case "string":
        return schema["minLength"] === 1 ? Arbitrary.schema(Schema.NonEmptyString) : text
      case "integer":
        return integer(schema)
      case "number":
        return Arbitrary.schema(Schema.Finite)
      case "boolean":
        return flag
      case "array":
        return Arbitrary.array(value(isObject(schema["items"]) ? schema["items"] : {}), { maxLength: 2 })
      case "object":
        return object(schema)
      default:
        return Arbitrary.Constant(null)
    }
  }

  /** The schemas that an object is made of, of each alternative one; open variants are left to a later protocol. */
  const parts = (schema: JsonObject): ReadonlyArray<ReadonlyArray<JsonObject>> => {
    const reference = schema["$ref"]
    if (typeof reference === "string") return parts(definition(reference.slice("#/$defs/".length)))
    let combined: ReadonlyArray<ReadonlyArray<JsonObject>> = [[schema]]
    const join = (alternatives: ReadonlyArray<ReadonlyArray<JsonObject>>) => {
      combined = combined.flatMap((left) => alternatives.map((right) => [...left, ...right]))
    }
    for (const part of objects(schema["allOf"])) join(parts(part))
    const alternatives = [...objects(schema["anyOf"]), ...objects(schema["oneOf"])].filter((it) => !("not" in it))
    if (alternatives.length > 0) join(alternatives.flatMap(parts))
    return combined
  }

  const merged = (all: ReadonlyArray<JsonObject>): Generator => {
    const required = new Set(all.flatMap((part) => (Array.isArray(part["required"]) ? part["required"] : [])))
    const fields = all.flatMap((part) => (isObject(part["properties"]) ? Object.entries(part["properties"]) : []))
    const entries = fields.map(([key, schema]) => {
      const known = isObject(schema) ? schema : {}
      const generator = options.property(key, known) ?? value(known)
      const entry = Arbitrary.map(generator, (it): ReadonlyArray<[string, Json]> => [[key, it]])
      return required.has(key)
        ? entry
        : Arbitrary.flatMap(flag, (there) => (there === true ? entry : Arbitrary.Constant([])))
    })
    return Arbitrary.map(Arbitrary.all(entries), (present) => Object.fromEntries(present.flat()))
  }

  const object = (schema: JsonObject): Generator => {
    const additional = schema["additionalProperties"]
    if (isObject(additional)) return record(value(additional))
    if (additional === true) return record(json)
    return oneOf(parts(schema).map(merged))
  }

  const value = (schema: JsonObject): Generator => {
    if ("const" in schema) return Arbitrary.Constant(schema["const"] ?? null)
    const reference = schema["$ref"]
    if (typeof reference === "string") return value(definition(reference.slice("#/$defs/".length)))
    const type = schema["type"]
    if (Array.isArray(type)) {
      const types = type.filter((it) => options.nulls || it !== "null")
      return oneOf(types.map((it) => typed(it, schema)))
    }
    if (type === "object") return object(schema)
    const alternatives = [...objects(schema["anyOf"]), ...objects(schema["oneOf"])].filter((it) => !("not" in it))
    if (alternatives.length > 0) return oneOf(alternatives.filter((it) => options.nulls || !isNull(it)).map(value))
    const [part] = objects(schema["allOf"])
    if (part !== undefined) return value(part)
    return typeof type === "string" ? typed(type, schema) : json
  }

  return value(definition(name))
}
