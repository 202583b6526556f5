/**
 * Where a path really leads: through every symlink, also for a file that does not exist yet. What lies in a workspace is
 * decided by this and never by the text of the path (F89).
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import { isWithin } from "../../domain/Paths.ts"

/** Links that lead to nothing are followed this often. */
const LINK_LIMIT = 40

export interface RealPaths {
  /** `path` is absolute and normalised. Never fails: what cannot be looked at counts as it is written. */
  readonly resolve: (path: string) => Effect.Effect<string>
  /** Whether a real path lies in one of the folders, which may be links themselves. */
  readonly isInside: (folders: ReadonlyArray<string>, real: string) => Effect.Effect<boolean>
}

export const makeRealPaths = (fs: FileSystem.FileSystem, paths: Path.Path): RealPaths => {
  const follow = Effect.fnUntraced(function* (path: string, left: number): Effect.fn.Return<string> {
    const real = yield* Effect.option(fs.realPath(path))
    if (Option.isSome(real)) return real.value
    const parent = paths.dirname(path)
    if (parent === path) return path
    const target = yield* Effect.option(fs.readLink(path))
    if (Option.isSome(target) && left > 0) {
      return yield* follow(paths.resolve(yield* follow(parent, left - 1), target.value), left - 1)
    }
    return paths.join(yield* follow(parent, left), paths.basename(path))
  })

  const resolve = (path: string) => follow(path, LINK_LIMIT)

  return {
    resolve,
    isInside: Effect.fnUntraced(function* (folders, real) {
      const roots = yield* Effect.forEach(folders, resolve)
      return roots.some((root) => isWithin(root, real))
    })
  }
}
