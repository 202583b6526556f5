/**
 * The JSON-RPC 2.0 envelope as ACP uses it. `parse` is total: any text is exactly one `Message`, and every message that
 * is owed an answer says so. The encoders splice the text of the id, so it returns exactly as it came (RPC-02).
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Complexity from "../text/json/Complexity.ts"
import { ErrorCode, ErrorObject, WireError } from "./ErrorCode.ts"
import * as RequestId from "./RequestId.ts"

const cancelMethod = "$/cancel_request"

export interface Request {
  readonly _tag: "Request"
  readonly id: RequestId.RequestId
  readonly method: string
  /** `{}` when the message had none, or `null` (RPC-15). */
  readonly params: unknown
}

export interface Notification {
  readonly _tag: "Notification"
  readonly method: string
  readonly params: unknown
}

/** The other side no longer wants the answer to its request `id` (CAN-07). */
export interface Cancel {
  readonly _tag: "Cancel"
  readonly id: RequestId.RequestId
}

/** An answer to our request `id`. One that cannot be read is a failure of that request alone (RPC-12). */
export interface Response {
  readonly _tag: "Response"
  readonly id: RequestId.RequestId
  readonly outcome: Result.Result<unknown, WireError>
}

/** Not a message; `code` and `message` are the answer it is owed. */
export interface Invalid {
  readonly _tag: "Invalid"
  readonly id: RequestId.RequestId
  readonly code: number
  readonly message: string
}

/** Looks like an answer but answers nothing, or cancels nothing: never answered (RPC-11). */
export interface Ignored {
  readonly _tag: "Ignored"
  readonly reason: string
}

export type Message = Request | Notification | Cancel | Response | Invalid | Ignored

const invalid = (code: number, message: string): Invalid => ({ _tag: "Invalid", id: RequestId.nullId, code, message })

const malformed = (message: string): Invalid => invalid(ErrorCode.InvalidRequest, `Invalid request: ${message}`)

const decodeError = Schema.decodeUnknownResult(ErrorObject)

type Fields = { readonly [key: PropertyKey]: unknown }

/**
 * Reads the text again to find how the number `key` of one object was written, for an integer beyond 2^53 (RPC-02).
 * Almost no message needs it. The walk recurses: a message nested too deep for it has no readable id.
 */
const digitsOf = (text: string, key: string, holder: (root: unknown) => unknown): RequestId.RequestId | undefined => {
  const sources = new Map<unknown, string>()
  const root = Result.try((): unknown =>
    JSON.parse(text, function (this: unknown, name, value: unknown, context?: { readonly source?: string }) {
      if (name === key && typeof value === "number" && context?.source !== undefined) sources.set(this, context.source)
      return value
    })
  )
  const source = Result.isSuccess(root) ? sources.get(holder(root.success)) : undefined
  return source === undefined ? undefined : RequestId.fromDigits(source)
}

const parseId = (json: string): RequestId.RequestId | undefined =>
  RequestId.fromJson(Result.getOrUndefined(Result.try((): unknown => JSON.parse(json))))

const idOf = (text: string, value: unknown): RequestId.RequestId | undefined =>
  RequestId.fromJson(value) ?? (typeof value === "number" ? digitsOf(text, "id", (root) => root) : undefined)

const paramsOf = (root: unknown): unknown => (Predicate.hasProperty(root, "params") ? root.params : undefined)

const cancel = (text: string, params: unknown): Cancel | Ignored => {
  const value = Predicate.hasProperty(params, "requestId") ? params.requestId : undefined
  const id =
    RequestId.fromJson(value) ?? (typeof value === "number" ? digitsOf(text, "requestId", paramsOf) : undefined)
  return id === undefined
    ? { _tag: "Ignored", reason: `${cancelMethod} without a usable requestId` }
    : { _tag: "Cancel", id }
}

const call = (text: string, fields: Fields, method: string): Message => {
  const params = fields["params"] ?? {}
  if (!Object.hasOwn(fields, "id")) {
    return method === cancelMethod ? cancel(text, params) : { _tag: "Notification", method, params }
  }
  const id = idOf(text, fields["id"])
  return id === undefined
    ? malformed(`"id" must be a string, an integer in plain digits or null`)
    : { _tag: "Request", id, method, params }
}

const unreadable = (message: string): Result.Result<never, WireError> =>
  Result.fail(new WireError({ code: ErrorCode.InternalError, message: `The answer cannot be read: ${message}` }))

const outcome = (fields: Fields): Result.Result<unknown, WireError> => {
  const error = fields["error"] ?? undefined
  const hasResult = Object.hasOwn(fields, "result")
  if (error === undefined) {
    return hasResult ? Result.succeed(fields["result"]) : unreadable(`it has neither "result" nor "error"`)
  }
  if (hasResult) return unreadable(`it has both "result" and "error"`)
  const decoded = decodeError(error)
  return Result.isSuccess(decoded)
    ? Result.fail(new WireError(decoded.success))
    : unreadable(`"error" needs an integer "code" and a text "message"`)
}

const response = (text: string, fields: Fields): Response | Ignored => {
  const id = fields["jsonrpc"] === "2.0" && Object.hasOwn(fields, "id") ? idOf(text, fields["id"]) : undefined
  return id === undefined
    ? { _tag: "Ignored", reason: "an answer without a usable id" }
    : { _tag: "Response", id, outcome: outcome(fields) }
}

/** Reads one frame. Never throws. Texts of `Invalid` never hold values of the message, which may be secret. */
export const parse = (text: string): Message => {
  const parsed = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(parsed)) return invalid(ErrorCode.ParseError, "Parse error: the message is not valid JSON")
  const fields = parsed.success
  if (Array.isArray(fields)) return malformed("batches are not supported, send each message by itself")
  if (!Predicate.isObject(fields)) return malformed("a message is a JSON object")
  if (!Object.hasOwn(fields, "method") && ["id", "result", "error"].some((key) => Object.hasOwn(fields, key))) {
    return response(text, fields)
  }
  if (fields["jsonrpc"] !== "2.0") return malformed(`"jsonrpc" must be "2.0"`)
  const method = fields["method"]
  return typeof method === "string" ? call(text, fields, method) : malformed(`"method" must be a string`)
}

/** The id of a request that is not read, where it stands as nearly every client writes it. */
const idAtHead = (text: string): RequestId.RequestId => {
  const [, id] = /^\{"jsonrpc":"2\.0","id":("[^"\\]{0,256}"|-?\d{1,15}),"method":/.exec(text) ?? []
  return (id === undefined ? undefined : parseId(id)) ?? RequestId.nullId
}

/** The same for what a client sends, which may be made to take long. */
export const parseBounded = (text: string): Message => {
  const problem = Complexity.problemOf(text)
  return problem === undefined ? parse(text) : { ...malformed(problem), id: idAtHead(text) }
}

const json = (value: unknown): string => JSON.stringify(value) ?? "null"

export const encodeResult = (id: RequestId.RequestId, result: unknown): string =>
  `{"jsonrpc":"2.0","id":${id},"result":${json(result)}}`

/** A `WireError` is an error object, and so is `Invalid`. */
export const encodeError = (id: RequestId.RequestId, { code, message, data }: ErrorObject): string =>
  `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message, data })}}`

const callPart = (method: string, params: unknown): string =>
  params === undefined
    ? `"method":${JSON.stringify(method)}}`
    : `"method":${JSON.stringify(method)},"params":${json(params)}}`

export const encodeRequest = (id: RequestId.RequestId, method: string, params: unknown): string =>
  `{"jsonrpc":"2.0","id":${id},${callPart(method, params)}`

export const encodeNotification = (method: string, params: unknown): string =>
  `{"jsonrpc":"2.0",${callPart(method, params)}`

/** The notification that withdraws our own request `id` (CAN-08). */
export const encodeCancel = (id: RequestId.RequestId): string =>
  `{"jsonrpc":"2.0","method":"${cancelMethod}","params":{"requestId":${id}}}`
