/** Where the files of agents lie: in the folders of a project, the nearest first, and in the person's own. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import { OWN_FOLDER } from "../project/OwnFolder.ts"

export interface AgentPlace {
  readonly scope: "project" | "user"
  readonly folder: string
  /** The real folder that no file of it may lead out of; absent for the person's own. */
  readonly root?: string
}

/** Folders from the one of the session up to the root of its project. */
const MOST_FOLDERS = 50

/** Looks wait for the disk, and do so side by side: each prompt begins with them. */
const atOnce = { concurrency: 8 }

export interface AgentPlaces {
  /** In the order in which they count. */
  readonly of: (cwd: string) => Effect.Effect<ReadonlyArray<AgentPlace>>
  /** Where new files go. */
  readonly forNew: (cwd: string, scope: AgentPlace["scope"]) => Effect.Effect<Required<AgentPlace>>
}

/** `home` is our own folder of the person, `person` the one around it, where it is known. */
export const makeAgentPlaces = (
  fs: FileSystem.FileSystem,
  paths: Path.Path,
  home: string,
  person: string | undefined
): AgentPlaces => {
  const realOf = (folder: string) => Effect.orElseSucceed(fs.realPath(folder), () => paths.resolve(folder))
  const isThere = (path: string) => Effect.orElseSucceed(fs.exists(path), () => false)

  /** From `cwd` up to the folder of its repository; without one, `cwd` alone. */
  const foldersOf = Effect.fnUntraced(function* (given: string) {
    const cwd = yield* realOf(given)
    const folders: Array<string> = []
    for (let at = cwd; folders.length < MOST_FOLDERS; at = paths.dirname(at)) {
      folders.push(at)
      if (yield* isThere(paths.join(at, ".git"))) return folders
      if (paths.dirname(at) === at) break
    }
    return [cwd]
  })

  const own: ReadonlyArray<string> = [
    paths.join(home, "agents"),
    ...(person === undefined ? [] : [paths.join(person, ".claude", "agents")])
  ]

  return {
    of: Effect.fnUntraced(function* (cwd) {
      const [folders, persons] = yield* Effect.all([foldersOf(cwd), Effect.forEach(own, realOf, atOnce)], atOnce)
      const root = folders.at(-1) ?? cwd
      const candidates = folders.flatMap((folder) =>
        [OWN_FOLDER, ".claude"].map((name) => paths.join(folder, name, "agents"))
      )
      const real = yield* Effect.forEach(candidates, realOf, atOnce)
      // Whoever works in their home folder has no project there.
      const places = candidates
        .filter((_, at) => !persons.includes(real[at] ?? ""))
        .map((folder): AgentPlace => ({ scope: "project", folder, root }))
      return [...places, ...own.map((folder): AgentPlace => ({ scope: "user", folder }))]
    }),
    forNew: Effect.fnUntraced(function* (cwd, scope) {
      if (scope === "user") return { scope, folder: paths.join(home, "agents"), root: yield* realOf(home) }
      const root = (yield* foldersOf(cwd)).at(-1) ?? cwd
      return { scope, folder: paths.join(root, OWN_FOLDER, "agents"), root }
    })
  }
}
