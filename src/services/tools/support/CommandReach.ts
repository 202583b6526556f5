/** Where the words of a command that only reads really lead, so that no link takes it out of the workspace (F89). */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import { isWithin } from "../../../domain/files/Paths.ts"
import { pathsRead } from "../../../domain/permission/ReadOnlyCommand.ts"
import { parseLine } from "../../../domain/permission/ShellLine.ts"
import { stemOf } from "../../../domain/permission/ShellPaths.ts"
import type { RealPaths } from "../../files/RealPath.ts"
import type { WorkspaceBounds } from "../../files/WorkspaceBounds.ts"
import { readableScratch, type Workspace } from "../../Workspace.ts"

/** Entries of folders that the patterns of one command are held against. Behind more of them anything may be. */
const LIMIT = 5_000

export interface CommandReach {
  /**
   * Real paths outside of the workspace that a link in it leads to, patterns of which that cannot be said, and what is
   * private below a folder that is gone through.
   */
  readonly outside: (command: string, workspace: Workspace) => Effect.Effect<ReadonlyArray<string>>
}

const isPattern = (name: string): boolean => /[*?[]/.test(name)

export const makeCommandReach = (
  fs: FileSystem.FileSystem,
  paths: Path.Path,
  realPaths: RealPaths,
  bounds: WorkspaceBounds
): CommandReach => ({
  outside: Effect.fnUntraced(function* (command, { cwd, roots, scratch }) {
    const isInside = yield* bounds.within([...roots, ...readableScratch(scratch)])
    const found = new Set<string>()
    let left = LIMIT

    /** A pattern stands for every entry, which asks too often rather than too seldom. */
    const expand = Effect.fnUntraced(function* (folder: string, pattern: string, rest: ReadonlyArray<string>) {
      const entries = yield* Effect.orElseSucceed(fs.readDirectoryEntries(folder), () => [])
      left -= entries.length
      if (left < 0) {
        found.add(paths.join(folder, pattern))
        return
      }
      const leading = entries.filter(({ type }) => type === "SymbolicLink" || (type === "Directory" && rest.length > 0))
      yield* Effect.forEach(leading, ({ name }) => follow(paths.join(folder, name), rest), { discard: true })
    })

    /** Every place on the way counts: `..` behind a link is not the folder that holds the link. */
    const follow = Effect.fnUntraced(function* (
      place: string,
      [name, ...rest]: ReadonlyArray<string>
    ): Effect.fn.Return<void> {
      const real = yield* realPaths.resolve(place)
      if (!isInside(real)) found.add(real)
      else if (name !== undefined) {
        yield* isPattern(name) ? expand(real, name, rest) : follow(paths.join(real, name), rest)
      }
    })

    const { deep, named } = pathsRead(parseLine(command), cwd, { cwd, roots })
    for (const path of new Set(named)) {
      const root = roots.find((folder) => isWithin(folder, path)) ?? cwd
      yield* follow(
        root,
        path
          .slice(root.length)
          .split("/")
          .filter((name) => name !== "" && name !== ".")
      )
    }
    for (const path of new Set(deep)) {
      const folder = isPattern(path) ? stemOf(path) : path
      const { present } = yield* bounds.closedBelow(yield* realPaths.resolve(folder))
      for (const place of present) found.add(place)
    }
    return [...found]
  })
})
