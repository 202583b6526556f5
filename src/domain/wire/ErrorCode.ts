/** The error codes of JSON-RPC and ACP, and the error that goes over the wire. */
import * as Schema from "effect/Schema"
import { clip } from "../text/Clip.ts"

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
export const ErrorObject = Schema.Struct({
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optionalKey(Schema.Json)
})
export type ErrorObject = typeof ErrorObject.Type

/** An error object as a failure. */
export class WireError extends Schema.TaggedError<WireError>()("WireError", ErrorObject) {}

/** Names of methods come from outside; no text of ours repeats more of them, and none is broken by them (RPC-14). */
export const shortName = (method: string): string => {
  const line = clip(method, 100)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")
    .toWellFormed()
  return method.length > 100 ? `${line}…` : line
}

export const methodNotFound = (method: string): WireError =>
  new WireError({ code: ErrorCode.MethodNotFound, message: `Method not found: ${shortName(method)}` })
