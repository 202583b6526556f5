/** What the changes of a turn, or of a whole session, come to. */
import { type FileChange, type FileMissed, type FileVersion, isSameVersion, typeOf } from "./Changes.ts"

/** What several changes of one path come to. */
export interface NetChange {
  readonly path: string
  readonly before: FileVersion | null
  readonly after: FileVersion | null
  /** Somebody else changed it between two of them. */
  readonly mixed: boolean
}

export interface Net {
  /** In the order in which they were changed first; those that are again what they were are left out. */
  readonly files: ReadonlyArray<NetChange>
  readonly missed: ReadonlyArray<FileMissed>
  readonly byCommand: boolean
}

/** Whether work of somebody else is between two versions. A folder holds none: what is in it counts by itself. */
const isBroken = (left: FileVersion | null, found: FileVersion | null): boolean =>
  !isSameVersion(left, found) && [left, found].some((version) => version !== null && typeOf(version) !== "folder")

export const netOf = (changes: ReadonlyArray<FileChange>): Net => {
  const files = new Map<string, NetChange>()
  const missed = new Map<string, FileMissed>()
  let byCommand = false
  for (const change of changes) {
    if ("missed" in change) {
      missed.set(`${change.path}\n${change.missed}`, change)
      continue
    }
    const { after, before, path } = change
    const earlier = files.get(path)
    byCommand ||= change.byCommand === true
    files.set(
      path,
      earlier === undefined
        ? { path, before, after, mixed: false }
        : { path, before: earlier.before, after, mixed: earlier.mixed || isBroken(earlier.after, before) }
    )
  }
  return {
    files: [...files.values()].filter(({ after, before }) => !isSameVersion(before, after)),
    missed: [...missed.values()],
    byCommand
  }
}
