/** The files that a session changed: which versions there were, turn by turn, and what they come to. */
import * as Schema from "effect/Schema"

/**
 * A version of what a path names. `hash` is the SHA-256 of its bytes in hexadecimal (of a link: of its target; of a
 * folder: empty), `mode` the type and the permission bits as `stat` gives them, `size` in bytes.
 */
export const FileVersion = Schema.Struct({ hash: Schema.String, mode: Schema.Natural, size: Schema.Natural })
export type FileVersion = typeof FileVersion.Type

/** What became of one path; null where there is nothing. `path` is absolute and leads through no link. */
export const FileReplaced = Schema.Struct({
  path: Schema.String,
  before: Schema.NullOr(FileVersion),
  after: Schema.NullOr(FileVersion),
  /** By a command, which may have been told apart badly from what others did meanwhile. */
  byCommand: Schema.optionalKey(Schema.Literal(true))
})
export type FileReplaced = typeof FileReplaced.Type

/** Something at or below a path changed, or may have, and was not kept. `missed` is the reason, for a person. */
export const FileMissed = Schema.Struct({ path: Schema.String, missed: Schema.String })
export type FileMissed = typeof FileMissed.Type

export const FileChange = Schema.Union([FileReplaced, FileMissed])
export type FileChange = typeof FileChange.Type

/** What one turn changed, in order. Turns count from 1. */
export interface TurnChanges {
  readonly turn: number
  readonly changes: ReadonlyArray<FileChange>
}

const TYPE = 0o170000

export type FileType = "file" | "link" | "folder" | "other"

export const typeOf = ({ mode }: Pick<FileVersion, "mode">): FileType => {
  switch (mode & TYPE) {
    case 0o100000:
      return "file"
    case 0o120000:
      return "link"
    case 0o040000:
      return "folder"
    default:
      return "other"
  }
}

/** Folders are all the same, and so are the permissions of links, which mean nothing. */
export const isSameVersion = (one: FileVersion | null, other: FileVersion | null): boolean => {
  if (one === null || other === null) return one === other
  const type = typeOf(one)
  return type === typeOf(other) && one.hash === other.hash && (type !== "file" || one.mode === other.mode)
}

/** The changes of a turn with one more. */
export const withChange = (
  turns: ReadonlyArray<TurnChanges>,
  turn: number,
  change: FileChange
): ReadonlyArray<TurnChanges> => {
  const last = turns.at(-1)
  return last?.turn === turn
    ? [...turns.slice(0, -1), { turn, changes: [...last.changes, change] }]
    : [...turns, { turn, changes: [change] }]
}

/** Without the first `count` changes of a turn, which were taken back. What came after them stays. */
export const withoutChanges = (
  turns: ReadonlyArray<TurnChanges>,
  turn: number,
  count: number
): ReadonlyArray<TurnChanges> =>
  turns.flatMap((group) => {
    if (group.turn !== turn) return [group]
    const changes = group.changes.slice(count)
    return changes.length === 0 ? [] : [{ turn, changes }]
  })
