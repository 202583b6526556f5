/** What a patch says about files, whatever form it was written in. */
import * as Schema from "effect/Schema"

/** `isOpen`: no line end follows, since the file ends there. `text` holds a `\r` only where the patch speaks of it. */
export interface PatchLine {
  readonly tag: " " | "-" | "+"
  readonly text: string
  readonly isOpen: boolean
}

/** `at` is the line of the patch that it begins in, from 1. */
export interface Hunk {
  /** The line of the old file that it says it begins in, from 1; 0: of nothing. Absent: it does not say. */
  readonly start?: number
  /** Lines that come before it, one after another, such as the head of a function. */
  readonly anchors: ReadonlyArray<string>
  /** It ends where the file ends. */
  readonly atEnd: boolean
  readonly lines: ReadonlyArray<PatchLine>
  readonly at: number
}

/** `from` is null for a file that is new, `to` for one that goes. Both are names as the patch writes them. */
export interface FilePatch {
  readonly from: string | null
  readonly to: string | null
  /** The old file stays beside the new one. */
  readonly isCopy: boolean
  /** A name that differs is meant as a new name, and not as an old copy of the file. */
  readonly isRename: boolean
  /** The file goes whatever it holds. */
  readonly isWhole: boolean
  /** Whether the file may be run afterwards; absent: as before. */
  readonly executable?: boolean
  readonly hunks: ReadonlyArray<Hunk>
  /** From 1. */
  readonly at: number
}

/** The patch cannot be understood, or does not fit. `message` names file, hunk and line, and what to do. */
export class PatchFailed extends Schema.TaggedError<PatchFailed>()("PatchFailed", { message: Schema.String }) {}
