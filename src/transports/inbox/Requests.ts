/** What the endpoints have in common: which conversation a request means, and what is said of one. */
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import type { Failure } from "../../domain/Failure.ts"
import type { SessionId } from "../../domain/Ids.ts"
import type { SessionRecord } from "../../domain/session/Session.ts"
import type { SessionFilter } from "../../services/SessionStore.ts"
import type * as Api from "./Api.ts"
import type { Conversations } from "./Conversations.ts"
import * as Failures from "./Failures.ts"

export type Refused = ReturnType<typeof Failures.ofAgent>

export const explained = <A, R>(effect: Effect.Effect<A, Failure, R>): Effect.Effect<A, Refused, R> =>
  Effect.mapError(effect, Failures.ofAgent)

export interface Requests {
  /** A new conversation in a folder that is there; default: the folder that the inbox was started for. */
  readonly create: (cwd: string | undefined) => Effect.Effect<SessionId, Refused>
  /** The conversation with this id, if it works in that folder. */
  readonly existing: (id: SessionId, cwd: string | undefined) => Effect.Effect<SessionId, Refused>
  readonly list: (
    filter: SessionFilter
  ) => Effect.Effect<{ readonly sessions: ReadonlyArray<Api.Conversation>; readonly nextCursor?: string }, Refused>
}

export const make = Effect.fnUntraced(function* (
  conversations: Conversations,
  usualFolder: string
): Effect.fn.Return<Requests, never, Path.Path> {
  const path = yield* Path.Path

  const described = ({ createdAt, cwd, id, title, updatedAt }: SessionRecord): Api.Conversation => ({
    sessionId: id,
    cwd,
    ...(title === undefined ? {} : { title }),
    createdAt,
    updatedAt,
    working: conversations.joined().some(({ isWorking, sessionId }) => sessionId === id && isWorking())
  })

  return {
    create: Effect.fnUntraced(function* (cwd = usualFolder) {
      if (path.isAbsolute(cwd)) return yield* explained(conversations.create(cwd))
      const error = `cwd: "${cwd}" is not an absolute path; write the whole path of a folder on the agent's machine`
      return yield* new Failures.BadRequest({ error })
    }),
    existing: Effect.fnUntraced(function* (id, cwd) {
      const conversation = yield* explained(Effect.scoped(conversations.join(id)))
      if (cwd === undefined || cwd === conversation.cwd) return id
      const error = `cwd: this conversation works in ${conversation.cwd}; leave cwd out, or leave sessionId out to begin a new one`
      return yield* new Failures.BadRequest({ error })
    }),
    list: Effect.fnUntraced(function* (filter) {
      const { nextCursor, sessions } = yield* explained(conversations.list(filter))
      return { sessions: sessions.map(described), ...(nextCursor === undefined ? {} : { nextCursor }) }
    })
  }
})
