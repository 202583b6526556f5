/** How messages reach one MCP server and come back. */
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ErrorCode } from "../../domain/wire/ErrorCode.ts"
import * as JsonRpc from "../../domain/wire/JsonRpc.ts"
import type { RequestId } from "../../domain/wire/RequestId.ts"

/** The server cannot be used, or not for this call. `message` follows its name; it may quote the server's own words. */
export class McpFailed extends Schema.TaggedError<McpFailed>()("McpFailed", { message: Schema.String }) {}

export interface McpTransport {
  /** Sends a request and waits for its answer, without a time limit. Interruption only ends the wait. */
  readonly request: (id: RequestId, method: string, params: Schema.Json) => Effect.Effect<unknown, McpFailed>
  readonly notify: (method: string, params?: Schema.Json) => Effect.Effect<void, McpFailed>
  /** Tells which protocol revision was agreed on. */
  readonly agree: (revision: string) => void
}

/** The longest message that is accepted, in characters. */
export const MAX_MESSAGE = 16 * 1024 * 1024

/** What we answer a server: we offer nothing, so only a ping is granted. */
export const answerTo = ({ id, method }: JsonRpc.Request): string =>
  method === "ping"
    ? JsonRpc.encodeResult(id, {})
    : JsonRpc.encodeError(id, { code: ErrorCode.MethodNotFound, message: `This client does not support ${method}` })

/** The result, or what the server gave as the reason. */
export const outcomeOf = ({ outcome }: JsonRpc.Response): Result.Result<unknown, McpFailed> =>
  Result.mapError(
    outcome,
    ({ code, message }) => new McpFailed({ message: `answered with the error ${code}: ${message}` })
  )
