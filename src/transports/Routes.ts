/** What a peer calls for an incoming method. Built from an `RpcGroup` and its handlers by a version adapter. */
import type * as Effect from "effect/Effect"
import type { WireError } from "../domain/wire/ErrorCode.ts"
import type { RequestId } from "../domain/wire/RequestId.ts"

/** A request that is being answered. */
export interface IncomingRequest {
  readonly id: RequestId
  /**
   * Runs the effect once the answer is in the writer's queue, such as the updates that follow `session/new` (SES-05).
   * Only if the answer is a result; several run in the order given.
   */
  readonly afterReply: (effect: Effect.Effect<void>) => Effect.Effect<void>
}

/**
 * `params` is parsed JSON, `{}` when the message had none (RPC-15); the result is JSON. Interrupted when the other side
 * cancels the request or goes away; the request is then answered -32800 (CAN-07).
 */
export type RequestRoute = (params: unknown, request: IncomingRequest) => Effect.Effect<unknown, WireError>

/** Never answered, whatever happens (RPC-05). Started in order of arrival; nothing waits for it. */
export type NotificationRoute = (params: unknown) => Effect.Effect<void>

/** `undefined`: no such method. Looked up at each message, so the table may change, as it does at `initialize`. */
export interface Routes {
  readonly request: (method: string) => RequestRoute | undefined
  readonly notification: (method: string) => NotificationRoute | undefined
}
