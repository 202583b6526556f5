/**
 * Where a path really leads: through every symlink, also for a file that does not exist yet. What lies in a workspace is
 * decided by this and never by the text of the path (F89).
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import { isWithin } from "../../domain/files/Paths.ts"

/** Links that lead to further links are followed this often. */
const LINK_LIMIT = 40

export interface RealPaths {
  /**
   * `path` is absolute. A `..` behind a link leaves the folder that the link led to, as it does for the system. Never
   * fails: what cannot be looked at counts as it is written.
   */
  readonly resolve: (path: string) => Effect.Effect<string>
  /** The same for many paths, each link looked at once. */
  readonly resolveAll: (paths: Iterable<string>) => Effect.Effect<ReadonlyMap<string, string>>
  /** Whether a real path lies in one of the folders, which may be links themselves. */
  readonly isInside: (folders: ReadonlyArray<string>, real: string) => Effect.Effect<boolean>
}

export const makeRealPaths = (fs: FileSystem.FileSystem, paths: Path.Path): RealPaths => {
  const makeTargets = () => {
    const known = new Map<string, Option.Option<string>>()
    return Effect.fnUntraced(function* (path: string) {
      const target = known.get(path) ?? (yield* Effect.option(fs.readLink(path)))
      known.set(path, target)
      return target
    })
  }

  // Name by name: what the platform offers takes `..` off the text of a link's target, and so ends up elsewhere.
  const follow = Effect.fnUntraced(function* (path: string, targetOf: ReturnType<typeof makeTargets>) {
    let real = paths.parse(path).root
    let left = LINK_LIMIT
    const ahead = path.slice(real.length).split(paths.sep).toReversed()
    for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
      if (name === "..") real = paths.dirname(real)
      else if (name !== "" && name !== ".") {
        const next = paths.join(real, name)
        const target = left === 0 ? Option.none() : yield* targetOf(next)
        if (Option.isNone(target)) real = next
        else {
          left -= 1
          const { root } = paths.parse(target.value)
          if (root !== "") real = root
          ahead.push(...target.value.slice(root.length).split(paths.sep).toReversed())
        }
      }
    }
    return real
  })

  const resolve = (path: string) => follow(path, makeTargets())

  return {
    resolve,
    resolveAll: Effect.fnUntraced(function* (wanted) {
      const targetOf = makeTargets()
      const found = new Map<string, string>()
      for (const path of wanted) found.set(path, yield* follow(path, targetOf))
      return found
    }),
    isInside: Effect.fnUntraced(function* (folders, real) {
      const roots = yield* Effect.forEach(folders, resolve)
      return roots.some((root) => isWithin(root, real))
    })
  }
}
