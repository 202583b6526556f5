/** A small file of the agent's own: decoded whole, changed atomically by one process at a time, readable by its owner alone. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { withFileLock } from "./FileLock.ts"

/** The file could not be read or written, and is as it was. `message` says what to do. */
export class OwnFileFailed extends Schema.TaggedError<OwnFileFailed>()("OwnFileFailed", {
  reason: Schema.Literals(["damaged", "locked", "unavailable"]),
  message: Schema.String
}) {}

export interface OwnFile<A> {
  /** `empty` where there is no file. */
  readonly read: Effect.Effect<A, OwnFileFailed>
  readonly change: <B>(apply: (value: A) => readonly [result: B, value: A]) => Effect.Effect<B, OwnFileFailed>
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
}

/** In bytes. */
const LARGEST = 4n * 1024n * 1024n

/** Tries of 25 ms to get the lock of the file. */
const PATIENCE = 200

export const makeOwnFile = <A>({ empty, fs, path, paths, schema, what }: OwnFileInput<A>): OwnFile<A> => {
  const oneAtATime = Semaphore.makeUnsafe(1)
  const lock = `${path}.lock`
  const temporary = `${path}.new`
  const decode = Schema.decodeUnknownEffect(schema)
  const encode = Schema.encodeEffect(schema)

  const damaged = () =>
    new OwnFileFailed({
      reason: "damaged",
      message: `${path} is no ${what} and was left as it is; restore it from a copy, or move it away`
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

  // The lock makes the name of the new file ours alone; what a killed process left of one is overwritten.
  const write = Effect.fnUntraced(function* (value: A) {
    const text = yield* Effect.orDie(encode(value))
    yield* Effect.scoped(
      Effect.gen(function* () {
        const file = yield* fs.open(temporary, { flag: "w", mode: 0o600 })
        yield* file.writeAll(new TextEncoder().encode(text))
        yield* file.sync
      })
    ).pipe(
      Effect.andThen(fs.rename(temporary, path)),
      Effect.onError(() => Effect.ignore(fs.remove(temporary)))
    )
  })

  return {
    read,
    change: (apply) =>
      Effect.gen(function* () {
        yield* fs.makeDirectory(paths.dirname(path), { recursive: true, mode: 0o700 })
        const changed = Effect.gen(function* () {
          const [result, value] = apply(yield* read)
          yield* Effect.mapError(write(value), unavailable)
          return result
        })
        return yield* changed.pipe(withFileLock({ fs, path: lock, retries: PATIENCE, failed: lockFailed }))
      }).pipe(
        Effect.catchTag("PlatformError", (error) => Effect.fail(unavailable(error))),
        Semaphore.withPermit(oneAtATime)
      )
  }
}
