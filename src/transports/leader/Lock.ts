/**
 * At most one leader at a place. The lock is the system's own, on a database file, so it goes with the process however that
 * ends and is never stale; the file with the process's number beside it is for people.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import { rmSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { LeaderFailed } from "./LeaderFailed.ts"
import { codeOf, type Place } from "./Place.ts"

const SQLITE_BUSY = 5

const isBusy = (error: unknown): boolean => Predicate.hasProperty(error, "errcode") && error.errcode === SQLITE_BUSY

/** The way to a place that nobody holds. */
export interface Lock {
  /** Takes the place until the scope closes; `false` when another process has it. */
  readonly take: Effect.Effect<boolean, LeaderFailed>
}

export const open = Effect.fnUntraced(function* (place: Place): Effect.fn.Return<Lock, LeaderFailed, Scope.Scope> {
  const failed = (error: unknown) =>
    new LeaderFailed({ message: `${place.lock} cannot be locked (${codeOf(error)}): remove it and try again` })
  const database = yield* Effect.acquireRelease(
    Effect.try({ try: () => new DatabaseSync(place.lock, { timeout: 0 }), catch: failed }),
    (opened) => Effect.sync(() => opened.close())
  )
  const scope = yield* Effect.scope
  const name = Effect.acquireRelease(
    Effect.try({ try: () => writeFileSync(place.pid, `${process.pid}\n`, { mode: 0o600 }), catch: failed }),
    () => Effect.sync(() => rmSync(place.pid, { force: true }))
  )
  const lock = Effect.try({
    try: () => database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"),
    catch: (error) => (isBusy(error) ? undefined : failed(error))
  }).pipe(
    Effect.as(true),
    Effect.catchIf(
      (failure) => failure === undefined,
      () => Effect.succeed(false)
    )
  )
  return { take: Effect.tap(lock, (locked) => (locked ? Scope.provide(name, scope) : Effect.void)) }
})
