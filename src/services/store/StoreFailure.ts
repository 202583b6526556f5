/** What went wrong in the database, said for the person who has to put it right. */
import type { MigrationError } from "effect/sql/Migrator"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { StoreFailed } from "../../domain/Failure.ts"
import { resultCode } from "./SqliteClient.ts"

const damaged = (place: string): string =>
  `The session store ${place} is damaged. Stop every agent that uses it and move the file away, together with the ` +
  "-wal and -shm files beside it: a new one is made at the next start. `sqlite3 <file> .recover` may rescue what is left"

const reasons: ReadonlyMap<number | undefined, string> = new Map([
  [3, "access was denied; check the owner and mode of the file and its folder"],
  [5, "another process holds it locked; try again, or stop the other process"],
  [6, "it is locked; try again"],
  [8, "it cannot be written; check the owner and mode of the file and its folder, and that the disk is not read-only"],
  [10, "the disk failed to read or write it; check the disk"],
  [13, "the disk is full; free some space and try again"],
  [14, "it cannot be opened; check that its folder exists and can be written"]
])

const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

/** `place` names the database for a person, such as the path of its file. */
export const storeFailed = (place: string, error: SqlError | MigrationError): StoreFailed => {
  const cause = isSqlError(error) ? error : isSqlError(error.cause) ? error.cause : undefined
  if (cause === undefined) {
    return new StoreFailed({
      reason: "unavailable",
      message: `The session store ${place} cannot be brought up to date: ${error.message}`
    })
  }
  const code = resultCode(cause)
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) {
    return new StoreFailed({ reason: "damaged", message: damaged(place) })
  }
  return new StoreFailed({
    reason: "unavailable",
    message: `The session store ${place} cannot be used: ${reasons.get(code) ?? cause.message}`
  })
}

/** The tables were made by a later program, which may have given them another meaning. */
export const tooNew = (place: string, found: number, known: number): StoreFailed =>
  new StoreFailed({
    reason: "unavailable",
    message:
      `The session store ${place} was written by a newer version of Super-Pi (its tables are at version ${found}, ` +
      `this program knows ${known}). Update Super-Pi, or set SUPERCHARGE_HOME to another folder`
  })
