/** What a peer calls for an incoming method. Built from an `RpcGroup` and its handlers by a version adapter. */
import type * as Effect from "effect/Effect"
import type { WireError } from "../domain/wire/ErrorCode.ts"
import type { RequestId } from "../domain/wire/RequestId.ts"

export interface IncomingRequest {
  readonly id: RequestId
  /** Runs the effect once the answer is in the writer's queue, such as the updates that follow `session/new` (SES-05). */
  readonly afterReply: (effect: Effect.Effect<void>) => Effect.Effect<void>
}

/** `params` is parsed JSON, `{}` when the message had none (RPC-15); the result is JSON. */
export type RequestRoute = (params: unknown, request: IncomingRequest) => Effect.Effect<unknown, WireError>

/** Never answered, whatever happens (RPC-05). */
export type NotificationRoute = (params: unknown) => Effect.Effect<void>

export interface Routes {
  readonly request: (method: string) => RequestRoute | undefined
  readonly notification: (method: string) => NotificationRoute | undefined
}
