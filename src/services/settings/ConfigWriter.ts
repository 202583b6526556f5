/** Changes `config.toml` of the home folder: one process at a time, whole or not at all, and for its owner's eyes alone. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import type * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { withFileLock } from "../files/FileLock.ts"

/** The file is as it was. `message` says what to do. */
export class ConfigNotWritten extends Schema.TaggedError<ConfigNotWritten>()("ConfigNotWritten", {
  message: Schema.String
}) {}

/** Tries of 25 ms to get the lock of the file. */
const PATIENCE = 200

/** A change of the text of the file, which fails with what follows its path in a sentence. */
export type Edit = (text: string) => Result.Result<string, string>

/** Applies `edit`; a text that stays the same is not written. A link stays one, and the file that it leads to changes. */
export const changeConfig = Effect.fn("ConfigWriter.changeConfig")(function* (home: string, edit: Edit) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const path = paths.join(home, "config.toml")
  const lock = `${path}.lock`

  const unavailable = ({ reason }: PlatformError) =>
    new ConfigNotWritten({
      message: `${path} cannot be read or written (${reason._tag}); make it and its folder readable and writable for you`
    })
  const lockFailed = (error: PlatformError) =>
    error.reason._tag === "AlreadyExists"
      ? new ConfigNotWritten({
          message: `${path} is being changed by another process; try again, or delete ${lock} if none is running`
        })
      : unavailable(error)

  const write = (target: string, text: string) => {
    const temporary = `${target}.new`
    return Effect.scoped(
      Effect.gen(function* () {
        yield* Effect.ignore(fs.remove(temporary))
        const file = yield* fs.open(temporary, { flag: "wx", mode: 0o600 })
        yield* file.writeAll(new TextEncoder().encode(text))
        yield* file.sync
      })
    ).pipe(
      Effect.andThen(fs.rename(temporary, target)),
      Effect.onError(() => Effect.ignore(fs.remove(temporary)))
    )
  }

  const change = Effect.gen(function* () {
    const target = yield* Effect.orElseSucceed(fs.realPath(path), () => path)
    const before = yield* fs.readFileString(target).pipe(
      Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed("")),
      Effect.mapError(unavailable)
    )
    const after = yield* Effect.mapError(
      Effect.fromResult(edit(before)),
      (problem) => new ConfigNotWritten({ message: `${path} ${problem}` })
    )
    if (after !== before) yield* Effect.mapError(write(target, after), unavailable)
  })

  yield* Effect.mapError(fs.makeDirectory(home, { recursive: true, mode: 0o700 }), unavailable)
  yield* withFileLock({ fs, path: lock, retries: PATIENCE, failed: lockFailed })(change)
})
