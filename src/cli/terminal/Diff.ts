/** What changes in a file, for a person to read. */
import * as TextDiff from "effect/TextDiff"

/** Lines that may differ before a change is shown as a whole: to find the shortest way takes ever longer. */
const MAX_EDITS = 1_000

export const diffOf = (file: string, before: string, after: string): string => {
  const lines = TextDiff.lines(before, after, { maxEdits: MAX_EDITS })
  return TextDiff.unified(lines, { fromFile: file, toFile: file }).replaceAll("\r", "").trimEnd()
}
