/** A table as Markdown knows it: a head, a rule, and rows of cells of one line each. */

/** Columns and characters beyond which it is no table to look at, but a layout. */
const WIDEST = 40
const LONGEST_CELL = 400

const cellOf = (text: string): string => text.replaceAll("|", "\\|").replace(/\s+/g, " ").trim()

/** The lines of a table; undefined for what is better read cell by cell. */
export const tableLines = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> | undefined => {
  const filled = rows.map((row) => row.map(cellOf)).filter((row) => row.some((cell) => cell !== ""))
  const width = Math.max(0, ...filled.map(({ length }) => Math.min(length, WIDEST + 1)))
  const isLayout = filled.some((row) => row.some(({ length }) => length > LONGEST_CELL))
  if (filled.length === 0 || width < 2 || width > WIDEST || isLayout) return undefined
  const line = (cells: ReadonlyArray<string>) =>
    `| ${Array.from({ length: width }, (_, column) => cells[column] ?? "").join(" | ")} |`
  const [head = [], ...others] = filled
  return [line(head), line(Array.from({ length: width }, () => "---")), ...others.map(line)]
}
