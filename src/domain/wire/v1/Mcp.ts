/** MCP servers that a client wants in a session. Values that may be secrets are redacted as they are decoded (MCP-08). */
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as Lenient from "../Lenient.ts"

/** An environment variable or an HTTP header. */
export const SecretPair = Schema.Struct({
  name: Schema.String,
  value: Schema.RedactedFromValue(Schema.String),
  _meta: Lenient.meta
})

const remote = {
  name: Schema.String,
  url: Schema.String,
  headers: Lenient.emptyArray(SecretPair),
  _meta: Lenient.meta
}

export const HttpServer = Schema.Struct({ ...remote, type: Schema.Literal("http") })

export const SseServer = Schema.Struct({ ...remote, type: Schema.Literal("sse") })

/** Servers of this kind have no `type` here. Version 2 gives them one, which clients of both may write here too. */
const noType = Schema.optionalKey(Schema.Literal("stdio").annotate({ identifier: '"http", "stdio" or no type' })).pipe(
  Schema.decodeTo(Schema.optionalKey(Schema.Never), { decode: SchemaGetter.omit(), encode: SchemaGetter.omit() })
)

export const StdioServer = Schema.Struct({
  type: noType,
  name: Schema.String,
  command: Schema.String,
  args: Lenient.emptyArray(Schema.String),
  env: Lenient.emptyArray(SecretPair),
  _meta: Lenient.meta
})

export const McpServer = Schema.Union([HttpServer, SseServer, StdioServer])
export type McpServer = typeof McpServer.Type
