/** The tables of the session store. */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql/SqlClient"
import { makeTables } from "./Tables.ts"

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

export const tables = makeTables({ "0001_sessions": sessions })
