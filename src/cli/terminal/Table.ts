/** Rows in columns that fit the terminal. Where nobody looks, all of it, with a tab between the columns. */
import { plainLine } from "./Plain.ts"

/** `shrink`: what may be cut off, and at which end. What is not given is never cut. */
export interface Column {
  readonly title: string
  readonly cells: ReadonlyArray<string>
  readonly shrink?: "end" | "start"
}

const GAP = 2

/** The least that is left of a column, its mark included. */
const LEAST = 6

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u

const charWidth = (char: string): number => (/\p{Mn}|\p{Me}/u.test(char) ? 0 : WIDE.test(char) ? 2 : 1)

/** Cells of a terminal that a text takes. */
export const widthOf = (text: string): number => [...text].reduce((sum, char) => sum + charWidth(char), 0)

const cut = (text: string, width: number, end: "end" | "start"): string => {
  if (widthOf(text) <= width) return text
  const chars = end === "end" ? [...text] : [...text].toReversed()
  const kept: Array<string> = []
  let used = 1
  for (const char of chars) {
    used += charWidth(char)
    if (used > width) break
    kept.push(char)
  }
  return end === "end" ? `${kept.join("")}…` : `…${kept.toReversed().join("")}`
}

const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)))

/** How wide each column may be: what can shrink gives way, the widest first. */
const share = (
  columns: ReadonlyArray<Column>,
  natural: ReadonlyArray<number>,
  width: number
): ReadonlyArray<number> => {
  const widths = [...natural]
  const room = width - GAP * (columns.length - 1)
  for (;;) {
    const over = widths.reduce((sum, one) => sum + one, 0) - room
    if (over <= 0) return widths
    const [widest] = widths
      .map((one, at) => ({ at, one }))
      .filter(({ at, one }) => columns[at]?.shrink !== undefined && one > LEAST)
      .toSorted((first, second) => second.one - first.one)
    if (widest === undefined) return widths
    widths[widest.at] = widest.one - 1
  }
}

/** `width` is that of the terminal in cells; undefined: it is none. */
export const table = (columns: ReadonlyArray<Column>, width: number | undefined): ReadonlyArray<string> => {
  const rows = Array.from({ length: Math.max(0, ...columns.map(({ cells }) => cells.length)) }, (_, row) =>
    columns.map(({ cells }) => plainLine(cells[row] ?? ""))
  )
  if (width === undefined) return rows.map((cells) => cells.join("\t"))
  const all = [columns.map(({ title }) => title), ...rows]
  const natural = columns.map((_, at) => Math.max(...all.map((cells) => widthOf(cells[at] ?? ""))))
  const widths = share(columns, natural, width)
  return all.map((cells) =>
    cells
      .map((cell, at) => pad(cut(cell, widths[at] ?? 0, columns[at]?.shrink ?? "end"), widths[at] ?? 0))
      .join(" ".repeat(GAP))
      .trimEnd()
  )
}
