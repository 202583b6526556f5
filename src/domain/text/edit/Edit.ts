/**
 * Replacing a piece of a text: exactly, else where only white space around its lines differs and one place alone comes
 * into question. A piece with Unix line ends also matches where the file has others, and what is put in takes the line
 * ends of what it replaces; everything else keeps every character.
 */
import { type LineEnding, lineEnding, linesAt, toUnix, withLineEnding } from "../LineEnding.ts"
import { looseMatches, looseReplacement } from "./LooseMatch.ts"
import { occurrences, offsetsIn, splice, type Span } from "./Spans.ts"

export interface Replacement {
  readonly oldText: string
  readonly newText: string
  /** Every occurrence; else there must be exactly one. */
  readonly all: boolean
}

/** Lines count from 1. `firstLine` is in the old text. `loose`: white space was not as it was given. */
export type EditResult =
  | {
      readonly _tag: "Edited"
      readonly text: string
      readonly count: number
      readonly firstLine: number
      readonly loose: boolean
    }
  | { readonly _tag: "Ambiguous"; readonly lines: ReadonlyArray<number>; readonly loose: boolean }
  | { readonly _tag: "Missing"; readonly hint: string }

const endingOf = (old: string, fallback: LineEnding): LineEnding => (/[\n\r]/.test(old) ? lineEnding(old) : fallback)

/** Why a piece that looks right does not match. */
const hintFor = (piece: string): string =>
  piece.split("\n").every((line) => /^\s*\d+\t/.test(line))
    ? "It seems to hold the line numbers of read: leave them out."
    : "Read the file again and copy the text exactly."

/** A text that is searched with `\n` at the ends of its lines, and the way back to its own offsets. */
const searchable = (text: string, piece: string) => {
  const ending = lineEnding(text)
  const exact = piece.includes("\r") || (ending !== "\r" && !text.includes("\r\n"))
  const same = (offset: number) => offset
  return {
    exact,
    searched: exact ? text : toUnix(text),
    offsetsOf: () => (exact || ending === "\r" ? same : offsetsIn(text))
  }
}

const editLoosely = (text: string, { newText, oldText }: Replacement): EditResult => {
  const piece = toUnix(oldText)
  const searched = toUnix(text)
  const matches = looseMatches(searched, piece)
  const [match] = matches
  if (match === undefined) return { _tag: "Missing", hint: hintFor(piece) }
  if (matches.length > 1) return { _tag: "Ambiguous", lines: matches.map(({ line }) => line), loose: true }
  const { line, relation, span } = match
  if (relation === undefined) {
    const last = line + searched.slice(span.start, span.end).replace(/\n$/, "").split("\n").length - 1
    return { _tag: "Missing", hint: `Lines ${line}-${last} differ from it in white space only: copy them exactly.` }
  }
  const offsetOf = lineEnding(text) === "\r" ? (offset: number) => offset : offsetsIn(text)
  const start = offsetOf(span.start)
  const fallback = lineEnding(text)
  // A last line without a line end does not get one.
  const isOpen = piece.endsWith("\n") && !searched.slice(0, span.end).endsWith("\n")
  const written = looseReplacement(relation, isOpen ? toUnix(newText).replace(/\n$/, "") : toUnix(newText))
  return {
    _tag: "Edited",
    text: splice(text, [{ start, end: offsetOf(span.end) }], (old) => withLineEnding(written, endingOf(old, fallback))),
    count: 1,
    firstLine: line,
    loose: true
  }
}

/** `oldText` must not be empty. */
export const edit = (text: string, replacement: Replacement): EditResult => {
  const { all, newText, oldText } = replacement
  const { exact, offsetsOf, searched } = searchable(text, oldText)
  const found = occurrences(searched, oldText, 1)
  const [first] = found
  if (first === undefined) return editLoosely(text, replacement)
  if (found.length > 1 && !all) return { _tag: "Ambiguous", lines: linesAt(searched, found), loose: false }
  const offsetOf = offsetsOf()
  const spans = occurrences(searched, oldText, oldText.length).map((start): Span => ({
    start: offsetOf(start),
    end: offsetOf(start + oldText.length)
  }))
  const fallback = lineEnding(text)
  return {
    _tag: "Edited",
    text: splice(text, spans, (old) => (exact ? newText : withLineEnding(newText, endingOf(old, fallback)))),
    count: spans.length,
    firstLine: linesAt(searched, [first])[0] ?? 1,
    loose: false
  }
}
