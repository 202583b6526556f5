/** Requests that wait for their answers on one stream of messages, and the end of that stream. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as JsonRpc from "../../../domain/wire/JsonRpc.ts"
import type { RequestId } from "../../../domain/wire/RequestId.ts"
import { McpFailed, outcomeOf } from "./McpTransport.ts"

export interface Pending {
  /** Waits for the answer to what `send` sends; fails when the stream has ended. */
  readonly request: (id: RequestId, send: Effect.Effect<void, McpFailed>) => Effect.Effect<unknown, McpFailed>
  readonly settle: (answers: ReadonlyArray<JsonRpc.Response>) => Effect.Effect<void>
  /** Ends all of them; the first reason counts. */
  readonly end: (message: string) => Effect.Effect<void>
  readonly lost: Effect.Effect<never, McpFailed>
}

export const make: Effect.Effect<Pending> = Effect.gen(function* () {
  const waiting = new Map<RequestId, Deferred.Deferred<unknown, McpFailed>>()
  const ended = yield* Deferred.make<never, McpFailed>()
  const lost = Deferred.await(ended)
  return {
    request: Effect.fnUntraced(function* (id, send) {
      const answer = yield* Deferred.make<unknown, McpFailed>()
      waiting.set(id, answer)
      // The answer may come before what was sent is known to have arrived.
      return yield* Effect.raceAllFirst([Deferred.await(answer), Effect.andThen(send, Effect.never), lost]).pipe(
        Effect.ensuring(Effect.sync(() => waiting.delete(id)))
      )
    }),
    settle: Effect.fnUntraced(function* (answers) {
      for (const response of answers) {
        const answer = waiting.get(response.id)
        if (answer !== undefined) yield* Deferred.completeWith(answer, Effect.fromResult(outcomeOf(response)))
      }
    }),
    end: (message) => Effect.asVoid(Deferred.fail(ended, new McpFailed({ message, reason: "lost" }))),
    lost
  }
})
