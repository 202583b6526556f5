/** Pieces of a text by their offsets. */

/** `end` is behind the last character. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Where `piece` begins in `text`, each at least `step` characters after the last. */
export const occurrences = (text: string, piece: string, step: number): ReadonlyArray<number> => {
  const starts: Array<number> = []
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + step)) starts.push(at)
  return starts
}

/** Turns ascending offsets of `text` with `\n` for every `\r\n` into offsets of `text`. */
export const offsetsIn = (text: string): ((offset: number) => number) => {
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

/** Puts something else in the place of ascending pieces, and keeps every character around them. */
export const splice = (
  text: string,
  spans: ReadonlyArray<Span>,
  replacement: (old: string, index: number) => string
): string => {
  const parts: Array<string> = []
  let from = 0
  for (const [index, { end, start }] of spans.entries()) {
    parts.push(text.slice(from, start), replacement(text.slice(start, end), index))
    from = end
  }
  return parts.join("") + text.slice(from)
}
