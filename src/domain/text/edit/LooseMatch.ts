/**
 * Finds a piece whose lines differ from those of a text in nothing but indentation and blanks at their ends. Whole lines
 * only, and no other white space: a blank inside a line can be part of a string.
 */
import { reindent, relate, type Reindent } from "./Indentation.ts"
import type { Span } from "./Spans.ts"

/** `span` is in `text`. `relation` is undefined where the indentation has another shape, so that nothing may be put in. */
export interface LooseMatch {
  readonly span: Span
  /** From 1. */
  readonly line: number
  readonly relation: Reindent | undefined
}

const linesOf = (text: string): ReadonlyArray<string> => text.replace(/\n$/, "").split("\n")

/** Both with `\n` at the ends of their lines. A piece of blanks alone matches nothing. */
export const looseMatches = (text: string, piece: string): ReadonlyArray<LooseMatch> => {
  if (piece.trim() === "") return []
  const wanted = linesOf(piece)
  const trimmed = wanted.map((line) => line.trim())
  const lines = text.split("\n")
  const bare = lines.map((line) => line.trim())
  const found: Array<LooseMatch> = []
  let start = 0
  for (const [index, line] of lines.entries()) {
    if (trimmed.every((other, offset) => bare[index + offset] === other)) {
      const own = lines.slice(index, index + wanted.length)
      const length = own.join("\n").length
      const isClosed = piece.endsWith("\n") && start + length < text.length
      found.push({
        span: { start, end: start + length + (isClosed ? 1 : 0) },
        line: index + 1,
        relation: relate(wanted, own)
      })
    }
    start += line.length + 1
  }
  return found
}

/** What takes the place of a loose match: `newText` with the indentation of the file. */
export const looseReplacement = (relation: Reindent, newText: string): string =>
  reindent(relation, newText.split("\n")).join("\n")
