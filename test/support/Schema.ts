/**
 * The official JSON Schema as oracle. Beside what it demands, an object may hold no key that its definition does not
 * name (EXT-01): the schema leaves that open, since it also describes what a reader has to tolerate.
 */
import officialSchema from "@agentclientprotocol/sdk/schema/v1/schema.json" with { type: "json" }
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import type * as EffectSchema from "effect/Schema"

type Json = EffectSchema.Json
type JsonObject = EffectSchema.JsonObject

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What is at a path of keys, if anything is. */
export const at = (value: unknown, ...path: ReadonlyArray<string>): Json | undefined =>
  path.reduce<Json | undefined>((inner, key) => (isObject(inner) ? inner[key] : undefined), value as Json | undefined)

const root: JsonObject = officialSchema
const definitions: JsonObject = isObject(root["$defs"]) ? root["$defs"] : {}

/** A definition of the official schema. */
export const definition = (name: string): JsonObject => {
  const found = definitions[name]
  if (!isObject(found)) throw new Error(`The official schema has no definition ${name}`)
  return found
}

const resolve = (schema: JsonObject): Json | undefined => {
  const reference = schema["$ref"]
  if (typeof reference === "string") return definitions[reference.slice("#/$defs/".length)]
  const all = schema["allOf"]
  return Array.isArray(all) && all.length === 1 && schema["properties"] === undefined ? all[0] : undefined
}

/** Free-form JSON and bare objects: nothing says which keys they have. */
const isFree = (schema: Json): boolean => {
  if (!isObject(schema)) return true
  const target = resolve(schema)
  if (target !== undefined) return isFree(target)
  if (Array.isArray(schema["anyOf"])) return schema["anyOf"].some(isFree)
  return (
    !["properties", "oneOf", "allOf", "const"].some((key) => key in schema) && (schema["type"] ?? "object") === "object"
  )
}

const mapValues = (object: JsonObject, f: (value: Json) => Json): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, f(value)]))

/**
 * Seals what an object holds, but not the object itself: the parts of a composed object see only their own keys.
 * Discriminators make for short reports, but the validator forgets the keys beside one.
 */
const sealInside = (schema: Json): Json => {
  if (!isObject(schema)) return schema
  const { discriminator: _discriminator, ...rest } = schema
  return Object.fromEntries(
    Object.entries("properties" in schema ? rest : schema).map(([key, value]): [string, Json] => {
      if (key === "properties" && isObject(value)) return [key, mapValues(value, seal)]
      if (key === "items" || key === "additionalProperties") return [key, seal(value)]
      if (["anyOf", "oneOf", "allOf"].includes(key) && Array.isArray(value)) return [key, value.map(sealInside)]
      return [key, value]
    })
  )
}

const seal = (schema: Json): Json =>
  isFree(schema) || (isObject(schema) && "const" in schema)
    ? schema
    : { allOf: [sealInside(schema)], unevaluatedProperties: false }

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, discriminator: true })
ajv.addSchema({ $id: "acp", $defs: mapValues(definitions, sealInside) })

const validators = new Map<string, ValidateFunction>()

/** What is wrong with `value` as the definition of that name, one line each; empty when it is fine. */
export const problemsOf = (definition: string, value: unknown): ReadonlyArray<string> => {
  let validate = validators.get(definition)
  if (validate === undefined) {
    validate = ajv.compile({ $ref: `acp#/$defs/${definition}`, unevaluatedProperties: false })
    validators.set(definition, validate)
  }
  if (validate(value)) return []
  return (validate.errors ?? [])
    .slice(0, 8)
    .map(({ instancePath, message, params }) => `${definition}${instancePath}: ${message} ${JSON.stringify(params)}`)
}

/** Who handles the method. */
export type Side = "agent" | "client"

interface MethodDefinitions {
  readonly params?: string
  readonly result?: string
}

const methods = new Map<string, MethodDefinitions>()
for (const [name, definition] of Object.entries(definitions)) {
  if (!isObject(definition)) continue
  const { "x-method": method, "x-side": side } = definition
  if (typeof method === "string" && typeof side === "string") {
    const key = `${side} ${method}`
    methods.set(key, { ...methods.get(key), [name.endsWith("Response") ? "result" : "params"]: name })
  }
}

/** The names of the definitions of a method; undefined when the protocol has no such method on that side. */
export const definitionsOf = (side: Side, method: string): MethodDefinitions | undefined =>
  methods.get(`${side} ${method}`) ?? methods.get(`protocol ${method}`)

/** Every method that a side handles. */
export const methodsOf = (side: Side): ReadonlyArray<string> =>
  [...methods.keys()].filter((key) => key.startsWith(`${side} `)).map((key) => key.slice(side.length + 1))

const errorProblems = (error: Json): ReadonlyArray<string> => {
  const problems = problemsOf("Error", error)
  const message = isObject(error) ? error["message"] : undefined
  return typeof message === "string" && (message.trim() === "" || message.includes("\n"))
    ? [...problems, `the error message is not one line of text: ${JSON.stringify(message)}`]
    : problems
}

const contentProblems = (side: Side, method: string, part: "params" | "result", value: Json): ReadonlyArray<string> => {
  const found = definitionsOf(side, method)
  // Some clients leave out the underscore of an extension, and some call what an earlier revision had.
  if (found === undefined)
    return /^(?:_|supercharge\/|session\/set_model$)/.test(method)
      ? []
      : [`the protocol has no method ${method} of the ${side}`]
  const definition = found[part]
  return definition === undefined ? [`${method} has no ${part}`] : problemsOf(definition, value)
}

/** Watches one connection. Feed it every line of both directions in the order in which they were written. */
export interface Oracle {
  /** A line from client to agent. Its problems matter only to tests that mean to send good lines. */
  readonly sent: (line: string) => ReadonlyArray<string>
  /** A line from agent to client, and what is wrong with it. */
  readonly received: (line: string) => ReadonlyArray<string>
}

export const makeOracle = (): Oracle => {
  const open = { agent: new Map<string, string>(), client: new Map<string, string>() }

  /** `side` handles the requests that come from the writer of the line; the writer itself answers the other's. */
  const check = (line: string, side: Side, writer: Side): ReadonlyArray<string> => {
    let message: Json
    try {
      message = JSON.parse(line)
    } catch {
      return [`not JSON: ${line.slice(0, 80)}`]
    }
    if (!isObject(message)) return [`not a message: ${line.slice(0, 80)}`]
    const { jsonrpc, id, method, params, result, error, ...rest } = message
    const problems = Object.keys(rest).map((key) => `unknown key ${key} in a message`)
    if (jsonrpc !== "2.0") problems.push(`jsonrpc is ${JSON.stringify(jsonrpc)}`)
    const key = JSON.stringify(id)

    if (method !== undefined) {
      if (result !== undefined || error !== undefined) problems.push("a message with a method and a result or error")
      if (typeof method !== "string") return [...problems, "the method is not a string"]
      if (id !== undefined) {
        if (open[side].has(key)) problems.push(`request id ${key} is still open`)
        open[side].set(key, method)
      }
      return [...problems, ...contentProblems(side, method, "params", params ?? {})]
    }

    if ((result === undefined) === (error === undefined)) problems.push("an answer needs a result or an error")
    const asked = open[writer].get(key)
    open[writer].delete(key)
    if (error !== undefined) {
      problems.push(...errorProblems(error))
      return asked === undefined && id !== null ? [...problems, `an error for id ${key}, which is not open`] : problems
    }
    if (asked === undefined) return [...problems, `a result for id ${key}, which is not open`]
    return result === undefined ? problems : [...problems, ...contentProblems(writer, asked, "result", result)]
  }

  return {
    sent: (line) => check(line, "agent", "client"),
    received: (line) => check(line, "client", "agent")
  }
}
