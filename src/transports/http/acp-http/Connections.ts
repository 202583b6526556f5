/** The connections of one endpoint. Each is served until it has ended, and then forgotten. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { ErrorCode } from "../../../domain/wire/ErrorCode.ts"
import type { FramesShape } from "../../Frames.ts"
import * as HttpConnection from "./HttpConnection.ts"
import type { HttpLimits } from "./HttpLimits.ts"
import { type Refusal, refusal } from "./Refusal.ts"

export interface Connections {
  /** A new one, which is served at once. Refused with 503 when there are too many. */
  readonly open: Effect.Effect<HttpConnection.HttpConnection | Refusal>
  /** One that has not ended. */
  readonly get: (id: string) => HttpConnection.HttpConnection | undefined
  /** Whether a session is another connection's and not this one's. */
  readonly isForeign: (sessionId: string, to: HttpConnection.HttpConnection) => boolean
}

/** The scope ends all of them. */
export const make = Effect.fnUntraced(function* <R>(
  serve: (frames: FramesShape) => Effect.Effect<void, never, R>,
  limits: HttpLimits
): Effect.fn.Return<Connections, never, R | Scope.Scope> {
  const scope = yield* Effect.scope
  const context = yield* Effect.context<R>()
  const all = new Map<string, HttpConnection.HttpConnection>()
  const tooMany = refusal(
    503,
    `${limits.connections} clients are connected, and more are not served: try again when one has left`,
    ErrorCode.InternalError,
    { "retry-after": "30" }
  )

  const live = (connection: HttpConnection.HttpConnection): Effect.Effect<void> =>
    Effect.andThen(Effect.forkChild(connection.expire), serve(connection.frames)).pipe(
      Effect.provideContext(context),
      Effect.ensuring(connection.farewell),
      Effect.ensuring(Effect.sync(() => all.delete(connection.id)))
    )

  const open = Effect.gen(function* () {
    if (all.size >= limits.connections) return tooMany
    const connection = yield* HttpConnection.make(randomBytes(24).toString("base64url"), limits)
    all.set(connection.id, connection)
    yield* Effect.forkIn(live(connection), scope, { startImmediately: true })
    return connection
  })

  return {
    open: Effect.uninterruptible(open),
    get(id) {
      const connection = all.get(id)
      return connection === undefined || connection.isOver() ? undefined : connection
    },
    isForeign: (sessionId, to) =>
      !to.holds(sessionId) && [...all.values()].some((other) => other !== to && other.holds(sessionId))
  }
})
