/** `.gitignore` and `.ignore` files of a folder and all its parents; the nearest file that says something decides. */
import ignore from "ignore"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"

export interface IgnoreRules {
  /** `path` is absolute; its parents are taken as searched. */
  readonly ignores: (path: string, isFolder: boolean) => Effect.Effect<boolean>
}

/** In bytes: a longer file holds no rules that anybody wrote. */
const SIZE_LIMIT = 1024 * 1024

/** For one search: the rules of a folder are read once. */
export const makeIgnoreRules = (fs: FileSystem.FileSystem, paths: Path.Path): IgnoreRules => {
  const read = Effect.fnUntraced(
    function* (path: string) {
      const { size, type } = yield* fs.stat(path)
      // Opening a pipe would wait for a writer, and a device has no end.
      return type === "File" && size <= SIZE_LIMIT ? yield* fs.readFileString(path) : ""
    },
    Effect.orElseSucceed(() => "")
  )

  const load = Effect.fnUntraced(function* (folder: string) {
    const texts = yield* Effect.forEach([".gitignore", ".ignore"], (name) => read(paths.join(folder, name)))
    return texts.every((text) => text === "") ? undefined : ignore().add(texts.join("\n"))
  })

  const loaded = new Map<string, ReturnType<typeof ignore> | undefined>()
  const rulesOf = Effect.fnUntraced(function* (folder: string) {
    if (loaded.has(folder)) return loaded.get(folder)
    const rules = yield* load(folder)
    loaded.set(folder, rules)
    return rules
  })

  const decide = Effect.fnUntraced(function* (
    path: string,
    isFolder: boolean,
    folder: string
  ): Effect.fn.Return<boolean> {
    const rules = yield* rulesOf(folder)
    const verdict = rules?.test(paths.relative(folder, path) + (isFolder ? "/" : ""))
    if (verdict?.ignored === true) return true
    if (verdict?.unignored === true) return false
    const parent = paths.dirname(folder)
    return parent === folder ? false : yield* decide(path, isFolder, parent)
  })

  return { ignores: (path, isFolder) => decide(path, isFolder, paths.dirname(path)) }
}
