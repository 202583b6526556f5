/** The sessions of this process. They belong to it and not to a connection; whoever uses one holds it by a scope. */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { SecureRandom } from "effect/crypto/SecureRandom"
import type { SessionNotFound, StoreFailed } from "../domain/Failure.ts"
import type { Harness } from "../domain/Harness.ts"
import { MessageId, SessionId } from "../domain/Ids.ts"
import type { Entry, SessionRecord } from "../domain/session/Session.ts"
import { type ChosenSettings, empty, foldAll, repair, type SessionState } from "../domain/session/SessionState.ts"
import { Changes } from "./Changes.ts"
import { Commands } from "./Commands.ts"
import { CustomAgents } from "./CustomAgents.ts"
import { Harnesses } from "./Harnesses.ts"
import { McpManager } from "./McpManager.ts"
import { Models } from "./Models.ts"
import { Projects } from "./Projects.ts"
import { SessionStore } from "./SessionStore.ts"
import * as KeyedLock from "./session/KeyedLock.ts"
import * as LiveSession from "./session/LiveSession.ts"
import * as Servers from "./session/Servers.ts"
import { Settings } from "./Settings.ts"
import * as LogWriter from "./store/LogWriter.ts"
import { Turn } from "./Turn.ts"

/** How a new session begins. */
export interface Beginning {
  readonly cwd: string
  readonly harness: Harness
  /** What was chosen at the start. */
  readonly choices: ChosenSettings
}

type Session = LiveSession.LiveSession

/** The scope of what opens a session holds it: it is closed when the last holder's scope ends. */
export interface SessionsShape {
  readonly create: (beginning: Beginning) => Effect.Effect<Session, never, Scope.Scope>
  /**
   * The live session, or the stored one brought to life; a log that was torn by a crash is closed first. A live one
   * whose log was given up ends, since the store knows better by now.
   */
  readonly open: (id: SessionId) => Effect.Effect<Session, SessionNotFound | StoreFailed, Scope.Scope>
  /** A new session with the whole log of `id`, in `cwd`. */
  readonly fork: (id: SessionId, cwd: string) => Effect.Effect<Session, SessionNotFound | StoreFailed, Scope.Scope>
  /** Holds a session beside whoever opened it; nothing once it has ended. */
  readonly hold: (session: Session) => Effect.Effect<void, never, Scope.Scope>
  /** Whether the session is alive. */
  readonly isLive: (session: Session) => boolean
  /** Stops and frees a live session, whoever holds it; it stays in the store. */
  readonly close: (session: Session) => Effect.Effect<void>
  /** Closes the session if it is live, and forgets it. */
  readonly remove: (id: SessionId) => Effect.Effect<void, StoreFailed>
}

/** The live sessions of this process, and the way to stored ones. */
export class Sessions extends Context.Service<Sessions, SessionsShape>()("super-pi/Sessions") {}

interface Resident {
  readonly session: Session
  readonly scope: Scope.Closeable
  holders: number
}

/** `Sessions` over the store. All sessions end with the layer. */
export const layer = Layer.effect(
  Sessions,
  Effect.gen(function* () {
    const store = yield* SessionStore
    const settings = yield* Settings
    const models = yield* Models
    const harnesses = yield* Harnesses
    const changes = yield* Changes
    const commands = yield* Commands
    const projects = yield* Projects
    const customAgents = yield* CustomAgents
    const manager = yield* McpManager
    const turn = yield* Turn
    const random = yield* SecureRandom
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const process = yield* Effect.scope
    const residents = new Map<SessionId, Resident>()
    /** Opening, closing and removing one session never overlap: two logs of it would be in conflict. */
    const exclusively = KeyedLock.make<SessionId>()

    const scratchOf = (id: SessionId) => path.join(settings.home, "sessions", id)

    /** A client may name any text as a session; only what cannot be a way to another place is a folder of ours. */
    const removeScratch = (id: SessionId) =>
      /^[\w-]+$/.test(id)
        ? Effect.ignore(fileSystem.remove(scratchOf(id), { recursive: true, force: true }))
        : Effect.void

    /** `closing` is already in the state, and goes to the log before anything else. */
    const start = Effect.fnUntraced(function* (
      record: SessionRecord,
      origin: LogWriter.Origin,
      state: SessionState,
      closing: ReadonlyArray<Entry> = []
    ) {
      const { cwd, id } = record
      const scope = yield* Scope.fork(process)
      const harness = harnesses.find(record.harness) ?? harnesses.list[0]
      const session = yield* Effect.gen(function* () {
        const log = yield* LogWriter.open(store, record, origin)
        yield* Effect.forEach(closing, log.append, { discard: true })
        return yield* LiveSession.make({
          id,
          cwd,
          scratch: scratchOf(id),
          harness,
          state,
          log,
          servers: yield* Servers.make({
            manager,
            settings,
            projects,
            harness,
            sessionId: id,
            cwd,
            scratch: scratchOf(id),
            scope
          }),
          turn,
          commands,
          projects,
          customAgents,
          stored: Stream.catchTag(store.entriesFrom(id, 0), "SessionNotFound", () => Stream.empty),
          models: models.list,
          isUsable: (model) => Effect.isSuccess(models.resolve(model, undefined)),
          observeModels: models.observe ?? (() => Effect.void),
          grace: Effect.map(settings.current, ({ remoteGrace }) => remoteGrace),
          lostRules: Effect.map(settings.current, ({ lostRules }) => lostRules),
          messageId: Effect.map(random.uuidV7(), (uuid) => MessageId.make(`msg_${uuid}`))
        })
      }).pipe(Scope.provide(scope))
      const resident: Resident = { session, scope, holders: 0 }
      residents.set(id, resident)
      return resident
    })

    const newRecord = Effect.fnUntraced(function* (
      fields: Pick<SessionRecord, "cwd" | "harness" | "parent" | "title">
    ) {
      const now = DateTime.formatIso(yield* DateTime.now)
      const id = SessionId.make(yield* random.uuidV7())
      return { ...fields, id, createdAt: now, updatedAt: now } satisfies SessionRecord
    })

    const end = Effect.fnUntraced(function* (resident: Resident) {
      const { id } = resident.session
      if (residents.get(id) !== resident) return
      yield* resident.session.stop
      residents.delete(id)
      yield* Scope.close(resident.scope, Exit.void)
    })

    const restore = Effect.fnUntraced(function* (id: SessionId) {
      const record = yield* store.record(id)
      // First: what another process adds while this one reads must be a conflict, and not a gap in what is known here.
      const nextSeq = yield* store.nextSeq(id)
      let state = empty
      yield* Stream.runForEachArray(store.entries(id), (entries) =>
        Effect.sync(() => {
          state = foldAll(state, entries)
        })
      )
      const closing = repair(state)
      const resident = yield* start(record, { _tag: "Stored", nextSeq }, foldAll(state, closing), closing)
      yield* Effect.onError(resident.session.flush, () => end(resident))
      return resident
    })

    const holding = <E>(id: SessionId, acquire: Effect.Effect<Resident, E>): Effect.Effect<Session, E, Scope.Scope> => {
      const join = Effect.tap(acquire, (resident) =>
        Effect.sync(() => {
          resident.holders += 1
        })
      )
      const endUnheld = (resident: Resident) =>
        Effect.suspend(() => (resident.holders === 0 ? end(resident) : Effect.void))
      const leave = (resident: Resident) =>
        Effect.suspend(() => {
          resident.holders -= 1
          const last = resident.holders === 0 && residents.get(id) === resident
          return last ? exclusively(id, endUnheld(resident)) : Effect.void
        })
      return Effect.map(Effect.acquireRelease(exclusively(id, join), leave), ({ session }) => session)
    }

    const hold = (session: Session) =>
      Effect.suspend(() => {
        const resident = residents.get(session.id)
        return resident?.session === session
          ? Effect.asVoid(holding(session.id, Effect.succeed(resident)))
          : Effect.void
      })

    const create = Effect.fn("Sessions.create")(function* (beginning: Beginning) {
      const { choices, cwd, harness } = beginning
      const record = yield* newRecord({ cwd, harness: harness.id })
      const entries: ReadonlyArray<Entry> = [{ _tag: "Configured", ...choices }]
      return yield* holding(record.id, start(record, { _tag: "New", entries }, foldAll(empty, entries)))
    })

    const open = Effect.fn("Sessions.open")((id: SessionId) =>
      holding(
        id,
        Effect.suspend(() => {
          const resident = residents.get(id)
          if (resident === undefined) return restore(id)
          return Effect.matchEffect(resident.session.kept, {
            onSuccess: () => Effect.succeed(resident),
            onFailure: () => Effect.andThen(end(resident), restore(id))
          })
        })
      )
    )

    const fork = Effect.fn("Sessions.fork")(function* (id: SessionId, cwd: string) {
      const source = residents.get(id)?.session
      if (source !== undefined) {
        yield* source.flush
        if (!source.isStored()) {
          return yield* create({ cwd, harness: source.harness, choices: source.state().settings })
        }
      }
      const { cwd: from, harness, title } = yield* store.record(id)
      const record = yield* newRecord({ cwd, harness, parent: id, ...(title === undefined ? {} : { title }) })
      yield* store.fork(id, record)
      // Versions are of files by their absolute paths: those of another folder are not the new session's to take back.
      if (from === cwd) yield* changes.inherit(scratchOf(id), scratchOf(record.id))
      return yield* open(record.id)
    })

    const close = Effect.fn("Sessions.close")((session: Session) =>
      exclusively(
        session.id,
        Effect.suspend(() => {
          const resident = residents.get(session.id)
          return resident?.session === session ? Effect.uninterruptible(end(resident)) : Effect.void
        })
      )
    )

    const remove = Effect.fn("Sessions.remove")((id: SessionId) =>
      exclusively(
        id,
        Effect.uninterruptible(
          Effect.gen(function* () {
            const resident = residents.get(id)
            if (resident !== undefined) yield* end(resident)
            yield* store.remove(id)
            yield* removeScratch(id)
          })
        )
      )
    )

    return Sessions.of({
      create,
      open,
      fork,
      hold,
      isLive: (session) => residents.get(session.id)?.session === session,
      close,
      remove
    })
  })
)
