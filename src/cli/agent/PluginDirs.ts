/** The folders of `--plugin-dir`, before anything is served: one that is not there is told at once. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { Flags } from "../../services/Settings.ts"
import { explained } from "../Explained.ts"

/** A relative folder is meant from where the command was typed. */
export const withPluginDirs = Effect.fnUntraced(function* (flags: Flags) {
  if (flags.pluginDirs === undefined) return flags
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const pluginDirs = yield* Effect.forEach(flags.pluginDirs, (folder) => {
    const absolute = path.resolve(folder)
    return Effect.option(fs.stat(absolute)).pipe(
      Effect.filterOrFail(
        (info) => info._tag === "Some" && info.value.type === "Directory",
        () => new Error(`--plugin-dir ${folder}: ${absolute} is not a folder; name the folder of a plugin`)
      ),
      Effect.as(absolute),
      explained
    )
  })
  return { ...flags, pluginDirs } satisfies Flags
})
