/** A page of a text that comes in pieces, by lines, in bounded memory (F93). */
import { whole } from "./Clip.ts"

/** `lines` and `characters` bound a page; a longer line than `width` characters is cut. */
export interface PageLimits {
  readonly lines: number
  readonly characters: number
  readonly width: number
}

export interface Page {
  readonly limits: PageLimits
  readonly lines: ReadonlyArray<string>
  readonly characters: number
  /** The line that has not ended yet, as far as it is kept, and how much of it was not. */
  readonly open: string
  readonly dropped: number
  /** Nothing more fits: another line began after the last one that is kept. */
  readonly full: boolean
}

export const emptyPage = (limits: PageLimits): Page => ({
  limits,
  lines: [],
  characters: 0,
  open: "",
  dropped: 0,
  full: false
})

const cutNote = (dropped: number): string => (dropped === 0 ? "" : ` [… ${dropped} characters of this line left out]`)

const lengthen = (page: Page, piece: string): Page => {
  const room = page.limits.width - page.open.length
  return { ...page, open: page.open + piece.slice(0, room), dropped: page.dropped + Math.max(0, piece.length - room) }
}

const isFull = ({ limits, lines, characters }: Page): boolean =>
  lines.length >= limits.lines || characters >= limits.characters

const endLine = (page: Page): Page => {
  const kept = page.dropped === 0 ? page.open.replace(/\r$/, "") : whole(page.open)
  const line = kept + cutNote(page.dropped === 0 ? 0 : page.dropped + page.open.length - kept.length)
  const lines = [...page.lines, line]
  return { ...page, lines, characters: page.characters + line.length + 1, open: "", dropped: 0 }
}

/** Adds a piece; a full page stays as it is. */
export const addText = (page: Page, piece: string): Page => {
  let next = page
  let from = 0
  while (from < piece.length && !next.full) {
    if (isFull(next)) return { ...next, full: true }
    const end = piece.indexOf("\n", from)
    next = lengthen(next, piece.slice(from, end === -1 ? undefined : end))
    if (end === -1) return next
    next = endLine(next)
    from = end + 1
  }
  return next
}

/** The text ended: a last line without a line end counts too. */
export const endPage = (page: Page): Page =>
  page.full || (page.open === "" && page.dropped === 0) ? page : endLine(page)

/** Lines with their numbers, as the model reads them. */
export const numbered = (lines: ReadonlyArray<string>, first: number): string =>
  lines.map((line, index) => `${String(first + index).padStart(6)}\t${line}`).join("\n")

/** Lines of a whole text; a final line end begins no line. */
export const countLines = (text: string): number => {
  let count = 0
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++
  return text === "" || text.endsWith("\n") ? count : count + 1
}

/** Where line `line`, from 1, begins; undefined when there are fewer. */
export const lineStart = (text: string, line: number): number | undefined => {
  let start = 0
  for (let passed = 1; passed < line; passed++) {
    const end = text.indexOf("\n", start)
    if (end === -1) return undefined
    start = end + 1
  }
  return start < text.length ? start : undefined
}
