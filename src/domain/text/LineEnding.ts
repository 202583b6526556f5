/** Line ends: a file keeps its own, whatever the model writes. */

export type LineEnding = "\n" | "\r\n"

/** What most lines end with; `\n` for a text of one line. */
export const lineEnding = (text: string): LineEnding => {
  const windows = text.split("\r\n").length - 1
  const all = text.split("\n").length - 1
  return windows * 2 > all ? "\r\n" : "\n"
}

export const toUnix = (text: string): string => text.replaceAll("\r\n", "\n")

/** Leaves a text that brings its own `\r\n` as it is. */
export const withLineEnding = (text: string, ending: LineEnding): string =>
  ending === "\n" || text.includes("\r\n") ? text : text.replaceAll("\n", "\r\n")

/** The lines, from 1, that hold the characters at ascending offsets. Goes through the text once. */
export const linesAt = (text: string, offsets: ReadonlyArray<number>): ReadonlyArray<number> => {
  let line = 1
  let next = text.indexOf("\n")
  return offsets.map((offset) => {
    for (; next !== -1 && next < offset; next = text.indexOf("\n", next + 1)) line++
    return line
  })
}
