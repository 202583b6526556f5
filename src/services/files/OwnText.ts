/** The text of a small file of the agent's own: changed atomically by one process at a time, readable by its owner alone. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { uniqueName, withFileLock } from "./FileLock.ts"

/** The file could not be read or written, and is as it was. `message` says what to do. */
export class OwnFileFailed extends Schema.TaggedError<OwnFileFailed>()("OwnFileFailed", {
  reason: Schema.Literals(["damaged", "locked", "unavailable"]),
  message: Schema.String
}) {}

export interface ChangeOptions {
  /** Tries of 25 ms to get the lock of the file; default: 200. */
  readonly patience?: number
}

export interface OwnText {
  /** Undefined where there is no file. */
  readonly read: Effect.Effect<string | undefined, OwnFileFailed>
  /** What it fails with leaves the file as it was, and a text that stays the same is not written. */
  readonly attempt: <B, E>(
    apply: (text: string | undefined) => Effect.Effect<readonly [result: B, text: string], E>,
    options?: ChangeOptions
  ) => Effect.Effect<B, E | OwnFileFailed>
}

export interface OwnTextInput {
  readonly fs: FileSystem.FileSystem
  readonly paths: Path.Path
  /** Absolute; its folder is made when it is absent. */
  readonly path: string
  /** In bytes; a larger one is not read, and never written. Default: 4 MiB. */
  readonly largest?: number
  /** What is no plain file, too large, or no UTF-8: it could not be written back as it was. */
  readonly damaged: () => OwnFileFailed
}

const LARGEST = 4 * 1024 * 1024

/** A mark at the beginning stays. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const PATIENCE = 200

export const makeOwnText = ({ damaged, fs, largest = LARGEST, path, paths }: OwnTextInput): OwnText => {
  const oneAtATime = Semaphore.makeUnsafe(1)
  const lock = `${path}.lock`

  const full = () =>
    new OwnFileFailed({
      reason: "unavailable",
      message: `${path} was left as it is: it would have more than ${largest} bytes; remove what is not needed from it first`
    })
  const unavailable = ({ reason }: PlatformError) =>
    new OwnFileFailed({
      reason: "unavailable",
      message: `${path} cannot be read or written (${reason._tag}); make it and its folder readable and writable for you`
    })
  const lockFailed = (error: PlatformError) =>
    error.reason._tag === "AlreadyExists"
      ? new OwnFileFailed({
          reason: "locked",
          message: `${path} is being changed by another process; try again, or delete ${lock} if none is running`
        })
      : unavailable(error)

  const read = Effect.gen(function* () {
    const { size, type } = yield* fs.stat(path)
    // A pipe in its place would be waited for.
    if (type !== "File" || size > largest) return yield* damaged()
    const bytes = yield* fs.readFile(path)
    return yield* Effect.try({ try: () => decoder.decode(bytes), catch: damaged })
  }).pipe(
    Effect.catchTag("PlatformError", (error) =>
      error.reason._tag === "NotFound" ? Effect.undefined : Effect.fail(unavailable(error))
    )
  )

  // A name of its own: somebody who was taken for dead may still be writing, too.
  const write = Effect.fnUntraced(function* (text: string) {
    const bytes = new TextEncoder().encode(text)
    if (bytes.length > largest) return yield* full()
    const temporary = `${path}.${yield* uniqueName}`
    yield* Effect.scoped(
      Effect.gen(function* () {
        const file = yield* fs.open(temporary, { flag: "wx", mode: 0o600 })
        yield* file.writeAll(bytes)
        yield* file.sync
      })
    ).pipe(
      Effect.andThen(fs.rename(temporary, path)),
      Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true }))),
      Effect.mapError(unavailable)
    )
  })

  const attempt: OwnText["attempt"] = (apply, { patience = PATIENCE } = {}) =>
    Effect.mapError(fs.makeDirectory(paths.dirname(path), { recursive: true, mode: 0o700 }), unavailable).pipe(
      Effect.andThen(
        Effect.gen(function* () {
          const before = yield* read
          const [result, after] = yield* apply(before)
          if (after !== before) yield* write(after)
          return result
        }).pipe(withFileLock({ fs, path: lock, retries: patience, failed: lockFailed }))
      ),
      Semaphore.withPermit(oneAtATime)
    )

  return { read, attempt }
}
