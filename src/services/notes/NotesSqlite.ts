/**
 * Notes in a SQLite file. Building the layer touches nothing: the driver is loaded and the file opened by the first
 * operation, and again by the next one after a failure.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { systemText } from "../files/SystemText.ts"
import { Notes, NotesFailed, type NotesShape } from "../Notes.ts"
import { Settings } from "../Settings.ts"
import { openOnce, prepare } from "../store/DatabaseFile.ts"

const unavailable = (message: string) => new NotesFailed({ reason: "unavailable", message })

const openDatabase = (file: string) =>
  Effect.flatMap(
    Effect.tryPromise({
      try: () => import("./SqliteNotes.ts"),
      catch: () => unavailable("Notes need node:sqlite; run Super-Pi with Node 24 or later")
    }),
    ({ open }) => open(file)
  )

/** Answers from the notes that `opened` gives, so that they are asked for at the first operation. */
const deferred = (opened: Effect.Effect<NotesShape, NotesFailed>): NotesShape => ({
  add: (project, draft) => Effect.flatMap(opened, (notes) => notes.add(project, draft)),
  change: (project, id, change) => Effect.flatMap(opened, (notes) => notes.change(project, id, change)),
  remove: (project, id) => Effect.flatMap(opened, (notes) => notes.remove(project, id)),
  get: (project, id) => Effect.flatMap(opened, (notes) => notes.get(project, id)),
  search: (project, query) => Effect.flatMap(opened, (notes) => notes.search(project, query))
})

const prepareNotes = (file: string) =>
  Effect.mapError(prepare(file), (error) =>
    unavailable(
      `The notes in ${file} cannot be opened: ${systemText(error)}. The user has to make its folder writable, or set ` +
        "SUPERCHARGE_HOME to another"
    )
  )

/** Notes in this file, absolute, readable for this user alone. Several processes may share it. */
export const layer = ({
  file
}: {
  readonly file: string
}): Layer.Layer<Notes, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    Notes,
    Effect.contextWith((context: Context.Context<FileSystem.FileSystem | Path.Path>) =>
      Effect.map(
        openOnce(Effect.andThen(Effect.provideContext(prepareNotes(file), context), openDatabase(file))),
        deferred
      )
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
export const layerMemory: Layer.Layer<Notes> = Layer.effect(
  Notes,
  Effect.map(openOnce(openDatabase(":memory:")), deferred)
)
