/**
 * The fields at the head of a Markdown file. Reads the part of YAML that people write there, and is tolerant: what it cannot
 * make sense of costs one field and is told with its line. Bounded in size, and linear.
 */
import { type FrontMatterValue, readValue, withoutComment, writeValue } from "./FrontMatterValue.ts"

export interface FrontMatterProblem {
  /** In the file, from 1. */
  readonly line: number
  /** Names the field and the remedy. */
  readonly message: string
}

export interface FrontMatter {
  /** Tables are spread over dotted names: `metadata.author`. */
  readonly fields: Readonly<Record<string, FrontMatterValue>>
  /** Where each field stands, from 1. */
  readonly lines: Readonly<Record<string, number>>
  /** Everything behind the fields, with `\n` as line end. The whole text where there are none. */
  readonly body: string
  readonly problems: ReadonlyArray<FrontMatterProblem>
}

/** In characters; and how many fields, and how deep tables are read. */
const LARGEST = 64 * 1024
const MOST_FIELDS = 200
const DEEPEST = 4
const MOST_PROBLEMS = 20

interface Line {
  readonly number: number
  /** How far it stands to the right. */
  readonly indent: number
  readonly text: string
}

interface Entry {
  readonly line: Line
  readonly name: string
  readonly value: string
  /** The lines that belong to it. */
  readonly block: ReadonlyArray<Line>
}

/** What is read, and where problems go. */
interface Reading {
  readonly fields: Map<string, FrontMatterValue>
  readonly lines: Map<string, number>
  readonly complain: (line: number, message: string) => void
}

const field = /^("[^"]*"|'[^']*'|[^\s"'#:[\]{}-][^\s"':]*):(?:\s+(.*))?$/s
const item = /^-(?:\s+(.*))?$/s
const blockScalar = /^([|>])[-+0-9]{0,2}$/

const isBlank = ({ text }: Line): boolean => text === "" || text.startsWith("#")

const toLine = (text: string, number: number): Line => {
  const trimmed = text.trim()
  return { number, indent: text.length - text.trimStart().length, text: trimmed }
}

/** The lines that belong to the one at `at`: further right, blank, or the items of a list below its name. */
const blockEnd = (lines: ReadonlyArray<Line>, at: number, indent: number, takesItems: boolean): number => {
  let end = at + 1
  for (; end < lines.length; end++) {
    const line = lines[end]
    if (line === undefined) break
    const belongs = isBlank(line) || line.indent > indent || (line.indent === indent && line.text.startsWith("]"))
    if (!belongs && !(takesItems && line.indent === indent && item.test(line.text))) break
  }
  return end
}

/** Lines that continue a value are one text; in a list, each may have a note of its own. */
const joined = (first: string, block: ReadonlyArray<Line>): string => {
  const lines = [first, ...block.filter((line) => !isBlank(line)).map(({ text }) => text)]
  const own = first.startsWith("[") ? lines.map((line) => line.replace(/\s#\s[^"'\]]*$/, "")) : lines
  return own.join(" ").trim()
}

/** Line ends at its end are not kept, whichever way that is asked for. */
const literal = (block: ReadonlyArray<Line>, style: string, raw: ReadonlyArray<string>): string => {
  const margin = block.find(({ text }) => text !== "")?.indent ?? 0
  const inside = block.filter(({ indent, text }) => text === "" || indent > 0)
  const lines = inside.map(({ indent, number }) => (raw[number - 1] ?? "").slice(Math.min(indent, margin)).trimEnd())
  const text = lines.join("\n").replace(/\n+$/, "")
  return style === "|" ? text : text.replace(/([^\n])\n(?![\n\s])/g, "$1 ").replace(/\n\n/g, "\n")
}

const entriesOf = (lines: ReadonlyArray<Line>, { complain }: Reading): ReadonlyArray<Entry> => {
  const entries: Array<Entry> = []
  for (let at = 0; at < lines.length;) {
    const line = lines[at]
    if (line === undefined) break
    const [whole, name, value = ""] = field.exec(line.text) ?? []
    if (whole !== undefined && name !== undefined) {
      const end = blockEnd(lines, at, line.indent, withoutComment(value) === "")
      entries.push({
        line,
        name: name.replace(/^["']|["']$/g, ""),
        value: value.trim(),
        block: lines.slice(at + 1, end)
      })
      at = end
      continue
    }
    if (!isBlank(line)) complain(line.number, "is not read: a field is written as 'name: value'")
    at++
  }
  return entries
}

const listItems = (
  block: ReadonlyArray<Line>,
  tell: (line: number, problem: string) => void
): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let at = 0; at < block.length;) {
    const line = block[at]
    if (line === undefined) break
    const end = blockEnd(block, at, line.indent, false)
    const [whole, text = ""] = item.exec(line.text) ?? []
    if (whole !== undefined) {
      const { problem, value } = readValue(joined(text, block.slice(at + 1, end)))
      if (problem !== undefined) tell(line.number, problem)
      found.push(typeof value === "object" ? value.join(", ") : String(value))
    } else if (!isBlank(line)) tell(line.number, "has a line that is no item of its list; begin it with '- '")
    at = whole === undefined ? at + 1 : end
  }
  return found.filter((text) => text !== "")
}

const readEntries = (
  lines: ReadonlyArray<Line>,
  raw: ReadonlyArray<string>,
  prefix: string,
  depth: number,
  reading: Reading
): void => {
  for (const { block, line, name: own, value } of entriesOf(lines, reading)) {
    const name = prefix + own
    const tell = (at: number, problem: string) => reading.complain(at, `${name}: ${problem}`)
    if (reading.fields.has(name)) {
      tell(line.number, "is there twice; the first one counts, remove the other")
      continue
    }
    if (reading.fields.size >= MOST_FIELDS) {
      tell(line.number, `is not read: there are more than ${MOST_FIELDS} fields`)
      return
    }
    const keep = (kept: FrontMatterValue) => {
      reading.fields.set(name, kept)
      reading.lines.set(name, line.number)
    }
    const bare = withoutComment(value)
    const first = block.find((one) => !isBlank(one))
    const [, style] = blockScalar.exec(bare) ?? []
    if (style !== undefined) keep(first === undefined ? "" : literal(block, style, raw))
    else if (bare === "" && first !== undefined && item.test(first.text)) keep(listItems(block, tell))
    else if (bare === "" && first !== undefined && depth < DEEPEST && field.test(first.text)) {
      readEntries(block, raw, `${name}.`, depth + 1, reading)
    } else {
      const read = readValue(joined(bare === "" ? "" : value, block))
      if (read.problem !== undefined) tell(line.number, read.problem)
      keep(read.value)
    }
  }
}

const absent = (body: string, problem?: string): FrontMatter => ({
  fields: {},
  lines: {},
  body,
  problems: problem === undefined ? [] : [{ line: 1, message: problem }]
})

/** Never fails. A text that does not begin with a line `---` has no fields. */
export const parse = (text: string): FrontMatter => {
  const clean = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n")
  if (!/^---[ \t]*(?:\n|$)/.test(clean)) return absent(clean)
  const raw = clean.split("\n")
  const end = raw.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)[ \t]*$/.test(line))
  if (end === -1) return absent(clean, "the fields that begin with '---' do not end; put a line '---' behind them")
  const body = raw.slice(end + 1).join("\n")
  const head = raw.slice(1, end)
  if (head.reduce((sum, line) => sum + line.length + 1, 0) > LARGEST) {
    return absent(
      body,
      `has more than ${LARGEST} characters of fields; move what is not a field below the second '---'`
    )
  }
  const problems: Array<FrontMatterProblem> = []
  const reading: Reading = {
    fields: new Map(),
    lines: new Map(),
    complain: (line, message) => {
      if (problems.length < MOST_PROBLEMS) problems.push({ line, message })
    }
  }
  readEntries(
    head.map((line, index) => toLine(line, index + 2)),
    raw,
    "",
    0,
    reading
  )
  return { fields: Object.fromEntries(reading.fields), lines: Object.fromEntries(reading.lines), body, problems }
}

/** A file that `parse` reads as these fields and this body. Names are plain words. */
export const render = (fields: Readonly<Record<string, FrontMatterValue>>, body: string): string =>
  `---\n${Object.entries(fields)
    .map(([name, value]) => `${name}: ${writeValue(value)}\n`)
    .join("")}---\n${body}`

/** A problem as a person reads it. */
export const describeProblem = (file: string, { line, message }: FrontMatterProblem): string =>
  `${file}, line ${line}: ${message}`
