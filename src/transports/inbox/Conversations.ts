/** The conversations of the inbox. Each is joined when it is needed and left a while after. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { SecureRandom } from "effect/crypto/SecureRandom"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"
import { Busy, type Failure, type InvalidInput, SessionNotFound, type StoreFailed } from "../../domain/Failure.ts"
import type { SessionId } from "../../domain/Ids.ts"
import { Agent } from "../../services/Agent.ts"
import type { SessionFilter, SessionPage } from "../../services/SessionStore.ts"
import { Settings } from "../../services/Settings.ts"
import * as Conversation from "./Conversation.ts"
import * as Editors from "./Editors.ts"
import * as Feed from "./Feed.ts"
import * as Turn from "./Turn.ts"

/** Conversations that are joined at a time. */
const MAX_JOINED = 256

/** New ones that wait for their first prompt; the store does not know them before. */
const MAX_FRESH = 64

/** How long one stays joined that nobody reads and in which nothing runs. */
const IDLE = "1 minute"

/** What became of a post. */
export interface Posted {
  readonly turn: Turn.Turn
  /** It waits for another turn. */
  readonly queued: boolean
}

export interface Conversations {
  readonly feed: Feed.Feed
  /** Joins it, for as long as the scope. */
  readonly join: (id: SessionId) => Effect.Effect<Conversation.Conversation, Failure, Scope.Scope>
  readonly create: (cwd: string) => Effect.Effect<SessionId, Failure>
  /** Sends a prompt, which goes on whatever becomes of the one who posted it. */
  readonly post: (id: SessionId, text: string) => Effect.Effect<Posted, Failure>
  /** Cancels the running turn of one conversation, or of each that is joined. Returns where one ran. */
  readonly stop: (id: SessionId | undefined) => Effect.Effect<ReadonlyArray<SessionId>, Failure>
  readonly list: (filter: SessionFilter) => Effect.Effect<SessionPage, InvalidInput | StoreFailed>
  readonly joined: () => ReadonlyArray<Conversation.Conversation>
  /** The conversation that a client means who names none. */
  readonly active: () => SessionId | undefined
  readonly activate: (id: SessionId) => void
}

interface Fresh {
  readonly cwd: string
  readonly scope: Scope.Closeable
}

/** All of it ends with the scope, except the turns that run: those are the agent's. */
export const make = Effect.gen(function* (): Effect.fn.Return<
  Conversations,
  never,
  Agent | SecureRandom | Settings | Scope.Scope
> {
  const agent = yield* Agent
  const settings = yield* Settings
  const process = yield* Effect.scope
  const feed = yield* Feed.make
  let isGone = false
  const editors = Editors.make(() => isGone)
  const connect = Effect.flatMap(settings.current, ({ remoteCeiling }) =>
    agent.connect(editors.deaf, { ceiling: remoteCeiling, lingers: true })
  )
  const base = yield* connect
  const joined = new Map<SessionId, Conversation.Conversation>()
  const fresh = new Map<SessionId, Fresh>()
  let active: SessionId | undefined

  const folderOf = Effect.fnUntraced(function* (sessionId: SessionId) {
    const made = fresh.get(sessionId)
    if (made !== undefined) return made.cwd
    let cursor: string | undefined
    do {
      const page: SessionPage = yield* base.listSessions(cursor === undefined ? {} : { cursor })
      const found = page.sessions.find(({ id }) => id === sessionId)
      if (found !== undefined) return found.cwd
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return yield* new SessionNotFound({ sessionId })
  })

  const open = Effect.fnUntraced(function* (sessionId: SessionId) {
    const cwd = yield* folderOf(sessionId)
    const { remoteCeiling: ceiling } = yield* settings.current
    const conversation = yield* Conversation.make({ agent, editors, feed, sessionId, cwd, ceiling })
    yield* Effect.acquireRelease(
      Effect.sync(() => joined.set(sessionId, conversation)),
      () =>
        Effect.sync(() => {
          if (joined.get(sessionId) === conversation) joined.delete(sessionId)
        })
    )
    return conversation
  })

  const map = yield* RcMap.make({ lookup: open, idleTimeToLive: IDLE, capacity: MAX_JOINED })

  const join = Effect.fn("Conversations.join")(function* (id: SessionId) {
    if (joined.get(id)?.isOver() === true) yield* RcMap.invalidate(map, id)
    return yield* RcMap.get(map, id).pipe(
      Effect.mapError((error) =>
        Cause.isExceededCapacityError(error)
          ? new Busy({ message: `${MAX_JOINED} conversations are open; wait until one is idle, or stop one` })
          : error
      )
    )
  })

  /** From its first prompt on a conversation needs no one to hold it. */
  const letGo = (id: SessionId) =>
    Effect.suspend(() => {
      const held = fresh.get(id)
      fresh.delete(id)
      return held === undefined ? Effect.void : Scope.close(held.scope, Exit.void)
    })

  const create = Effect.fn("Conversations.create")(function* (cwd: string) {
    const connection = yield* connect
    const { sessionId } = yield* connection.newSession({ cwd, additionalDirectories: [], mcpServers: [] }, {})
    const scope = yield* Scope.fork(process)
    fresh.set(sessionId, { cwd, scope })
    yield* Scope.provide(join(sessionId), scope).pipe(Effect.onError(() => letGo(sessionId)))
    const [oldest] = fresh.keys()
    if (fresh.size > MAX_FRESH && oldest !== undefined) yield* letGo(oldest)
    return sessionId
  }, Effect.scoped)

  const post = Effect.fn("Conversations.post")(function* (id: SessionId, text: string) {
    const conversation = yield* join(id)
    const queued = conversation.isBusy()
    const turn = yield* Turn.make
    // Held anew by what runs, since the request that posted it may go away.
    const running = Effect.andThen(join(id), conversation.run(turn, text))
    yield* Effect.forkIn(Effect.scoped(Effect.ignore(running)), process, { startImmediately: true })
    if (Deferred.isDoneUnsafe(turn.ended)) yield* Deferred.await(turn.outcome)
    yield* letGo(id)
    return { turn, queued }
  }, Effect.scoped)

  const stop = Effect.fn("Conversations.stop")(function* (id: SessionId | undefined) {
    const meant = id === undefined ? [...joined.values()] : [yield* join(id)]
    const working = meant.filter((conversation) => conversation.isWorking())
    yield* Effect.forEach(working, (conversation) => conversation.stop, { discard: true })
    return working.map(({ sessionId }) => sessionId)
  }, Effect.scoped)

  // The first thing at the end: what runs then is left to the agent, which gives it time.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isGone = true
    })
  )

  return {
    feed,
    join,
    create,
    post,
    stop,
    list: base.listSessions,
    joined: () => [...joined.values()],
    active: () => active,
    activate: (id) => {
      active = id
    }
  }
})
