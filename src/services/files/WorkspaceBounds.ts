/** Which files are those of a workspace on this machine: by where they really are, and without what is private. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import { closedFrom, inside } from "../../domain/files/Bounds.ts"
import { isWithin } from "../../domain/files/Paths.ts"
import type { RealPaths } from "./RealPath.ts"

/** What somebody who looks below a folder does not see. */
export interface Closed {
  /** A test for real paths. */
  readonly isClosed: (real: string) => boolean
  /** The real paths of what is private and lies below the folder. */
  readonly present: ReadonlyArray<string>
}

export interface WorkspaceBounds {
  /** A test for real paths: whether they lie in one of the folders, which may be links, and are not private there. */
  readonly within: (folders: ReadonlyArray<string>) => Effect.Effect<(real: string) => boolean>
  /** `real` is the real path of a folder. */
  readonly closedBelow: (real: string) => Effect.Effect<Closed>
}

/** `privates` are absolute names of what is private, there or not. */
export const makeWorkspaceBounds = (
  fs: FileSystem.FileSystem,
  realPaths: RealPaths,
  privates: ReadonlyArray<string>
): WorkspaceBounds => {
  const now = Effect.map(realPaths.resolveAll(privates), (found) => [...new Set(found.values())])
  return {
    within: Effect.fnUntraced(function* (folders) {
      const roots = yield* realPaths.resolveAll(folders)
      return inside([...roots.values()], yield* now)
    }),
    closedBelow: Effect.fnUntraced(function* (real) {
      const places = yield* now
      const isClosed = closedFrom(real, places)
      const present = yield* Effect.filter(
        places.filter((place) => isWithin(real, place) && isClosed(place)),
        (place) => Effect.orElseSucceed(fs.exists(place), () => false)
      )
      return { isClosed, present }
    })
  }
}
