/** The tables of the notes. */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql/SqlClient"
import { makeTables } from "../store/Tables.ts"

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

export const tables = makeTables({ "0001_notes": notes })
