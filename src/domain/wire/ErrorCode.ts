/** The error codes of JSON-RPC and ACP, and the error that goes over the wire. */
import * as Schema from "effect/Schema"

export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  AuthRequired: -32000,
  ResourceNotFound: -32002,
  UnsupportedProtocolVersion: -32022,
  RequestCancelled: -32800
} as const

/** `message` is one short line; `data` never holds values of `env`, headers or keys (RPC-14). */
export class WireError extends Schema.TaggedError<WireError>()("WireError", {
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optionalKey(Schema.Json)
}) {}
