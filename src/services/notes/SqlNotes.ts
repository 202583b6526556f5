/** Notes over SQL. Each change is one transaction, so that processes that share the file never see half of one. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { type Note, NoteId, noteLimits, noteProblem } from "../../domain/Note.ts"
import { type NoteChange, type NoteDraft, type NoteQuery, NotesFailed, type NotesShape } from "../Notes.ts"
import { indexed, matchOf } from "./Words.ts"

const Row = Schema.Struct({
  id: NoteId,
  project: Schema.NullOr(Schema.String),
  title: Schema.String,
  text: Schema.String,
  tags: Schema.fromJsonString(Schema.Array(Schema.String)),
  created_at: Schema.String,
  updated_at: Schema.String
})
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))

const toNote = ({ created_at, id, project, tags, text, title, updated_at }: typeof Row.Type): Note => ({
  id,
  scope: project === null ? "global" : "project",
  title,
  text,
  tags,
  createdAt: created_at,
  updatedAt: updated_at
})

/** How many of the oldest are named when there is no room. */
const NAMED = 5

/** Notes that one search gives at most. */
const MOST = 50

const cleanTags = (tags: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(tags.map((tag) => tag.trim()))]

type Parts = Pick<Note, "tags" | "text" | "title"> & { readonly project: string | null }

export const make = (sql: SqlClient, unusable: (error: SqlError) => NotesFailed): NotesShape => {
  const damaged = new NotesFailed({ reason: "unavailable", message: "A stored note cannot be read. Go on without it." })
  const told = (error: SqlError | Schema.SchemaError | NotesFailed): NotesFailed =>
    error instanceof NotesFailed ? error : isSqlError(error) ? unusable(error) : damaged

  const changing = <A>(effect: Effect.Effect<A, SqlError | Schema.SchemaError | NotesFailed>) =>
    Effect.mapError(sql.withTransaction(effect), told)

  const seen = (project: string) => sql`(notes.project = ${project} OR notes.project IS NULL)`

  const find = Effect.fnUntraced(function* (project: string, id: NoteId) {
    const rows = yield* sql`SELECT * FROM notes WHERE id = ${id} AND ${seen(project)}`
    const [row] = yield* decodeRows(rows)
    if (row === undefined) {
      return yield* new NotesFailed({
        reason: "missing",
        message: `There is no note ${id} in this project or among the global ones; note_search finds those there are`
      })
    }
    return row
  })

  const checked = (parts: Partial<Parts>): Effect.Effect<void, NotesFailed> => {
    const message = noteProblem(parts)
    return message === undefined ? Effect.void : Effect.fail(new NotesFailed({ reason: "invalid", message }))
  }

  const index = ({ tags, text, title }: Parts, id: number) =>
    sql`INSERT INTO notes_index (rowid, title, text, tags)
      VALUES (${id}, ${indexed(title)}, ${indexed(text)}, ${indexed(tags.join(" "))})`

  const leaveRoom = Effect.fnUntraced(function* () {
    const [count] = yield* sql<{ notes: number }>`SELECT COUNT(*) AS notes FROM notes`
    if ((count?.notes ?? 0) < noteLimits.notes) return
    const oldest = yield* sql<{ id: number; title: string; updated_at: string }>`
      SELECT id, title, updated_at FROM notes ORDER BY updated_at, id LIMIT ${NAMED}`
    const names = oldest.map(({ id, title, updated_at }) => `${id} "${title}" (${updated_at.slice(0, 10)})`)
    return yield* new NotesFailed({
      reason: "full",
      message: `There are ${noteLimits.notes} notes, which is the most that is kept. Change or delete others first; the oldest are ${names.join(", ")}`
    })
  })

  const now = Effect.map(DateTime.now, DateTime.formatIso)

  const add = Effect.fn("Notes.add")(function* (project: string, draft: NoteDraft) {
    yield* checked(draft)
    const { scope = "project", tags = [], text, title } = draft
    const parts: Parts = {
      title: title.trim(),
      text,
      tags: cleanTags(tags),
      project: scope === "global" ? null : project
    }
    const time = yield* now
    return yield* changing(
      Effect.gen(function* () {
        yield* leaveRoom()
        const rows = yield* sql`INSERT INTO notes (project, title, text, tags, created_at, updated_at)
          VALUES (${parts.project}, ${parts.title}, ${text}, ${JSON.stringify(parts.tags)}, ${time}, ${time}) RETURNING *`
        const notes = (yield* decodeRows(rows)).map(toNote)
        const [note] = notes
        if (note === undefined) return yield* damaged
        yield* index(parts, note.id)
        return note
      })
    )
  })

  const change = Effect.fn("Notes.change")(function* (project: string, id: NoteId, wanted: NoteChange) {
    yield* checked(wanted)
    const time = yield* now
    return yield* changing(
      Effect.gen(function* () {
        const before = yield* find(project, id)
        const { scope, tags = before.tags, text = before.text, title = before.title } = wanted
        const place = scope === undefined ? before.project : scope === "global" ? null : project
        const parts: Parts = { title: title.trim(), text, tags: cleanTags(tags), project: place }
        yield* sql`UPDATE notes SET project = ${parts.project}, title = ${parts.title}, text = ${text},
          tags = ${JSON.stringify(parts.tags)}, updated_at = ${time} WHERE id = ${id}`
        yield* sql`DELETE FROM notes_index WHERE rowid = ${id}`
        yield* index(parts, id)
        return toNote({ ...before, ...parts, updated_at: time })
      })
    )
  })

  const remove = Effect.fn("Notes.remove")((project: string, id: NoteId) =>
    changing(
      Effect.gen(function* () {
        const before = yield* find(project, id)
        yield* sql`DELETE FROM notes WHERE id = ${id}`
        yield* sql`DELETE FROM notes_index WHERE rowid = ${id}`
        return toNote(before)
      })
    )
  )

  const get = Effect.fn("Notes.get")((project: string, id: NoteId) =>
    find(project, id).pipe(Effect.map(toNote), Effect.mapError(told))
  )

  const search = Effect.fn("Notes.search")(function* (project: string, { limit, scope, tags = [], words }: NoteQuery) {
    const conditions = [
      scope === "global"
        ? sql`notes.project IS NULL`
        : scope === "project"
          ? sql`notes.project = ${project}`
          : seen(project),
      ...cleanTags(tags).map(
        (tag) => sql`EXISTS (SELECT 1 FROM json_each(notes.tags) WHERE lower(value) = lower(${tag}))`
      )
    ]
    const most = Math.max(1, Math.min(MOST, limit))
    const match = matchOf(words)
    const rows =
      match === undefined
        ? yield* sql`SELECT notes.* FROM notes WHERE ${sql.and(conditions)} ORDER BY updated_at DESC, id DESC LIMIT ${most}`
        : yield* sql`SELECT notes.* FROM notes_index JOIN notes ON notes.id = notes_index.rowid
              WHERE notes_index MATCH ${match} AND ${sql.and(conditions)}
              ORDER BY bm25(notes_index, 8.0, 1.0, 4.0), notes.updated_at DESC LIMIT ${most}`
    const [count] = yield* sql<{ notes: number }>`SELECT COUNT(*) AS notes FROM notes WHERE ${seen(project)}`
    return { notes: (yield* decodeRows(rows)).map(toNote), total: count?.notes ?? 0 }
  }, Effect.mapError(told))

  return { add, change, remove, get, search }
}
