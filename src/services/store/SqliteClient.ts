/**
 * `SqlClient` over the SQLite of Node: one connection, WAL, foreign keys. The driver is synchronous, so it blocks for
 * a lock only briefly and waits the rest as a fiber.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"

/** Milliseconds that the driver may block for a lock; a fiber then waits 3 seconds more. */
const BLOCKING_WAIT = 2
const LOCK_WAIT = Schedule.spaced("10 millis").pipe(Schedule.upTo({ times: 300 }))
const MAX_STATEMENTS = 128

const SQLITE_CONSTRAINT_UNIQUE = 2067
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555

/** What the classifier reads: the driver says `errcode` where it looks for `errno`, and a key may also be primary. */
const toReason = (cause: unknown, operation: string) => {
  const message = cause instanceof Error ? cause.message : "SQLite failed"
  const code = Predicate.hasProperty(cause, "errcode") ? cause.errcode : undefined
  const errno = code === SQLITE_CONSTRAINT_PRIMARYKEY ? SQLITE_CONSTRAINT_UNIQUE : code
  return classifySqliteError({ message, errno }, { message, operation })
}

const attempt = <A>(operation: string, evaluate: () => A): Effect.Effect<A, SqlError> =>
  Effect.try({
    try: evaluate,
    catch: (cause) => new SqlError({ reason: toReason(cause, operation) })
  })

/** SQLite's result code, such as 11 for a damaged file; undefined for an error that SQLite did not raise. */
export const resultCode = ({ reason: { cause } }: SqlError): number | undefined =>
  Predicate.hasProperty(cause, "errno") && typeof cause.errno === "number" ? cause.errno & 0xff : undefined

const isLocked = (error: SqlError): boolean => error.reason._tag === "LockTimeoutError"

/** A statement that met a lock has done nothing, so it can run again. */
const whenUnlocked = <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
  Effect.catchIf(effect, isLocked, () => Effect.retry(effect, { schedule: LOCK_WAIT, while: isLocked }))

const toInput = (value: unknown): SQLInputValue => {
  if (value === undefined || value === null) return null
  if (typeof value === "boolean") return value ? 1 : 0
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") return value
  if (value instanceof Uint8Array) return value
  throw new TypeError(`SQLite takes no parameter of type ${typeof value}`)
}

interface SqliteConnection extends Connection {
  readonly isTransaction: () => boolean
}

const makeConnection = (database: DatabaseSync): SqliteConnection => {
  const statements = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    const statement = database.prepare(sql)
    const [oldest] = statements.size < MAX_STATEMENTS ? [] : statements.keys()
    if (oldest !== undefined) statements.delete(oldest)
    statements.set(sql, statement)
    return statement
  }
  const rows = (statement: StatementSync, params: ReadonlyArray<unknown>) =>
    statement.all(...params.map(toInput)).map((row) => ({ ...row }))
  const values = (sql: string, params: ReadonlyArray<unknown>) => {
    const statement = database.prepare(sql)
    statement.setReturnArrays(true)
    return statement.all(...params.map(toInput)).map((row) => Object.values(row))
  }
  const run: Connection["execute"] = (sql, params, transform) => {
    const found = whenUnlocked(attempt("execute", () => rows(prepare(sql), params)))
    return transform === undefined ? found : Effect.map(found, transform)
  }
  const executeValues: Connection["executeValues"] = (sql, params) =>
    whenUnlocked(attempt("execute", () => values(sql, params)))
  return {
    execute: run,
    executeRaw: (sql, params) => run(sql, params, undefined),
    // A cursor would hold the only connection for as long as the reader likes: long reads ask for pages instead.
    executeStream: (sql, params, transform) => Stream.fromIterableEffect(run(sql, params, transform)),
    executeValues,
    executeValuesUnprepared: executeValues,
    executeUnprepared: (sql, params, transform) => {
      const found = whenUnlocked(attempt("execute", () => rows(database.prepare(sql), params)))
      return transform === undefined ? found : Effect.map(found, transform)
    },
    isTransaction: () => database.isOpen && database.isTransaction
  }
}

/** Another connection may hold the file while the journal changes its kind, so it is changed once and not each time. */
const configure = (database: DatabaseSync): void => {
  if (database.prepare("PRAGMA journal_mode").get()?.["journal_mode"] === "delete") {
    database.exec("PRAGMA journal_mode = WAL")
  }
  database.exec("PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 67108864")
}

/** Opens `file`, or a database of its own for `:memory:`, until the scope closes. The folder has to exist. */
export const open = Effect.fnUntraced(function* (
  file: string
): Effect.fn.Return<SqlClient.SqlClient, SqlError, Scope.Scope> {
  const database = yield* Effect.acquireRelease(
    attempt("open", () => new DatabaseSync(file, { timeout: BLOCKING_WAIT })),
    (database) => Effect.sync(() => database.close())
  )
  yield* whenUnlocked(attempt("open", () => configure(database)))
  const acquirers = SqlClient.makeSqliteAcquirers({
    connection: Effect.succeed(makeConnection(database)),
    semaphore: yield* Semaphore.make(1),
    isTransaction: (connection) => connection.isTransaction()
  })
  return yield* SqlClient.make({
    ...acquirers,
    compiler: Statement.makeCompilerSqlite(),
    driver: "sqlite-node",
    beginTransaction: "BEGIN IMMEDIATE",
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: [["db.system.name", "sqlite"]]
  }).pipe(Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make))
})
