/** The sessions of this process. They belong to it and not to a connection; connections attach views. */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { SecureRandom } from "effect/crypto/SecureRandom"
import { type SessionNotFound, type StoreFailed } from "../domain/Failure.ts"
import { defaultHarness, findHarness, type Harness } from "../domain/Harness.ts"
import { MessageId, SessionId } from "../domain/Ids.ts"
import type { Entry, SessionRecord } from "../domain/Session.ts"
import { empty, foldAll, repair, type SessionState } from "../domain/SessionState.ts"
import { McpManager } from "./McpManager.ts"
import { Models } from "./Models.ts"
import { SessionStore } from "./SessionStore.ts"
import * as LiveSession from "./session/LiveSession.ts"
import * as Servers from "./session/Servers.ts"
import { Settings } from "./Settings.ts"
import * as LogWriter from "./store/LogWriter.ts"
import { Turn } from "./Turn.ts"

/** How a new session begins. */
export interface Beginning {
  readonly cwd: string
  readonly harness: Harness
  readonly rules: string | undefined
  /** First entries of the log: mode, model, effort. */
  readonly entries: ReadonlyArray<Entry>
}

export interface SessionsShape {
  readonly create: (beginning: Beginning) => Effect.Effect<LiveSession.LiveSession>
  /** The live session, or the stored one brought to life; a log that was torn by a crash is closed first. */
  readonly open: (id: SessionId) => Effect.Effect<LiveSession.LiveSession, SessionNotFound | StoreFailed>
  /** The live session only: one that was never opened here is not found (F51). */
  readonly get: (id: SessionId) => LiveSession.LiveSession | undefined
  /** A new session with the whole log of `id`. */
  readonly fork: (id: SessionId) => Effect.Effect<LiveSession.LiveSession, SessionNotFound | StoreFailed>
  /** Stops and frees a live session; it stays in the store. */
  readonly close: (session: LiveSession.LiveSession) => Effect.Effect<void>
  readonly remove: (id: SessionId) => Effect.Effect<void, StoreFailed>
}

export class Sessions extends Context.Service<Sessions, SessionsShape>()("super-pi/Sessions") {}

interface Live {
  readonly session: LiveSession.LiveSession
  readonly scope: Scope.Closeable
}

export const layer = Layer.effect(
  Sessions,
  Effect.gen(function* () {
    const store = yield* SessionStore
    const settings = yield* Settings
    const models = yield* Models
    const manager = yield* McpManager
    const turn = yield* Turn
    const random = yield* SecureRandom
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const process = yield* Effect.scope
    const opening = yield* Semaphore.make(1)
    const live = new Map<SessionId, Live>()

    const scratchOf = (id: SessionId) => path.join(settings.home, "sessions", id)

    const start = Effect.fnUntraced(function* (
      record: SessionRecord,
      origin: LogWriter.Origin,
      state: SessionState,
      rules: string | undefined
    ) {
      const scope = yield* Scope.fork(process)
      const session = yield* Effect.gen(function* () {
        const log = yield* LogWriter.open(store, record, origin)
        return yield* LiveSession.make({
          id: record.id,
          cwd: record.cwd,
          scratch: scratchOf(record.id),
          harness: findHarness(record.harness) ?? defaultHarness,
          rules,
          state,
          log,
          servers: Servers.make(manager, record.cwd, scope),
          turn,
          models: models.list,
          messageId: Effect.map(random.uuidV7(), (uuid) => MessageId.make(`msg_${uuid}`))
        })
      }).pipe(Scope.provide(scope))
      live.set(record.id, { session, scope })
      return session
    })

    const newRecord = Effect.fnUntraced(function* (
      fields: Pick<SessionRecord, "cwd" | "harness" | "parent" | "title">
    ) {
      const now = DateTime.formatIso(yield* DateTime.now)
      const id = SessionId.make(yield* random.uuidV7())
      return { ...fields, id, createdAt: now, updatedAt: now } satisfies SessionRecord
    })

    const create = Effect.fn("Sessions.create")(function* (beginning: Beginning) {
      const record = yield* newRecord({ cwd: beginning.cwd, harness: beginning.harness.id })
      const state = foldAll(empty, beginning.entries)
      return yield* start(record, { _tag: "New", entries: beginning.entries }, state, beginning.rules)
    })

    const restore = Effect.fnUntraced(function* (id: SessionId) {
      const record = yield* store.record(id)
      let state = empty
      yield* Stream.runForEachArray(store.entries(id), (entries) =>
        Effect.sync(() => {
          state = foldAll(state, entries)
        })
      )
      const nextSeq = yield* store.nextSeq(id)
      const closing = repair(state)
      if (closing.length > 0) yield* store.append(id, nextSeq, closing)
      return yield* start(
        record,
        { _tag: "Stored", nextSeq: nextSeq + closing.length },
        foldAll(state, closing),
        undefined
      )
    })

    const get = (id: SessionId) => live.get(id)?.session

    const open = Effect.fn("Sessions.open")((id: SessionId) =>
      opening.withPermits(1)(
        Effect.suspend(() => {
          const session = get(id)
          return session === undefined ? restore(id) : Effect.succeed(session)
        })
      )
    )

    const fork = Effect.fn("Sessions.fork")(function* (id: SessionId) {
      const source = get(id)
      if (source !== undefined && !source.isStored()) {
        const { settings } = source.state()
        const entries: ReadonlyArray<Entry> = [{ _tag: "Configured", ...settings }]
        return yield* create({ cwd: source.cwd, harness: defaultHarness, rules: undefined, entries })
      }
      if (source !== undefined) yield* source.flush
      const parent = yield* store.record(id)
      const { cwd, harness, title } = parent
      const record = yield* newRecord({ cwd, harness, parent: id, ...(title === undefined ? {} : { title }) })
      yield* store.fork(id, record)
      return yield* open(record.id)
    })

    const close = Effect.fn("Sessions.close")(function* (session: LiveSession.LiveSession) {
      const entry = live.get(session.id)
      if (entry === undefined) return
      yield* session.stop
      live.delete(session.id)
      yield* Scope.close(entry.scope, Exit.void)
    })

    const remove = Effect.fn("Sessions.remove")(function* (id: SessionId) {
      const session = get(id)
      if (session !== undefined) yield* close(session)
      yield* store.remove(id)
      yield* fileSystem.remove(scratchOf(id), { recursive: true, force: true }).pipe(Effect.ignore)
    })

    return Sessions.of({ create, open, get, fork, close, remove })
  })
)
