/** Line ends: a file keeps its own, whatever the model writes. */

export type LineEnding = "\n" | "\r\n" | "\r"

/** What most lines end with; `\n` for a text of one line. A lone `\r` ends lines only where nothing else does. */
export const lineEnding = (text: string): LineEnding => {
  const windows = text.split("\r\n").length - 1
  const all = text.split("\n").length - 1
  if (all === 0) return text.includes("\r") ? "\r" : "\n"
  return windows * 2 > all ? "\r\n" : "\n"
}

export const toUnix = (text: string): string =>
  lineEnding(text) === "\r" ? text.replaceAll("\r", "\n") : text.replaceAll("\r\n", "\n")

/** Leaves a text that brings its own `\r` as it is. */
export const withLineEnding = (text: string, ending: LineEnding): string =>
  ending === "\n" || text.includes("\r") ? text : text.replaceAll("\n", ending)

/** The lines, from 1, that hold the characters at ascending offsets. Goes through the text once. */
export const linesAt = (text: string, offsets: ReadonlyArray<number>): ReadonlyArray<number> => {
  let line = 1
  let next = text.indexOf("\n")
  return offsets.map((offset) => {
    for (; next !== -1 && next < offset; next = text.indexOf("\n", next + 1)) line++
    return line
  })
}

/** A line, and what it ends with: nothing at the end of a text without a final line end. */
export interface Line {
  readonly text: string
  readonly ending: LineEnding | ""
}

/** Joined again they are the text. */
export const splitLines = (text: string): ReadonlyArray<Line> => {
  const separator = lineEnding(text) === "\r" ? "\r" : "\n"
  const parts = text.split(separator)
  const last = parts.pop() ?? ""
  const lines = parts.map((part): Line => {
    const isWindows = separator === "\n" && part.endsWith("\r")
    return { text: isWindows ? part.slice(0, -1) : part, ending: isWindows ? "\r\n" : separator }
  })
  return last === "" ? lines : [...lines, { text: last, ending: "" }]
}

export const joinLines = (lines: ReadonlyArray<Line>): string => lines.map(({ ending, text }) => text + ending).join("")

const isMixed = (text: string): boolean => text.includes("\r\n") && /(^|[^\r])\n/.test(text)

/**
 * A new text for a file, in the line ends of the old one. Where those are mixed, lines that stay at the start and at the
 * end keep their own. A text that brings `\r` is taken as it is.
 */
export const keepLineEndings = (old: string, text: string): string => {
  const written = withLineEnding(text, lineEnding(old))
  if (text.includes("\r") || !isMixed(old)) return written
  const before = splitLines(old)
  const after = splitLines(written)
  const length = Math.min(before.length, after.length)
  const same = (one: number, other: number) => before[one]?.text === after[other]?.text
  let start = 0
  while (start < length && same(start, start)) start++
  let end = 0
  while (end < length - start && same(before.length - 1 - end, after.length - 1 - end)) end++
  const kept = (line: Line, own: Line | undefined): Line =>
    own === undefined || own.ending === "" || line.ending === "" ? line : { ...line, ending: own.ending }
  return joinLines(
    after.map((line, index) => {
      if (index < start) return kept(line, before[index])
      return index < after.length - end ? line : kept(line, before[before.length - after.length + index])
    })
  )
}
