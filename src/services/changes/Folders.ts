/** The folders that a command made. Git does not know folders, and a person does not want the empty ones to stay. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import { isWithin } from "../../domain/files/Paths.ts"
import { typeOf } from "../../domain/session/Changes.ts"
import { type Stat, statAll } from "./Stat.ts"

/** Folders that are looked into for one command. */
const LIMIT = 500

/** Finds for files the innermost folder below the root, on the way to them, of which something holds. */
export const makeInnermost = (paths: Path.Path, root: string, holds: (folder: string) => boolean) => {
  const found = new Map<string, string | undefined>()
  return (file: string): string | undefined => {
    const way: Array<string> = []
    let at = paths.dirname(file)
    while (at !== root && isWithin(root, at) && !found.has(at) && !holds(at)) {
      way.push(at)
      at = paths.dirname(at)
    }
    const answer = found.has(at) ? found.get(at) : at !== root && isWithin(root, at) ? at : undefined
    for (const folder of way) found.set(folder, answer)
    return answer
  }
}

/** The folders of files, and the root. */
export const foldersOf = (paths: Path.Path, root: string, files: Iterable<string>): ReadonlySet<string> => {
  const folders = new Set([root])
  for (const file of files) {
    for (let at = paths.dirname(file); !folders.has(at) && isWithin(root, at); at = paths.dirname(at)) folders.add(at)
  }
  return folders
}

export interface FolderLook {
  /** Folders of files by their paths, the root among them. */
  readonly before: ReadonlyMap<string, Stat>
  readonly after: ReadonlyMap<string, Stat>
  /** When `before` was looked at, in milliseconds since 1970. */
  readonly since: number
}

/** Those that were made or moved to where they are: with files of `after`, or without any. */
export const newFolders = Effect.fnUntraced(function* (
  fs: FileSystem.FileSystem,
  paths: Path.Path,
  { after, before, since }: FolderLook
) {
  const made = new Map<string, Stat>()
  const known = new Set([...before.values()].map(({ inode }) => inode))
  let left = LIMIT

  const isNew = (stat: Stat) =>
    typeOf(stat) === "folder" && (stat.bornAt === 0 || stat.bornAt >= since || known.has(stat.inode))

  /** A new folder that holds nothing but such folders, and those. */
  const emptyTree = Effect.fnUntraced(function* (
    folder: string,
    stat: Stat
  ): Effect.fn.Return<ReadonlyArray<readonly [string, Stat]> | undefined> {
    if (--left < 0) return undefined
    const entries = yield* Effect.orElseSucceed(fs.readDirectoryEntries(folder), () => undefined)
    if (entries === undefined || entries.some(({ type }) => type !== "Directory")) return undefined
    const trees: Array<readonly [string, Stat]> = [[folder, stat]]
    for (const [path, inner] of yield* statAll(entries.map(({ name }) => paths.join(folder, name)))) {
      const tree = yield* emptyTree(path, inner)
      if (tree === undefined) return undefined
      trees.push(...tree)
    }
    return trees
  })

  for (const [folder, stat] of after) {
    if (!before.has(folder) && isNew(stat)) made.set(folder, stat)
    // An entry came or went; whether it was a folder without files is not known yet.
    if (stat.changedAt < since || --left < 0) continue
    const entries = yield* Effect.orElseSucceed(fs.readDirectoryEntries(folder), () => [])
    const inside = entries
      .filter(({ name, type }) => type === "Directory" && name !== ".git")
      .map(({ name }) => paths.join(folder, name))
      .filter((path) => !after.has(path) && !before.has(path))
    for (const [path, inner] of yield* statAll(inside)) {
      if (!isNew(inner)) continue
      for (const [empty, emptyStat] of (yield* emptyTree(path, inner)) ?? []) made.set(empty, emptyStat)
    }
  }
  return made
})
