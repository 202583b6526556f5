/** Files for the output of commands that is too long to keep. They lie in the session's folder and go with it. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import * as Random from "effect/Random"
import { outputFolder } from "../../Workspace.ts"

/** Bytes that the files of one session may fill before another command starts; the oldest go first. */
const LIMIT = 1024 * 1024 * 1024

export interface SpillFiles {
  /** A path for the next command. Nothing is there yet. */
  readonly next: (scratch: string) => Effect.Effect<string>
}

/** Names begin with the time, so that they sort by age. */
const isSpill = (name: string): boolean => /^output-[0-9a-z]+-[0-9a-z]+\.txt$/.test(name)

export const makeSpillFiles = (fs: FileSystem.FileSystem, paths: Path.Path, limit: number = LIMIT): SpillFiles => {
  const makeRoom = Effect.fnUntraced(function* (folder: string) {
    const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), (): ReadonlyArray<string> => [])
    let left = limit
    for (const name of names.filter(isSpill).toSorted().toReversed()) {
      const path = paths.join(folder, name)
      const size = yield* Effect.orElseSucceed(
        Effect.map(fs.stat(path), (info) => Number(info.size)),
        () => 0
      )
      left -= size
      if (left < 0) yield* Effect.ignore(fs.remove(path, { force: true }))
    }
  })

  return {
    next: Effect.fnUntraced(function* (scratch) {
      const folder = outputFolder(scratch)
      yield* makeRoom(folder)
      const now = yield* Clock.currentTimeMillis
      const chance = yield* Random.nextIntBetween(0, 36 ** 4)
      return paths.join(folder, `output-${now.toString(36)}-${chance.toString(36)}.txt`)
    })
  }
}
