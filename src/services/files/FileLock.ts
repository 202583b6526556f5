/**
 * Lets one process at a time change a file. The lock is a file beside it that only one of them can create; who holds it
 * stands in it, so that nobody removes the lock of another. Waiting for it can be interrupted.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Random from "effect/Random"

/** A change takes milliseconds: a lock of this age, in milliseconds, belongs to a process that died. */
const abandonedAfter = 30_000

/** In milliseconds. */
const BETWEEN_TRIES = 25

export interface FileLock<E> {
  readonly fs: FileSystem.FileSystem
  /** The lock file. */
  readonly path: string
  /** How often to try again, 25 ms apart. */
  readonly retries: number
  /** Gets `AlreadyExists` when another process held the lock all the time. */
  readonly failed: (error: PlatformError) => E
}

const isTaken = ({ reason }: PlatformError): boolean => reason._tag === "AlreadyExists"

/** A name that nobody else has at this moment. */
export const uniqueName: Effect.Effect<string> = Effect.map(
  Effect.all([Random.nextIntBetween(0, 2 ** 48), Random.nextIntBetween(0, 2 ** 48)]),
  (parts) => parts.map((part) => part.toString(36)).join("")
)

export const withFileLock =
  <F>({ failed, fs, path, retries }: FileLock<F>) =>
  <A, E, R>(use: Effect.Effect<A, E, R>): Effect.Effect<A, E | F, R> => {
    const create = (file: string, owner: string) => fs.writeFileString(file, owner, { flag: "wx", mode: 0o600 })

    const isAbandoned = Effect.fnUntraced(function* (file: string) {
      const { mtime } = yield* fs.stat(file)
      const now = yield* Clock.currentTimeMillis
      return Option.exists(mtime, (time) => now - time.getTime() > abandonedAfter)
    })

    /** One at a time, and looked at again: who comes second would remove the new lock of who came first. */
    const removeAbandoned = Effect.fnUntraced(
      function* (owner: string) {
        if (!(yield* isAbandoned(path))) return
        const guard = `${path}.guard`
        yield* create(guard, owner).pipe(
          Effect.tapError(() => Effect.flatMap(isAbandoned(guard), (old) => (old ? fs.remove(guard) : Effect.void)))
        )
        yield* Effect.ensuring(
          Effect.flatMap(isAbandoned(path), (old) => (old ? fs.remove(path) : Effect.void)),
          Effect.ignore(fs.remove(guard))
        )
      },
      (effect) => Effect.ignore(effect)
    )

    const release = (owner: string) =>
      Effect.ignore(
        Effect.flatMap(fs.readFileString(path), (holder) => (holder === owner ? fs.remove(path) : Effect.void))
      )

    return Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const owner = yield* uniqueName
        for (let left = retries; ; left--) {
          const problem = yield* Effect.match(create(path, owner), {
            onSuccess: () => undefined,
            onFailure: (it) => it
          })
          if (problem === undefined) break
          if (!isTaken(problem) || left <= 0) return yield* Effect.fail(failed(problem))
          yield* removeAbandoned(owner)
          // What is made is known to be made: only the time between two tries can be cut short.
          yield* restore(Effect.sleep(BETWEEN_TRIES))
        }
        return yield* Effect.ensuring(restore(use), release(owner))
      })
    )
  }
