/**
 * Notes in a SQLite file. Building the layer touches nothing: the driver is loaded and the file opened by the first
 * operation, and again by the next one after a failure.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Scope from "effect/Scope"
import { systemText } from "../files/SystemText.ts"
import { Notes, NotesFailed, type NotesShape } from "../Notes.ts"
import { Settings } from "../Settings.ts"

const unavailable = (message: string) => new NotesFailed({ reason: "unavailable", message })

const openDatabase = (file: string) =>
  Effect.flatMap(
    Effect.tryPromise({
      try: () => import("./SqliteNotes.ts"),
      catch: () => unavailable("Notes need node:sqlite; run Super-Pi with Node 24 or later")
    }),
    ({ open }) => open(file)
  )

/** What a failed attempt opened is closed at once; what succeeded stays open for as long as the layer. */
const makeDeferred = Effect.fnUntraced(function* (
  open: Effect.Effect<NotesShape, NotesFailed, Scope.Scope>
): Effect.fn.Return<NotesShape, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const opened = yield* Scope.fork(scope).pipe(
    Effect.flatMap((own) =>
      Effect.onError(Scope.provide(open, own), (cause) => Scope.close(own, Exit.failCause(cause)))
    ),
    Effect.uninterruptible,
    Effect.cachedWithTTL((exit) => (Exit.isSuccess(exit) ? "Infinity" : "0 millis"))
  )
  return {
    add: (project, draft) => Effect.flatMap(opened, (notes) => notes.add(project, draft)),
    change: (project, id, change) => Effect.flatMap(opened, (notes) => notes.change(project, id, change)),
    remove: (project, id) => Effect.flatMap(opened, (notes) => notes.remove(project, id)),
    get: (project, id) => Effect.flatMap(opened, (notes) => notes.get(project, id)),
    search: (project, query) => Effect.flatMap(opened, (notes) => notes.search(project, query))
  }
})

/** Makes the folder (0700) and the file (0600): what was noted is nobody else's to read. */
const prepare = Effect.fnUntraced(function* (file: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fileSystem.makeDirectory(path.dirname(file), { recursive: true, mode: 0o700 }).pipe(
    Effect.andThen(Effect.scoped(fileSystem.open(file, { flag: "a", mode: 0o600 }))),
    Effect.mapError((error) =>
      unavailable(
        `The notes in ${file} cannot be opened: ${systemText(error)}. The user has to make its folder writable, or set ` +
          "SUPERCHARGE_HOME to another"
      )
    )
  )
})

/** Notes in this file, absolute, readable for this user alone. Several processes may share it. */
export const layer = ({
  file
}: {
  readonly file: string
}): Layer.Layer<Notes, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    Notes,
    Effect.contextWith((context: Context.Context<FileSystem.FileSystem | Path.Path>) =>
      makeDeferred(Effect.andThen(Effect.provideContext(prepare(file), context), openDatabase(file)))
    )
  )

/** Those of this machine: `notes.db` of the home folder. */
export const layerHome: Layer.Layer<Notes, never, FileSystem.FileSystem | Path.Path | Settings> = Layer.unwrap(
  Effect.gen(function* () {
    const path = yield* Path.Path
    const { home } = yield* Settings
    return layer({ file: path.join(home, "notes.db") })
  })
)

/** Notes that end with their scope, for tests and for hosts that keep nothing. */
export const layerMemory: Layer.Layer<Notes> = Layer.effect(Notes, makeDeferred(openDatabase(":memory:")))
