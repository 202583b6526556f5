/** The session store over any `SqlClient`: one row per session, and one per entry with the key (session, seq). */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { InvalidInput, SessionNotFound, StoreFailed } from "../../domain/Failure.ts"
import { SessionId } from "../../domain/Ids.ts"
import { Entry, SessionRecord } from "../../domain/session/Session.ts"
import type { SessionFilter, SessionPage, SessionStoreShape } from "../SessionStore.ts"
import * as LogReader from "./LogReader.ts"

const PAGE_SIZE = 50

const encodeEntry = Schema.encodeEffect(Schema.fromJsonString(Schema.toCodecJson(Entry)))
const decodeRecord = Schema.decodeUnknownOption(SessionRecord)

/** Where a page ended: the time and the id of its last session. */
const Cursor = Schema.StringFromBase64Url.pipe(
  Schema.decodeTo(Schema.fromJsonString(Schema.Tuple([Schema.String, SessionId])))
)
const encodeCursor = Schema.encodeEffect(Cursor)
const decodeCursor = Schema.decodeEffect(Cursor)

const COLUMNS = `id, cwd, harness, title, parent, created_at AS "createdAt", updated_at AS "updatedAt"`

interface SessionRow {
  readonly id: SessionId
  readonly updatedAt: string
}

const currentTime = Effect.map(DateTime.now, DateTime.formatIso)

const toRecord = (row: SessionRow): Option.Option<SessionRecord> =>
  decodeRecord(Record.filter({ ...row }, (value) => value !== null))

/** The last title that the entries set; null if none does. */
const titleOf = (entries: ReadonlyArray<Entry>): string | null =>
  entries.reduce<string | null>((title, entry) => (entry._tag === "InfoUpdated" ? (entry.title ?? title) : title), null)

const conflict = (message: string) => new StoreFailed({ reason: "conflict", message })

/** `failed` says what a database error means to a person. */
export const make = (sql: SqlClient, failed: (error: SqlError) => StoreFailed): SessionStoreShape => {
  const columns = sql.literal(COLUMNS)

  const explain = (error: SqlError) => Effect.fail(failed(error))
  const explainOr = (onConflict: () => StoreFailed) => (error: SqlError) =>
    error.reason._tag === "UniqueViolation" ? Effect.fail(onConflict()) : explain(error)

  const find = Effect.fnUntraced(function* (id: SessionId) {
    const [row] = yield* sql<SessionRow>`SELECT ${columns} FROM sessions WHERE id = ${id}`
    return row ?? (yield* new SessionNotFound({ sessionId: id }))
  })

  const insertSession = (record: SessionRecord) =>
    sql`INSERT INTO sessions ${sql.insert({
      id: record.id,
      cwd: record.cwd,
      harness: record.harness,
      title: record.title ?? null,
      parent: record.parent ?? null,
      created_at: record.createdAt,
      updated_at: record.updatedAt
    })}`

  /** The time of a session never moves back, so a session that was listed cannot come up again on a later page. */
  const insertEntries = Effect.fnUntraced(function* (id: SessionId, seq: number, entries: ReadonlyArray<Entry>) {
    const time = yield* currentTime
    const touched = yield* sql`UPDATE sessions SET
      title = COALESCE(${titleOf(entries)}, title),
      updated_at = CASE WHEN updated_at < ${time} THEN ${time} ELSE updated_at END
      WHERE id = ${id} RETURNING id`
    if (touched.length === 0) return yield* new SessionNotFound({ sessionId: id })
    yield* Effect.forEach(
      entries,
      (entry, index) =>
        encodeEntry(entry).pipe(
          Effect.flatMap(
            (json) => sql`INSERT INTO entries (session_id, seq, json) VALUES (${id}, ${seq + index}, ${json})`
          ),
          Effect.catchTag("SchemaError", () =>
            Effect.logWarning(`Entry ${seq + index} (${entry._tag}) of session ${id} cannot be written and is left out`)
          )
        ),
      { discard: true }
    )
  })

  const exists = (id: SessionId) => conflict(`Session ${id} exists already; a new session needs an id of its own`)

  const create = Effect.fn("SessionStore.create")(function* (
    record: SessionRecord,
    entries: ReadonlyArray<Entry> = []
  ) {
    const inserted = entries.length === 0 ? Effect.void : insertEntries(record.id, 0, entries)
    yield* sql
      .withTransaction(Effect.andThen(insertSession(record), inserted))
      .pipe(Effect.catchTags({ SessionNotFound: Effect.die, SqlError: explainOr(() => exists(record.id)) }))
  })

  const append = Effect.fn("SessionStore.append")(function* (
    id: SessionId,
    seq: number,
    entries: ReadonlyArray<Entry>
  ) {
    const taken = () => conflict(`Session ${id} was continued elsewhere since it was opened here; load it again`)
    yield* sql.withTransaction(insertEntries(id, seq, entries)).pipe(Effect.catchTag("SqlError", explainOr(taken)))
  })

  const record = Effect.fn("SessionStore.record")(
    function* (id: SessionId) {
      const found = toRecord(yield* find(id))
      if (Option.isSome(found)) return found.value
      return yield* new StoreFailed({
        reason: "damaged",
        message: `The stored record of session ${id} cannot be read; delete it, or start a new session`
      })
    },
    Effect.catchTag("SqlError", explain)
  )

  const nextSeq = Effect.fn("SessionStore.nextSeq")(
    function* (id: SessionId) {
      yield* find(id)
      const [row] = yield* sql<{ next: number }>`
      SELECT COALESCE(MAX(seq) + 1, 0) AS next FROM entries WHERE session_id = ${id}`
      return row?.next ?? 0
    },
    Effect.catchTag("SqlError", explain)
  )

  const entriesFrom = (id: SessionId, seq: number) =>
    Stream.unwrap(Effect.as(find(id), LogReader.read(sql, id, seq))).pipe(
      Stream.catchTag("SqlError", (error) => Stream.fail(failed(error)))
    )

  const entries = (id: SessionId) => Stream.map(entriesFrom(id, 0), ({ entry }) => entry)

  const conditions = Effect.fnUntraced(function* (filter: SessionFilter) {
    const clauses: Array<Fragment> = []
    if (filter.cwd !== undefined) clauses.push(sql`cwd = ${filter.cwd}`)
    if (filter.cursor !== undefined) {
      const [time, id] = yield* Effect.mapError(
        decodeCursor(filter.cursor),
        () => new InvalidInput({ field: "cursor", message: "Use nextCursor of an earlier answer, or leave cursor out" })
      )
      clauses.push(sql`(updated_at, id) < (${time}, ${id})`)
    }
    return sql.and(clauses)
  })

  const list = Effect.fn("SessionStore.list")(
    function* (filter: SessionFilter): Effect.fn.Return<SessionPage, SqlError | InvalidInput> {
      const rows = yield* sql<SessionRow>`SELECT ${columns} FROM sessions WHERE ${yield* conditions(filter)}
      ORDER BY updated_at DESC, id DESC LIMIT ${PAGE_SIZE + 1}`
      const sessions: Array<SessionRecord> = []
      for (const row of rows.slice(0, PAGE_SIZE)) {
        const found = toRecord(row)
        if (Option.isSome(found)) sessions.push(found.value)
        else yield* Effect.logWarning(`The stored record of session ${row.id} cannot be read and is not listed`)
      }
      const last = rows.length > PAGE_SIZE ? rows[PAGE_SIZE - 1] : undefined
      if (last === undefined) return { sessions }
      return { sessions, nextCursor: yield* Effect.orDie(encodeCursor([last.updatedAt, last.id])) }
    },
    Effect.catchTag("SqlError", explain)
  )

  const remove = Effect.fn("SessionStore.remove")(function* (id: SessionId) {
    yield* Effect.mapError(sql`DELETE FROM sessions WHERE id = ${id}`, failed)
  })

  const copy = Effect.fnUntraced(function* (from: SessionId, to: SessionRecord) {
    yield* find(from)
    yield* insertSession(to)
    yield* sql`INSERT INTO entries (session_id, seq, json)
      SELECT ${to.id}, seq, json FROM entries WHERE session_id = ${from}`
  })

  const fork = Effect.fn("SessionStore.fork")(function* (from: SessionId, to: SessionRecord) {
    yield* sql.withTransaction(copy(from, to)).pipe(
      Effect.catchTag(
        "SqlError",
        explainOr(() => exists(to.id))
      )
    )
  })

  return { create, append, record, entries, entriesFrom, nextSeq, list, remove, fork }
}
