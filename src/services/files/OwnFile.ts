/** A small file of the agent's own: decoded whole, changed atomically by one process at a time, readable by its owner alone. */
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

export interface OwnFile<A> {
  /** `empty` where there is no file. */
  readonly read: Effect.Effect<A, OwnFileFailed>
  readonly change: <B>(apply: (value: A) => readonly [result: B, value: A]) => Effect.Effect<B, OwnFileFailed>
  /** The same for a change that can turn out to be none: what it fails with leaves the file as it was. */
  readonly attempt: <B, E>(
    apply: (value: A) => Effect.Effect<readonly [result: B, value: A], E>,
    options?: ChangeOptions
  ) => Effect.Effect<B, E | OwnFileFailed>
}

export interface OwnFileInput<A> {
  readonly fs: FileSystem.FileSystem
  readonly paths: Path.Path
  /** Absolute; its folder is made when it is absent. */
  readonly path: string
  readonly schema: Schema.ConstraintCodec<A, string>
  readonly empty: A
  /** What it is, such as "list of remembered answers". */
  readonly what: string
  /** What to do after a damaged one was moved away, such as "create new tokens"; default: nothing. */
  readonly afterwards?: string
}

/** In bytes. */
const LARGEST = 4n * 1024n * 1024n

const PATIENCE = 200

export const makeOwnFile = <A>(input: OwnFileInput<A>): OwnFile<A> => {
  const { afterwards, empty, fs, path, paths, schema, what } = input
  const oneAtATime = Semaphore.makeUnsafe(1)
  const lock = `${path}.lock`
  const decode = Schema.decodeUnknownEffect(schema)
  const encode = Schema.encodeEffect(schema)

  const damaged = () =>
    new OwnFileFailed({
      reason: "damaged",
      message: `${path} is no ${what} and was left as it is; restore it from a copy, or move it away${afterwards === undefined ? "" : ` and ${afterwards}`}`
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
    const { size } = yield* fs.stat(path)
    if (size > LARGEST) return yield* damaged()
    return yield* decode(yield* fs.readFileString(path))
  }).pipe(
    Effect.catchTags({
      SchemaError: () => Effect.fail(damaged()),
      PlatformError: (error) =>
        error.reason._tag === "NotFound" ? Effect.succeed(empty) : Effect.fail(unavailable(error))
    })
  )

  // A name of its own: somebody who was taken for dead may still be writing, too.
  const write = Effect.fnUntraced(function* (value: A) {
    const text = yield* Effect.orDie(encode(value))
    const temporary = `${path}.${yield* uniqueName}`
    yield* Effect.scoped(
      Effect.gen(function* () {
        const file = yield* fs.open(temporary, { flag: "wx", mode: 0o600 })
        yield* file.writeAll(new TextEncoder().encode(text))
        yield* file.sync
      })
    ).pipe(
      Effect.andThen(fs.rename(temporary, path)),
      Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true })))
    )
  })

  const attempt: OwnFile<A>["attempt"] = (apply, { patience = PATIENCE } = {}) =>
    Effect.mapError(fs.makeDirectory(paths.dirname(path), { recursive: true, mode: 0o700 }), unavailable).pipe(
      Effect.andThen(
        Effect.gen(function* () {
          const [result, value] = yield* Effect.flatMap(read, apply)
          yield* Effect.mapError(write(value), unavailable)
          return result
        }).pipe(withFileLock({ fs, path: lock, retries: patience, failed: lockFailed }))
      ),
      Semaphore.withPermit(oneAtATime)
    )

  return { read, change: (apply) => attempt((value) => Effect.sync(() => apply(value))), attempt }
}
