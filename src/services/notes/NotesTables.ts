/** The tables of the notes, and how an older file becomes a present one. */
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import { SqlClient } from "effect/sql/SqlClient"

/** The index keeps words only: what a note says stands in one place. */
const notes = Effect.gen(function* () {
  const sql = yield* SqlClient
  yield* sql`CREATE TABLE notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    tags TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX notes_by_age ON notes (project, updated_at)`
  yield* sql`CREATE VIRTUAL TABLE notes_index USING fts5(
    title, text, tags,
    content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 2"
  )`
})

const TABLE = "migrations"
const steps = { "0001_notes": notes }

/** The version of the tables that this program knows. */
export const KNOWN_VERSION = Object.keys(steps).length

const present = Effect.fnUntraced(function* () {
  const sql = yield* SqlClient
  const [latest] = yield* sql<{ version: number | null }>`SELECT MAX(migration_id) AS version FROM ${sql(TABLE)}`
  return latest?.version ?? 0
})

/** Brings the tables up to date, and gives their version: above `KNOWN_VERSION` if a later program made them. */
export const migrate = Effect.fnUntraced(function* () {
  const found = yield* Effect.orElseSucceed(present(), () => 0)
  if (found >= KNOWN_VERSION) return found
  yield* Migrator.make({})({ loader: Migrator.fromRecord(steps), table: TABLE })
  return yield* present()
})
