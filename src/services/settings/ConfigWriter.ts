/** Changes `config.toml` of the home folder: one process at a time, whole or not at all, and for its owner's eyes alone. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { makeOwnText, OwnFileFailed } from "../files/OwnText.ts"
import { largestFile, lookAt } from "./FileLook.ts"

/** The file is as it was, since the change cannot be made in it. `message` says what to do. */
export class ConfigNotWritten extends Schema.TaggedError<ConfigNotWritten>()("ConfigNotWritten", {
  message: Schema.String
}) {}

/** A change of the text of the file, which fails with what follows its path in a sentence. */
export type Edit = (text: string) => Result.Result<string, string>

const MARK = "\uFEFF"

const encoder = new TextEncoder()

/** The edit of what stands behind the mark that some editors begin a file with. */
const behindMark =
  (edit: Edit): Edit =>
  (text) => {
    const mark = text.startsWith(MARK) ? MARK : ""
    return Result.map(edit(text.slice(mark.length)), (made) => mark + made)
  }

/** The edit, unless its result would not be read. */
const withinBounds =
  (edit: Edit): Edit =>
  (text) =>
    Result.flatMap(edit(text), (made) => {
      const { length } = encoder.encode(made)
      return length > largestFile && made !== text
        ? Result.fail(`would have ${length} bytes, more than ${largestFile}; shorten it first`)
        : Result.succeed(made)
    })

/**
 * Applies `edit`; a text that stays the same is not written. A link stays one, and the file that it leads to changes. What
 * would not be read afterwards, or cannot be kept as it is, is refused: no plain file, one that is too large or no UTF-8.
 */
export const changeConfig = Effect.fn("ConfigWriter.changeConfig")(function* (home: string, edit: Edit) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const path = paths.join(home, "config.toml")
  const refused = (problem: string) => new ConfigNotWritten({ message: `${path} ${problem}` })
  const target = yield* fs.realPath(path).pipe(
    // A link to what is not there yet.
    Effect.catch(() => Effect.map(fs.readLink(path), (link) => paths.resolve(home, link))),
    Effect.orElseSucceed(() => path)
  )
  const seen = lookAt(target)
  if (seen._tag === "Unusable") return yield* refused(seen.problem)
  const file = makeOwnText({
    fs,
    paths,
    path: target,
    damaged: () => {
      const { message } = refused("is not UTF-8, as TOML has to be; save it as that first")
      return new OwnFileFailed({ reason: "damaged", message })
    }
  })
  const apply = withinBounds(behindMark(edit))
  yield* file.attempt((text = "") =>
    Effect.fromResult(
      Result.mapBoth(apply(text), { onSuccess: (made) => [undefined, made] as const, onFailure: refused })
    )
  )
})
