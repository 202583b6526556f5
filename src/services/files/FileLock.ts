/** Lets one process at a time change a file. The lock is a file beside it that only one of them can create. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Schedule from "effect/Schedule"

/** A change takes milliseconds: a lock of this age, in milliseconds, belongs to a process that died. */
const abandonedAfter = 30_000

export interface FileLock<E> {
  readonly fs: FileSystem.FileSystem
  /** The lock file. */
  readonly path: string
  /** How often to try again, 25 ms apart. */
  readonly retries: number
  /** Gets `AlreadyExists` when another process held the lock all the time. */
  readonly failed: (error: PlatformError) => E
}

export const withFileLock =
  <F>({ failed, fs, path, retries }: FileLock<F>) =>
  <A, E, R>(use: Effect.Effect<A, E, R>): Effect.Effect<A, E | F, R> => {
    const removeAbandoned = Effect.gen(function* () {
      const { mtime } = yield* fs.stat(path)
      const now = yield* Clock.currentTimeMillis
      if (Option.exists(mtime, (time) => now - time.getTime() > abandonedAfter)) yield* fs.remove(path)
    }).pipe(Effect.ignore)
    const isTaken = ({ reason }: PlatformError) => reason._tag === "AlreadyExists"
    const acquire = fs.writeFileString(path, "", { flag: "wx", mode: 0o600 }).pipe(
      Effect.tapError((error) => (isTaken(error) ? removeAbandoned : Effect.void)),
      Effect.retry({ while: isTaken, times: retries, schedule: Schedule.spaced(25) }),
      Effect.mapError(failed)
    )
    return Effect.acquireUseRelease(
      acquire,
      () => use,
      () => Effect.ignore(fs.remove(path))
    )
  }
