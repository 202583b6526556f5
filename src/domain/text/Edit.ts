/**
 * Replacing a piece of a text, exactly. A piece with Unix line ends also matches where the file has `\r\n`, and what is
 * put in takes the line ends of what it replaces; everything else keeps every character.
 */
import { type LineEnding, lineEnding, linesAt, toUnix, withLineEnding } from "./LineEnding.ts"

export interface Replacement {
  readonly oldText: string
  readonly newText: string
  /** Every occurrence; else there must be exactly one. */
  readonly all: boolean
}

/** Lines count from 1. `firstLine` is in the old text. */
export type EditResult =
  | { readonly _tag: "Edited"; readonly text: string; readonly count: number; readonly firstLine: number }
  | { readonly _tag: "Ambiguous"; readonly lines: ReadonlyArray<number> }
  | { readonly _tag: "Missing"; readonly hint: string }

interface Span {
  readonly start: number
  readonly end: number
}

/** Where `piece` begins in `text`, each at least `step` characters after the last. */
const occurrences = (text: string, piece: string, step: number): ReadonlyArray<number> => {
  const starts: Array<number> = []
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + step)) starts.push(at)
  return starts
}

/** Turns ascending offsets of `toUnix(text)` into offsets of `text`. */
const offsetsIn = (text: string): ((offset: number) => number) => {
  let removed = 0
  let next = text.indexOf("\r\n")
  return (offset) => {
    while (next !== -1 && next - removed < offset) {
      removed++
      next = text.indexOf("\r\n", next + 2)
    }
    return offset + removed
  }
}

const spansOf = (text: string, starts: ReadonlyArray<number>, length: number, exact: boolean): ReadonlyArray<Span> => {
  const map = exact ? (offset: number) => offset : offsetsIn(text)
  return starts.map((start) => ({ start: map(start), end: map(start + length) }))
}

const splice = (text: string, spans: ReadonlyArray<Span>, replacement: (old: string) => string): string => {
  const parts: Array<string> = []
  let from = 0
  for (const { start, end } of spans) {
    parts.push(text.slice(from, start), replacement(text.slice(start, end)))
    from = end
  }
  return parts.join("") + text.slice(from)
}

const endingOf = (old: string, fallback: LineEnding): LineEnding => (old.includes("\n") ? lineEnding(old) : fallback)

/** Lines without the white space around them, each between two line ends. */
const trimmed = (text: string): string =>
  `\n${text
    .split("\n")
    .map((line) => line.trim())
    .join("\n")}\n`

/** Why a piece that looks right does not match. */
const hintFor = (text: string, piece: string): string => {
  const lines = piece.split("\n")
  if (lines.every((line) => /^\s*\d+\t/.test(line))) return "It seems to hold the line numbers of read: leave them out."
  const present = trimmed(text)
  const at = present.indexOf(trimmed(piece))
  if (at === -1) return "Read the file again and copy the text exactly."
  const [line = 1] = linesAt(present, [at])
  return `Lines ${line}-${line + lines.length - 1} differ from it in white space only: copy them exactly.`
}

/** `oldText` must not be empty. */
export const edit = (text: string, { oldText, newText, all }: Replacement): EditResult => {
  const exact = !text.includes("\r\n") || oldText.includes("\r")
  const searched = exact ? text : toUnix(text)
  const found = occurrences(searched, oldText, 1)
  const [first] = found
  if (first === undefined) return { _tag: "Missing", hint: hintFor(toUnix(text), toUnix(oldText)) }
  if (found.length > 1 && !all) return { _tag: "Ambiguous", lines: linesAt(searched, found) }
  const spans = spansOf(text, occurrences(searched, oldText, oldText.length), oldText.length, exact)
  const fallback = lineEnding(text)
  return {
    _tag: "Edited",
    text: splice(text, spans, (old) => (exact ? newText : withLineEnding(newText, endingOf(old, fallback)))),
    count: spans.length,
    firstLine: linesAt(searched, [first])[0] ?? 1
  }
}
