/** Opens the notes of a SQLite file. Loaded at the first operation, since it loads the driver. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { MigrationError } from "effect/sql/Migrator"
import { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { NotesFailed, type NotesShape } from "../Notes.ts"
import * as SqliteClient from "../store/SqliteClient.ts"
import { tables } from "./NotesTables.ts"
import * as SqlNotes from "./SqlNotes.ts"

const unavailable = (message: string) => new NotesFailed({ reason: "unavailable", message })

const remedies: ReadonlyMap<number | undefined, string> = new Map([
  [5, "another process holds it locked; try again"],
  [8, "it cannot be written; check its owner and mode and those of its folder"],
  [11, "it is damaged; move it away, with the -wal and -shm files beside it, and a new one is made"],
  [13, "the disk is full; free some space"],
  [14, "it cannot be opened; check that its folder exists and can be written"],
  [26, "it is no database; move it away, and a new one is made"]
])

const unusable =
  (file: string) =>
  (error: SqlError | MigrationError): NotesFailed => {
    const cause = isSqlError(error) ? error : isSqlError(error.cause) ? error.cause : undefined
    const known = cause === undefined ? undefined : remedies.get(SqliteClient.resultCode(cause))
    return unavailable(`The notes in ${file} cannot be used: ${known ?? cause?.message ?? error.message}`)
  }

/** The file is closed with the scope. */
export const open = Effect.fnUntraced(function* (file: string): Effect.fn.Return<NotesShape, NotesFailed, Scope.Scope> {
  const [sql, version] = yield* Effect.gen(function* () {
    const sql = yield* SqliteClient.open(file)
    return [sql, yield* Effect.provideService(tables.migrate(), SqlClient, sql)] as const
  }).pipe(Effect.mapError(unusable(file)))
  if (version > tables.known) {
    return yield* unavailable(
      `The notes in ${file} were written by a newer version of Super-Pi (version ${version} of its tables, this program ` +
        `knows ${tables.known}). Update Super-Pi, or set SUPERCHARGE_HOME to another folder`
    )
  }
  return SqlNotes.make(sql, unusable(file))
})
