/** How messages reach one MCP server and come back. */
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as JsonRpc from "../../../domain/wire/JsonRpc.ts"
import type { RequestId } from "../../../domain/wire/RequestId.ts"

/**
 * The server cannot be used, or not for this call. `message` follows its name; it may quote the server's own words. `code`
 * and `data` are those of an error that it answered with.
 */
export class McpFailed extends Schema.TaggedError<McpFailed>()("McpFailed", {
  message: Schema.String,
  /**
   * `final`: trying again changes nothing. `lost`: the connection is over. `mismatch`: the address does not speak this
   * transport, which changes nothing either.
   */
  reason: Schema.optionalKey(Schema.Literals(["final", "lost", "mismatch"])),
  code: Schema.optionalKey(Schema.Int),
  data: Schema.optionalKey(Schema.Json)
}) {}

/** What the server may turn to us with, beside answers. */
export interface Peer {
  /** The encoded answer. `during` is the request of ours on whose answer it came, where the transport can tell. */
  readonly answer: (request: JsonRpc.Request, during?: RequestId) => Effect.Effect<string>
  readonly hear: (notification: JsonRpc.Notification) => Effect.Effect<void>
  /** A line that is no message, where none was to be expected. */
  readonly garbage: (line: string) => Effect.Effect<void>
}

export interface Outgoing {
  readonly id: RequestId
  readonly method: string
  readonly params: Schema.JsonObject
  /** For HTTP, beside its own. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface McpTransport {
  readonly kind: "stdio" | "http" | "sse"
  /** Sends a request and waits for its answer, without a time limit. Interruption only ends the wait. */
  readonly request: (request: Outgoing) => Effect.Effect<unknown, McpFailed>
  readonly notify: (method: string, params?: Schema.JsonObject) => Effect.Effect<void, McpFailed>
  /** Tells which protocol revision is spoken from now on. */
  readonly agree: (revision: string) => void
  /** Takes what the server says by itself, for as long as it runs; nothing where that needs no asking. */
  readonly listen: Effect.Effect<void>
  /** Fails when the connection is over. */
  readonly lost: Effect.Effect<never, McpFailed>
}

/** The longest message that is accepted, in characters. */
export const MAX_MESSAGE = 16 * 1024 * 1024

export const tooLong = (): McpFailed =>
  new McpFailed({ message: `sent a message of more than ${MAX_MESSAGE} characters` })

/** The result, or what the server gave as the reason. */
export const outcomeOf = ({ outcome }: JsonRpc.Response): Result.Result<unknown, McpFailed> =>
  Result.mapError(
    outcome,
    ({ code, data, message }) =>
      new McpFailed({
        message: `answered with the error ${code}: ${message}`,
        code,
        ...(data === undefined ? {} : { data })
      })
  )
