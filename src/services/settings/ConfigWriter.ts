/** Changes `config.toml` of the home folder: one process at a time, whole or not at all, and for its owner's eyes alone. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { makeOwnText, OwnFileFailed } from "../files/OwnText.ts"

/** The file is as it was, since the change cannot be made in it. `message` says what to do. */
export class ConfigNotWritten extends Schema.TaggedError<ConfigNotWritten>()("ConfigNotWritten", {
  message: Schema.String
}) {}

/** A change of the text of the file, which fails with what follows its path in a sentence. */
export type Edit = (text: string) => Result.Result<string, string>

/** Applies `edit`; a text that stays the same is not written. A link stays one, and the file that it leads to changes. */
export const changeConfig = Effect.fn("ConfigWriter.changeConfig")(function* (home: string, edit: Edit) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const path = paths.join(home, "config.toml")
  const file = makeOwnText({
    fs,
    paths,
    path: yield* Effect.orElseSucceed(fs.realPath(path), () => path),
    damaged: () => new OwnFileFailed({ reason: "damaged", message: `${path} is too large to be changed; shorten it` })
  })
  yield* file.attempt((text = "") =>
    Effect.fromResult(
      Result.mapBoth(edit(text), {
        onSuccess: (made) => [undefined, made] as const,
        onFailure: (problem) => new ConfigNotWritten({ message: `${path} ${problem}` })
      })
    )
  )
})
