/** Takes what a server sends beside answers: its requests are answered side by side, and none holds up what comes after. */
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Complexity from "../../../domain/text/json/Complexity.ts"
import { ErrorCode } from "../../../domain/wire/ErrorCode.ts"
import * as JsonRpc from "../../../domain/wire/JsonRpc.ts"
import * as RequestId from "../../../domain/wire/RequestId.ts"
import { McpFailed, type Peer } from "./McpTransport.ts"

/** Requests of one server that wait for an answer; a person answers one at a time. */
const MAX_OPEN = 16

/** Of one message: more would take more memory than it is worth, or be too deep to walk through. */
const complexity: Complexity.Limits = { free: 256, values: 2_000_000, depth: 500 }

export interface InboxOptions {
  readonly peer: Peer
  readonly write: (message: string) => Effect.Effect<void, McpFailed>
}

export interface Inbox {
  /** Takes one text; gives the answers in it, which are the transport's. Fails where it is not read at all. */
  readonly receive: (
    text: string,
    during?: RequestId.RequestId
  ) => Effect.Effect<ReadonlyArray<JsonRpc.Response>, McpFailed>
}

/** Several at once were allowed by the revision 2025-03-26 only. */
const parse = (text: string): ReadonlyArray<JsonRpc.Message> => {
  if (!text.startsWith("[")) return [JsonRpc.parse(text)]
  const batch = Result.try((): unknown => JSON.parse(text))
  return Result.isSuccess(batch) && Array.isArray(batch.success)
    ? batch.success.map((one) => JsonRpc.parse(JSON.stringify(one)))
    : [JsonRpc.parse(text)]
}

export const make = Effect.fnUntraced(function* ({
  peer,
  write
}: InboxOptions): Effect.fn.Return<Inbox, never, Scope.Scope> {
  const open = yield* FiberMap.make<RequestId.RequestId>()

  const answer = Effect.fnUntraced(function* (request: JsonRpc.Request, during: RequestId.RequestId | undefined) {
    if ((yield* FiberMap.size(open)) >= MAX_OPEN) {
      const refusal = { code: ErrorCode.InternalError, message: "Too many requests are open; answer one at a time" }
      return yield* Effect.ignore(write(JsonRpc.encodeError(request.id, refusal)))
    }
    yield* FiberMap.run(open, request.id, Effect.ignore(Effect.flatMap(peer.answer(request, during), write)), {
      startImmediately: true
    })
  })

  const hear = Effect.fnUntraced(function* (notification: JsonRpc.Notification) {
    if (notification.method !== "notifications/cancelled") return yield* peer.hear(notification)
    const { params } = notification
    const id = Predicate.hasProperty(params, "requestId") ? RequestId.fromJson(params.requestId) : undefined
    if (id !== undefined) yield* FiberMap.remove(open, id)
  })

  const receive = Effect.fnUntraced(function* (text: string, during?: RequestId.RequestId) {
    const problem = Complexity.problemOf(text, complexity)
    if (problem !== undefined) return yield* new McpFailed({ message: `sent a message that is not read: ${problem}` })
    const answers: Array<JsonRpc.Response> = []
    for (const message of parse(text)) {
      switch (message._tag) {
        case "Response":
          answers.push(message)
          break
        case "Request":
          yield* answer(message, during)
          break
        case "Notification":
          yield* hear(message)
          break
        case "Invalid":
          yield* peer.garbage(text)
          break
        case "Cancel":
        case "Ignored":
          break
      }
    }
    return answers
  })

  return { receive }
})
