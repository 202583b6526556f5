/**
 * Prints which areas of the conformance list hold over which transport, from a JSON report of the tests: how many tests
 * of the area passed, and each row that failed by its name. `-` is an area that means nothing on that transport.
 *
 *     node scripts/conformance-table.ts <report>
 */
import { existsSync, readFileSync } from "node:fs"

interface Report {
  readonly testResults: ReadonlyArray<{
    readonly assertionResults: ReadonlyArray<{
      readonly ancestorTitles: ReadonlyArray<string>
      readonly title: string
      readonly status: string
    }>
  }>
}

const [path = ""] = process.argv.slice(2)
const { testResults }: Report = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : { testResults: [] }

interface Cell {
  passed: number
  readonly failed: Array<string>
}

const table = new Map<string, Map<string, Cell>>()
const transports = new Set<string>()

for (const { ancestorTitles, status, title } of testResults.flatMap(({ assertionResults }) => assertionResults)) {
  const [, transport] =
    ancestorTitles.map((name) => /^v\d over ([^\s:]+)/.exec(name)).find((found) => found !== null) ?? []
  const [rows, area] = /^([A-Z]+)-\d\d(, [A-Z]+-\d\d)*/.exec(title) ?? []
  if (transport === undefined || rows === undefined || area === undefined) continue
  transports.add(transport)
  const row = table.get(area) ?? new Map<string, Cell>()
  table.set(area, row)
  const cell = row.get(transport) ?? { passed: 0, failed: [] }
  row.set(transport, cell)
  if (status === "passed") cell.passed += 1
  else if (status === "failed") cell.failed.push(rows)
}

const textOf = (cell: Cell | undefined): string => {
  if (cell === undefined) return "-"
  return cell.failed.length === 0 ? String(cell.passed) : `${cell.passed}, not ${cell.failed.join(" ")}`
}

const columns = [...transports].toSorted()
const lines = [
  ["", ...columns],
  ...[...table.keys()]
    .toSorted()
    .map((area) => [area, ...columns.map((transport) => textOf(table.get(area)?.get(transport)))])
]
const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? []
for (const line of lines)
  console.log(
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()
  )
