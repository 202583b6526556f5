/**
 * Whether paths lead through no link, at a cost that does not grow with how deep they are: a folder that was found to be
 * real is known by its number, and a glance tells that it is still the same.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"

export interface RealFolders {
  /** Whether this is a folder, and neither it nor any folder that it is in is a link. Absolute and normalised. */
  readonly has: (folder: string) => Effect.Effect<boolean>
}

/**
 * For one act such as an undo, and no longer: that a folder was moved away and a link to it left in its place is not
 * seen by its number.
 */
export const makeRealFolders = (fs: FileSystem.FileSystem, paths: Path.Path): RealFolders => {
  const known = new Map<string, string>()

  /** Undefined for whatever is no folder. */
  const numberOf = (folder: string) =>
    Effect.orElseSucceed(
      Effect.map(fs.lstat(folder), ({ dev, ino, type }) =>
        type === "Directory" ? `${dev}.${Option.getOrElse(ino, () => "")}` : undefined
      ),
      () => undefined
    )

  return {
    has: Effect.fnUntraced(function* (folder) {
      /** Those on the way to one that is known. */
      const way: Array<readonly [folder: string, number: string]> = []
      for (let at = folder; ; at = paths.dirname(at)) {
        const number = yield* numberOf(at)
        if (number === undefined) return false
        if (known.get(at) === number) break
        way.push([at, number])
        if (at === paths.dirname(at)) break
      }
      for (const [at, number] of way) known.set(at, number)
      return true
    })
  }
}
