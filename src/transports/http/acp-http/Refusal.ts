/** Why a request is not served. What was owed a JSON-RPC answer gets it in the body, everything else one line of text. */
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { ErrorCode } from "../../../domain/wire/ErrorCode.ts"
import * as JsonRpc from "../../../domain/wire/JsonRpc.ts"

export interface Refusal {
  readonly _tag: "Refusal"
  readonly status: number
  /** One line, for the person who reads it. */
  readonly message: string
  /** Code of the JSON-RPC answer. */
  readonly code: number
  readonly headers: Readonly<Record<string, string>>
}

export const refusal = (
  status: number,
  message: string,
  code: number = ErrorCode.InvalidRequest,
  headers: Readonly<Record<string, string>> = {}
): Refusal => ({ _tag: "Refusal", status, message, code, headers })

const unknownConnectionText =
  "Unknown Acp-Connection-Id: the connection has ended; POST initialize for a new one and load its sessions"

export const unknownConnection = refusal(404, unknownConnectionText)

export const missingConnection = refusal(
  400,
  "Missing Acp-Connection-Id: POST initialize first and send the header of its answer"
)

/** `message` is what was refused, if it could be read. */
export const respond = (
  { code, headers, message: text, status }: Refusal,
  message?: JsonRpc.Message
): HttpServerResponse.HttpServerResponse =>
  message?._tag === "Request" || message?._tag === "Invalid"
    ? HttpServerResponse.text(JsonRpc.encodeError(message.id, { code, message: text }), {
        status,
        headers,
        contentType: "application/json"
      })
    : HttpServerResponse.text(`${text}\n`, { status, headers })
