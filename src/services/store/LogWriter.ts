/**
 * Writes the log of one live session behind its back: entries are taken at once and stored within 250 ms, whole events
 * within 20 ms. What was flushed survives a kill; what could not be stored is kept and tried again.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { isDelta, merge } from "../../domain/session/Delta.ts"
import { StoreFailed } from "../../domain/Failure.ts"
import { type Position, positionOf } from "../../domain/session/Position.ts"
import type { Entry, SessionRecord } from "../../domain/session/Session.ts"
import type { SessionStoreShape } from "../SessionStore.ts"

/** Where the log begins. A new session is not stored before somebody said something (F54); `entries` wait till then. */
export type Origin =
  | { readonly _tag: "New"; readonly entries: ReadonlyArray<Entry> }
  | { readonly _tag: "Stored"; readonly nextSeq: number }

export interface LogWriter {
  /**
   * Takes the entry without waiting for the disk, and says where the log is then. After a failure that cannot heal,
   * entries are dropped.
   */
  readonly append: (entry: Entry) => Effect.Effect<Position>
  /** Where the log is, with what waits to be stored; undefined while there is nothing since it was opened. */
  readonly position: () => Position | undefined
  /** Returns when everything appended before is stored; fails if it is not, and tries again at the next call. */
  readonly flush: Effect.Effect<void, StoreFailed>
  /** Whether the store knows the session. */
  readonly isStored: () => boolean
  /** Fails once the log was given up for good. */
  readonly kept: Effect.Effect<void, StoreFailed>
}

/** Numbers of a log that is opened again begin with the time, so that none is used by two processes; more than any fills. */
const NUMBERS_PER_MILLISECOND = 1000

/** Whatever comes waits so long for what happens together with it: no request to a model has to wait for the disk. */
const GATHER = "20 millis"

/** How much longer the end of a message may stay in memory. */
const DELAY = "230 millis"

/** Entries that wait while the store fails. */
const MAX_WAITING = 8192

/** Two neighbours that mean the same as one: pieces of a message, and choices. */
const join = (one: Entry, next: Entry): Entry | undefined => {
  if (one._tag === "Configured" && next._tag === "Configured") return { ...one, ...next }
  return isDelta(one) ? merge(one, next) : undefined
}

const unstorable = (record: SessionRecord) =>
  new StoreFailed({
    reason: "unavailable",
    message: `Session ${record.id} is no longer kept, because one of its entries could not be stored; load it again`
  })

const overflow = (failure: StoreFailed) =>
  new StoreFailed({
    reason: failure.reason,
    message: `${failure.message}. Too much waits to be stored, so this session is no longer kept: load it again`
  })

/** The scope is the session's; its end stores what is left. */
export const open = Effect.fnUntraced(function* (
  store: SessionStoreShape,
  record: SessionRecord,
  origin: Origin
): Effect.fn.Return<LogWriter, never, Scope.Scope> {
  const writing = yield* Semaphore.make(1)
  const dirty = yield* Latch.make()
  const urgent = yield* Latch.make()
  let waiting: Array<Entry> = origin._tag === "New" ? [...origin.entries] : []
  let stored = origin._tag === "Stored"
  /** The number of the entry that says that this process goes on; stored with the first that it adds. */
  let reopening = origin._tag === "Stored" ? origin.nextSeq : undefined
  let nextSeq =
    reopening === undefined ? 0 : Math.max(reopening + 1, (yield* Clock.currentTimeMillis) * NUMBERS_PER_MILLISECOND)
  /** Entries that are being stored at this moment. */
  let underway = 0
  // What an earlier process told and did not store lies before the numbers of this one.
  let position: Position | undefined =
    nextSeq + waiting.length === 0 ? undefined : { seq: nextSeq + waiting.length - 1, length: 0 }
  let lastFailure: StoreFailed | undefined
  let warned = false
  /** Set for good: a log with a hole would be worse than a log that ends. */
  let broken: StoreFailed | undefined

  const giveUp = (failure: StoreFailed): StoreFailed => {
    broken = failure
    waiting = []
    return failure
  }

  const take = (entry: Entry): Position => {
    const last = waiting.at(-1)
    const joined = last === undefined ? undefined : join(last, entry)
    if (joined === undefined) waiting.push(entry)
    else waiting[waiting.length - 1] = joined
    position = positionOf({ seq: nextSeq + underway + waiting.length - 1, entry: joined ?? entry })
    return position
  }

  const append = (entry: Entry): Effect.Effect<Position> =>
    Effect.sync(() => {
      if (broken !== undefined) return position ?? { seq: nextSeq, length: 0 }
      const taken = take(entry)
      if (lastFailure !== undefined && waiting.length > MAX_WAITING) giveUp(overflow(lastFailure))
      dirty.openUnsafe()
      if (!isDelta(entry)) urgent.openUnsafe()
      return taken
    })

  const reopen = Effect.suspend(() => {
    if (reopening === undefined) return Effect.void
    const marked = store.append(record.id, reopening, [{ _tag: "Reopened" }])
    return Effect.tap(marked, () =>
      Effect.sync(() => {
        reopening = undefined
      })
    )
  })

  const toStore = (entries: ReadonlyArray<Entry>) =>
    stored
      ? Effect.andThen(reopen, store.append(record.id, nextSeq, entries))
      : Effect.asVoid(store.create(record, entries))

  const write = Effect.fnUntraced(function* () {
    dirty.closeUnsafe()
    urgent.closeUnsafe()
    if (broken !== undefined) return yield* broken
    const entries = waiting
    if (entries.length === 0 || (!stored && !entries.some(({ _tag }) => _tag === "UserMessage"))) return
    waiting = []
    underway = entries.length
    yield* toStore(entries).pipe(
      Effect.catchTag("SessionNotFound", ({ message }) =>
        Effect.fail(new StoreFailed({ reason: "conflict", message }))
      ),
      Effect.catchDefect(() => Effect.fail(giveUp(unstorable(record)))),
      Effect.tapError((failure) =>
        Effect.sync(() => {
          lastFailure = failure
          underway = 0
          if (failure.reason === "conflict") giveUp(failure)
          else if (broken === undefined) waiting = [...entries, ...waiting]
        })
      )
    )
    lastFailure = undefined
    warned = false
    stored = true
    underway = 0
    nextSeq += entries.length
  })

  const flush = writing.withPermits(1)(Effect.uninterruptible(Effect.suspend(write)))

  /** Once until it heals: a full disk is met again with every piece of text. */
  const warn = Effect.fnUntraced(function* ({ message }: StoreFailed) {
    if (warned) return
    warned = true
    yield* Effect.logWarning(`Session ${record.id} is not stored yet: ${message}`)
  })

  const inBackground = dirty.await.pipe(
    Effect.andThen(Effect.sleep(GATHER)),
    Effect.andThen(Effect.timeoutOrElse(urgent.await, { duration: DELAY, orElse: () => Effect.void })),
    Effect.andThen(flush),
    Effect.catch(warn),
    Effect.forever
  )

  yield* Effect.addFinalizer(() =>
    Effect.catch(flush, (failure) => Effect.logError(`The end of session ${record.id} is lost: ${failure.message}`))
  )
  yield* Effect.forkScoped(inBackground)

  const kept = Effect.suspend(() => (broken === undefined ? Effect.void : Effect.fail(broken)))

  return { append, position: () => position, flush, isStored: () => stored, kept }
})
