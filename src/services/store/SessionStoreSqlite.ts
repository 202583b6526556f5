/**
 * The session store in a SQLite file. Building the layer touches nothing: the driver is loaded and the file opened by
 * the first operation, and again by the next one after a failure.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import { StoreFailed } from "../../domain/Failure.ts"
import { systemText } from "../files/SystemText.ts"
import { SessionStore, type SessionStoreShape } from "../SessionStore.ts"
import { openOnce, prepare } from "./DatabaseFile.ts"

const unavailable = (message: string) => new StoreFailed({ reason: "unavailable", message })

const loadDriver = Effect.tryPromise({
  try: () => import("./SqliteSessions.ts"),
  catch: () => unavailable("The session store needs node:sqlite; run Super-Pi with Node 24 or later")
})

const openDatabase = (file: string) => Effect.flatMap(loadDriver, ({ open }) => open(file))

/** Answers from the store that `opened` gives, so that it is asked for at the first operation. */
const deferred = (opened: Effect.Effect<SessionStoreShape, StoreFailed>): SessionStoreShape => ({
  create: (record, entries) => Effect.flatMap(opened, (store) => store.create(record, entries)),
  append: (id, seq, entries) => Effect.flatMap(opened, (store) => store.append(id, seq, entries)),
  record: (id) => Effect.flatMap(opened, (store) => store.record(id)),
  entries: (id) => Stream.unwrap(Effect.map(opened, (store) => store.entries(id))),
  entriesFrom: (id, seq) => Stream.unwrap(Effect.map(opened, (store) => store.entriesFrom(id, seq))),
  nextSeq: (id) => Effect.flatMap(opened, (store) => store.nextSeq(id)),
  list: (filter) => Effect.flatMap(opened, (store) => store.list(filter)),
  remove: (id) => Effect.flatMap(opened, (store) => store.remove(id)),
  fork: (from, record) => Effect.flatMap(opened, (store) => store.fork(from, record))
})

const prepareStore = (file: string) =>
  Effect.mapError(prepare(file), (error) =>
    unavailable(
      `The session store ${file} cannot be opened: ${systemText(error)}. Make its folder one that you may write, ` +
        "or set SUPERCHARGE_HOME to another"
    )
  )

/** Where sessions are kept. */
export interface SessionStoreSqliteOptions {
  /** Absolute path of the database; made at the first operation. */
  readonly file: string
}

/** Sessions in a SQLite file, readable for this user alone. Several processes may share it. */
export const layer = ({
  file
}: SessionStoreSqliteOptions): Layer.Layer<SessionStore, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    SessionStore,
    Effect.contextWith((context) =>
      Effect.map(
        openOnce(Effect.andThen(Effect.provideContext(prepareStore(file), context), openDatabase(file))),
        deferred
      )
    )
  )

/** A store that ends with its scope, for tests and for sessions that nobody wants to keep. */
export const layerMemory: Layer.Layer<SessionStore> = Layer.effect(
  SessionStore,
  Effect.map(openOnce(openDatabase(":memory:")), deferred)
)
