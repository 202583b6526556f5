/**
 * What the revision 2026-07-28 has instead of a handshake: every request says who asks and what the client can do, and HTTP
 * headers repeat what those on the way may want to know.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"

export const MODERN = "2026-07-28"

const keys = {
  revision: "io.modelcontextprotocol/protocolVersion",
  client: "io.modelcontextprotocol/clientInfo",
  capabilities: "io.modelcontextprotocol/clientCapabilities"
} as const
export const SERVER_INFO = "io.modelcontextprotocol/serverInfo"

export const metaOf = (client: Schema.JsonObject, capabilities: Schema.JsonObject): Schema.JsonObject => ({
  [keys.revision]: MODERN,
  [keys.client]: client,
  [keys.capabilities]: capabilities
})

/** As a header may hold it: visible ASCII as it is, all else in base64. */
export const headerValue = (value: string): string =>
  /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value)
    ? value
    : `=?base64?${Base64.encode(value)}?=`

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/
const MAX_DEPTH = 8

/** Arguments that the schema wants in a header too, by the name of the header. */
const parametersOf = (schema: unknown, input: unknown, depth = 0): ReadonlyArray<readonly [string, string]> => {
  if (depth > MAX_DEPTH || !Predicate.hasProperty(schema, "properties") || !Predicate.isObject(schema.properties))
    return []
  return Object.entries(schema.properties).flatMap(([name, property]: [string, unknown]) => {
    const value = Predicate.isObject(input) && Object.hasOwn(input, name) ? Object(input)[name] : undefined
    const header = Predicate.hasProperty(property, "x-mcp-header") ? property["x-mcp-header"] : undefined
    const isScalar = typeof value === "string" || typeof value === "boolean" || Number.isSafeInteger(value)
    const own: ReadonlyArray<readonly [string, string]> =
      typeof header === "string" && HEADER_NAME.test(header) && isScalar
        ? [[`mcp-param-${header.toLowerCase()}`, headerValue(String(value))]]
        : []
    return [...own, ...parametersOf(property, value, depth + 1)]
  })
}

/** What HTTP says of a request beside its body. */
export const headersOf = (
  method: string,
  params: Schema.JsonObject,
  schema?: unknown
): Readonly<Record<string, string>> => ({
  "mcp-method": method,
  ...((method === "tools/call" || method === "prompts/get") && typeof params["name"] === "string"
    ? {
        "mcp-name": headerValue(params["name"]),
        ...Object.fromEntries(parametersOf(schema, params["arguments"]))
      }
    : {})
})
