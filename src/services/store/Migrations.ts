/** The tables of the session store, and how an older file becomes a present one. */
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import { SqlClient } from "effect/sql/SqlClient"

const sessions = Effect.gen(function* () {
  const sql = yield* SqlClient
  yield* sql`CREATE TABLE sessions (
    id TEXT PRIMARY KEY NOT NULL,
    cwd TEXT NOT NULL,
    harness TEXT NOT NULL,
    title TEXT,
    parent TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX sessions_by_age ON sessions (updated_at, id)`
  yield* sql`CREATE INDEX sessions_by_folder ON sessions (cwd, updated_at, id)`
  yield* sql`CREATE TABLE entries (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
  )`
})

const TABLE = "migrations"
const steps = { "0001_sessions": sessions }

/** The version of the tables that this program knows. */
export const KNOWN_VERSION = Object.keys(steps).length

const present = Effect.fnUntraced(function* () {
  const sql = yield* SqlClient
  const [latest] = yield* sql<{ version: number | null }>`SELECT MAX(migration_id) AS version FROM ${sql(TABLE)}`
  return latest?.version ?? 0
})

/**
 * Brings the tables up to date, and gives their version: above `KNOWN_VERSION` if a later program made them. Writes
 * only if there is something to do, so that a file that another process holds can still be opened.
 */
export const migrate = Effect.fnUntraced(function* () {
  const found = yield* Effect.orElseSucceed(present(), () => 0)
  if (found >= KNOWN_VERSION) return found
  yield* Migrator.make({})({ loader: Migrator.fromRecord(steps), table: TABLE })
  return yield* present()
})
