/**
 * Changes one key in the text of a TOML document. All the rest stays as it is: comments, order, blank lines, the way that
 * values are written. What was made is read again before it is handed out: a change that would say anything else fails.
 */
import * as Toml from "effect/encoding/Toml"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import { type Document, isTable } from "./ConfigKey.ts"
import { describeTomlProblem } from "./TomlProblem.ts"
import { type Pair, type Table, tablesOf, type Value } from "./TomlSpans.ts"

/** A value as JSON has it; a table is written in one line. */
export type ConfigValue =
  | string
  | number
  | boolean
  | ReadonlyArray<ConfigValue>
  | { readonly [key: string]: ConfigValue }

type Path = ReadonlyArray<string>

const isList = (value: ConfigValue): value is ReadonlyArray<ConfigValue> => Array.isArray(value)

const isBare = /^[A-Za-z0-9_-]+$/

const quoted = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007f")

/** A key as TOML writes it. */
export const keyText = (path: Path): string => path.map((name) => (isBare.test(name) ? name : quoted(name))).join(".")

/** A value as TOML writes it. */
export const valueText = (value: ConfigValue): string => {
  if (typeof value === "string") return quoted(value)
  if (typeof value !== "object") return String(value)
  if (isList(value)) return `[${value.map(valueText).join(", ")}]`
  const pairs = Object.entries(value).map(([name, inner]) => `${keyText([name])} = ${valueText(inner)}`)
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`
}

const startsWith = (path: Path, beginning: Path): boolean => beginning.every((name, index) => path[index] === name)

const isSame = (one: Path, other: Path): boolean => one.length === other.length && startsWith(one, other)

/** The document with this value; undefined where a value that is no table stands in the way. */
const withValue = (document: Document, path: Path, value: ConfigValue): Document | undefined => {
  const [name, ...rest] = path
  if (name === undefined) return undefined
  if (rest.length === 0) return { ...document, [name]: value }
  const inner = Object.hasOwn(document, name) ? document[name] : {}
  const changed = isTable(inner) ? withValue(inner, rest, value) : undefined
  return changed === undefined ? undefined : { ...document, [name]: changed }
}

const valueAt = (document: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, name) => (isTable(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    document
  )

/** A pair that is, or leads to, what `path` names, and what of the path is left below it. */
interface Found {
  readonly pair: Pair
  readonly rest: Path
  /** The inline table that holds the pair. */
  readonly holder: Value | undefined
}

const findIn = (pairs: ReadonlyArray<Pair>, path: Path, holder?: Value): Found | undefined => {
  for (const pair of pairs) {
    if (!startsWith(path, pair.path)) continue
    const rest = path.slice(pair.path.length)
    const inside = rest.length === 0 ? undefined : findIn(pair.value.pairs ?? [], rest, pair.value)
    return inside ?? { pair, rest, holder }
  }
  return undefined
}

const find = (tables: ReadonlyArray<Table>, path: Path): Found | undefined => {
  for (const table of tables) {
    if (table.isItem || !startsWith(path, table.path)) continue
    const found = findIn(table.pairs, path.slice(table.path.length))
    if (found !== undefined) return found
  }
  return undefined
}

const splice = (text: string, start: number, end: number, inserted: string): string =>
  text.slice(0, start) + inserted + text.slice(end)

const afterLine = (text: string, at: number): number => {
  const end = text.indexOf("\n", at)
  return end === -1 ? text.length : end + 1
}

/** Adds a line of its own at a place where a line begins. */
const insertLine = (text: string, at: number, line: string, newline: string): string => {
  const before = at === 0 || text[at - 1] === "\n" ? "" : newline
  return splice(text, at, at, `${before}${line}${newline}`)
}

const intoInlineTable = (text: string, { end, pairs = [], start }: Value, path: Path, value: string): string => {
  const last = pairs.at(-1)
  const added = `${keyText(path)} = ${value}`
  return last === undefined ? splice(text, start, end, `{ ${added} }`) : splice(text, last.end, last.end, `, ${added}`)
}

/** Where the keys stand that make a table without a header, such as `a.b = 1`. */
const dotted = (tables: ReadonlyArray<Table>, parent: Path) =>
  tables
    .filter(({ isItem, path }) => !isItem && path.length < parent.length && startsWith(parent, path))
    .flatMap((table) => {
      const inside = parent.slice(table.path.length)
      const last = table.pairs.findLast(({ path }) => path.length > inside.length && startsWith(path, inside))
      return last === undefined ? [] : [{ last, inside }]
    })
    .at(0)

const added = (text: string, tables: ReadonlyArray<Table>, path: Path, value: string, newline: string): string => {
  const parent = path.slice(0, -1)
  const name = path.slice(-1)
  const line = `${keyText(name)} = ${value}`
  const table = tables.find((known) => !known.isItem && isSame(known.path, parent))
  const beside = dotted(tables, parent)
  if (beside !== undefined) {
    const own = `${keyText([...beside.inside, ...name])} = ${value}`
    return insertLine(text, afterLine(text, beside.last.end), own, newline)
  }
  if (table !== undefined) {
    const last = table.pairs.at(-1)
    const at = last === undefined ? table.body : afterLine(text, last.end)
    const gap = parent.length === 0 && last === undefined && tables.length > 1 ? newline : ""
    return insertLine(text, at, `${line}${gap}`, newline)
  }
  const gap = text.trim() === "" ? "" : text.endsWith("\n") || text === "" ? newline : `${newline}${newline}`
  return `${text}${gap}[${keyText(parent)}]${newline}${line}${newline}`
}

const parse = (text: string): Result.Result<Document, string> =>
  Result.mapError(Toml.parse(text), ({ message }) => describeTomlProblem(message, text))

const newlineOf = (text: string): string => (/\r\n/.test(text) ? "\r\n" : "\n")

const byHand = (path: Path): string => `has ${keyText(path)} written in a way that can only be changed by hand`

/** The change, unless what it makes is anything but what it was to be. */
const checked = (text: string, expected: Document, path: Path): Result.Result<string, string> => {
  const made = Result.getOrUndefined(Toml.parse(text))
  return made !== undefined && Equal.equals(made, expected) ? Result.succeed(text) : Result.fail(byHand(path))
}

/**
 * Sets a key to a value. Fails with what follows the path of the file in a sentence: it is no TOML, or the place of the key
 * is taken by something else.
 */
export const setKey = (text: string, path: Path, value: ConfigValue): Result.Result<string, string> =>
  Result.flatMap(parse(text), (document) => {
    const expected = withValue(document, path, value)
    if (expected === undefined) return Result.fail(`has something else in the place of ${keyText(path.slice(0, -1))}`)
    if (Equal.equals(valueAt(document, path), value)) return Result.succeed(text)
    const tables = tablesOf(text)
    const found = find(tables, path)
    const written = valueText(value)
    if (found === undefined) return checked(added(text, tables, path, written, newlineOf(text)), expected, path)
    const { pair, rest } = found
    const made =
      rest.length === 0
        ? splice(text, pair.value.start, pair.value.end, written)
        : intoInlineTable(text, pair.value, rest, written)
    return checked(made, expected, path)
  })

const removed = (text: string, { holder, pair }: Found): string => {
  if (holder === undefined) {
    const start = text.lastIndexOf("\n", pair.start) + 1
    return splice(text, start, afterLine(text, pair.end), "")
  }
  const pairs = holder.pairs ?? []
  const index = pairs.indexOf(pair)
  const next = pairs[index + 1]
  const previous = pairs[index - 1]
  if (next !== undefined) return splice(text, pair.start, next.start, "")
  return previous === undefined
    ? splice(text, holder.start, holder.end, "{}")
    : splice(text, previous.end, pair.end, "")
}

/** Removes a key with the comment on its line; nothing where it is not there. Fails like `setKey`. */
export const removeKey = (text: string, path: Path): Result.Result<string, string> =>
  Result.flatMap(parse(text), (document) => {
    if (valueAt(document, path) === undefined) return Result.succeed(text)
    const found = find(tablesOf(text), path)
    if (found === undefined || found.rest.length > 0) {
      return Result.fail(byHand(path))
    }
    const made = removed(text, found)
    const left = Result.getOrUndefined(Toml.parse(made))
    // Nothing else may differ; only a table that was made by this key alone goes with it.
    return left !== undefined &&
      valueAt(left, path) === undefined &&
      Equal.equals(withValue(left, path, true), withValue(document, path, true))
      ? Result.succeed(made)
      : Result.fail(byHand(path))
  })
