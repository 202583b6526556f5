/**
 * What files named `.gitignore`, `.ignore` and `.rgignore`, and the `info/exclude` of a repository, leave out. Of each
 * kind the nearest file that says something counts; a kind further to the right of `.gitignore` counts before it. Above
 * the folder of a repository its `.gitignore` files end, as they do for git.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import { type GitIgnore, parseGitIgnore } from "../../domain/files/GitIgnore.ts"

export interface IgnoreRules {
  /** `path` is absolute; its parents are taken as searched. */
  readonly ignores: (path: string, isFolder: boolean) => Effect.Effect<boolean>
}

/** In bytes: a longer file holds no rules that anybody wrote. */
const SIZE_LIMIT = 1024 * 1024

/** From the one that counts first. */
const kinds = [".rgignore", ".ignore", ".gitignore", ".git/info/exclude"] as const
type Kind = (typeof kinds)[number]

interface Folder {
  readonly rules: ReadonlyMap<Kind, GitIgnore>
  readonly isRepository: boolean
}

const isOfGit = (kind: Kind): boolean => kind === ".gitignore" || kind === ".git/info/exclude"

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
    const rules = new Map<Kind, GitIgnore>()
    for (const kind of kinds) {
      const text = yield* read(paths.join(folder, kind))
      if (text !== "") rules.set(kind, parseGitIgnore(text.replace(/^\ufeff/, "")))
    }
    const isRepository = yield* Effect.orElseSucceed(fs.exists(paths.join(folder, ".git")), () => false)
    return { rules, isRepository } satisfies Folder
  })

  const loaded = new Map<string, Folder>()
  const folderOf = Effect.fnUntraced(function* (folder: string) {
    const known = loaded.get(folder) ?? (yield* load(folder))
    loaded.set(folder, known)
    return known
  })

  const ignores = Effect.fnUntraced(function* (path: string, isFolder: boolean) {
    const verdicts = new Map<Kind, boolean>()
    let isLeft = false
    for (let folder = paths.dirname(path); ; folder = paths.dirname(folder)) {
      const { isRepository, rules } = yield* folderOf(folder)
      for (const [kind, rule] of rules) {
        if (verdicts.has(kind) || (isLeft && isOfGit(kind))) continue
        const verdict = rule(paths.relative(folder, path), isFolder)
        if (verdict !== undefined) verdicts.set(kind, verdict)
      }
      isLeft ||= isRepository
      if (folder === paths.dirname(folder)) break
    }
    return kinds.map((kind) => verdicts.get(kind)).find((verdict) => verdict !== undefined) ?? false
  })

  return { ignores }
}
