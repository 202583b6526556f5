/** Which files a folder has that a command may change and a person cares for: those that `.gitignore` does not name. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import { typeOf } from "../../domain/session/Changes.ts"
import { makeIgnoreRules } from "../files/IgnoreRules.ts"
import { type Git, type Repository, tooLarge } from "./Git.ts"
import { mayBeOdd, noteIn, noteNames } from "./OddNames.ts"
import { type Stat, statAll } from "./Stat.ts"
import type { Unaffordable } from "./Unaffordable.ts"

/** Files that are looked at before and after a command. Without git each of them is read and copied once. */
const GIT_LIMIT = 50_000
const WALK_LIMIT = 5_000

/** Folders that are walked through without git. */
const FOLDER_LIMIT = 5_000

/** Files and links by their absolute paths, and the repositories that some of them are in. */
export interface Listing {
  readonly files: ReadonlyMap<string, Stat>
  /** What has a name that is not UTF-8: by its path, escaped for a person, something that changes with it. */
  readonly odd: ReadonlyMap<string, string>
  readonly repositories: ReadonlyArray<Repository>
}

export type List = (folder: string) => Effect.Effect<Listing, Unaffordable>

export const makeListing =
  (fs: FileSystem.FileSystem, paths: Path.Path, git: Git): List =>
  (root) =>
    Effect.gen(function* () {
      const files = new Map<string, Stat>()
      const odd = new Map<string, string>()
      const repositories: Array<Repository> = []
      const rules = makeIgnoreRules(fs, paths)
      let folders = 0

      /** Notes files and links, and gives the folders. */
      const look = Effect.fnUntraced(function* (found: ReadonlyArray<string>) {
        const inside: Array<string> = []
        for (const [path, stat] of yield* statAll(found)) {
          const type = typeOf(stat)
          if (type === "folder") inside.push(path)
          else if (type !== "other") files.set(path, stat)
        }
        return inside
      })

      /** The repository that begins in a folder, if one does. */
      const beginning = (folder: string) =>
        Effect.flatMap(
          Effect.orElseSucceed(fs.exists(paths.join(folder, ".git")), () => false),
          (found) => (found ? git.repositoryOf(folder) : Effect.undefined)
        )

      const viaGit = Effect.fnUntraced(function* (
        folder: string,
        repository: Repository
      ): Effect.fn.Return<void, Unaffordable> {
        repositories.push(repository)
        const { names, odd: strange } = yield* git.files(folder, Math.max(GIT_LIMIT - files.size, 0))
        yield* noteNames(odd, folder, strange)
        // Git names a repository inside of another one, and does not look into it.
        for (const inside of yield* look(names.map((name) => paths.join(folder, name.replace(/\/$/, ""))))) {
          const nested = yield* beginning(inside)
          if (nested !== undefined) yield* viaGit(inside, nested)
        }
      })

      const walk = Effect.fnUntraced(function* (folder: string): Effect.fn.Return<void, Unaffordable> {
        if (++folders > FOLDER_LIMIT) {
          return yield* tooLarge(`${FOLDER_LIMIT} folders and is in no git repository`)
        }
        const entries = yield* Effect.orElseSucceed(fs.readDirectoryEntries(folder), () => [])
        const visible = yield* Effect.filter(
          entries.filter(({ name }) => name !== ".git"),
          ({ name, type }) =>
            Effect.map(rules.ignores(paths.join(folder, name), type === "Directory"), (ignored) => !ignored)
        )
        if (visible.some(({ name }) => mayBeOdd(name))) yield* noteIn(odd, folder)
        const inside = yield* look(visible.map(({ name }) => paths.join(folder, name)))
        if (files.size > WALK_LIMIT && repositories.length === 0) return yield* tooLarge(`${WALK_LIMIT} files`)
        for (const path of inside) {
          const repository = yield* beginning(path)
          yield* repository === undefined ? walk(path) : viaGit(path, repository)
        }
      })

      const repository = yield* git.repositoryOf(root)
      yield* repository === undefined ? walk(root) : viaGit(root, repository)
      return { files, odd, repositories }
    })
