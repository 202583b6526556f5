/**
 * Where in the text of a TOML document its tables, keys and values stand. The text has to be TOML that a parser took: what
 * no parser takes is not noticed here.
 */

/** `start` to `end`, as of `slice`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** `path` is that of the key inside of the table that holds it. */
export interface Pair extends Span {
  readonly path: ReadonlyArray<string>
  readonly value: Value
}

export interface Value extends Span {
  /** Of an inline table. */
  readonly pairs: ReadonlyArray<Pair> | undefined
}

/** A header with what stands below it; the beginning of a document has no header. */
export interface Table {
  readonly path: ReadonlyArray<string>
  /** One of a list of tables. */
  readonly isItem: boolean
  /** Where the header's line begins. */
  readonly start: number
  /** Behind the header's line. */
  readonly body: number
  readonly pairs: ReadonlyArray<Pair>
}

const quotes = ['"""', "'''", '"', "'"]

const escaped: { readonly [char: string]: string } = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", e: "\u001b" }

const unescape = (text: string): string =>
  text.replaceAll(
    /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))/gs,
    (_, u, long, x, char: string) => {
      const code: string | undefined = u ?? long ?? x
      return code === undefined ? (escaped[char] ?? char) : String.fromCodePoint(Number.parseInt(code, 16))
    }
  )

/** Behind the string that starts here, or undefined where none does. */
const endOfString = (text: string, at: number): { readonly end: number; readonly quote: string } | undefined => {
  const quote = quotes.find((known) => text.startsWith(known, at))
  if (quote === undefined) return undefined
  let end = at + quote.length
  while (end < text.length && !text.startsWith(quote, end)) end += quote[0] === '"' && text[end] === "\\" ? 2 : 1
  end += quote.length
  // Up to two more quotes belong to the text of a string of several lines.
  while (quote.length === 3 && text[end] === quote[0]) end += 1
  return { end, quote }
}

const match = (pattern: RegExp, text: string, at: number): string => {
  const sticky = new RegExp(pattern, "y")
  sticky.lastIndex = at
  return sticky.exec(text)?.[0] ?? ""
}

/** Behind blanks, and with `lines` behind line ends and comments too. */
const skip = (text: string, at: number, lines: boolean): number =>
  at + match(lines ? /(?:[\s\uFEFF]|#[^\n]*)*/ : /[ \t]*/, text, at).length

const keyPath = (text: string, from: number): { readonly path: ReadonlyArray<string>; readonly end: number } => {
  const path: Array<string> = []
  let at = from
  for (;;) {
    at = skip(text, at, false)
    const string = endOfString(text, at)
    const end = string?.end ?? at + match(/[A-Za-z0-9_-]+/, text, at).length
    if (string === undefined) path.push(text.slice(at, end))
    else path.push(string.quote === '"' ? unescape(text.slice(at + 1, end - 1)) : text.slice(at + 1, end - 1))
    at = skip(text, end, false)
    if (text[at] !== ".") return { path, end: at }
    at += 1
  }
}

const pairAt = (text: string, start: number): Pair => {
  const { end, path } = keyPath(text, start)
  const value = valueAt(text, skip(text, end + 1, false))
  return { path, value, start, end: value.end }
}

const inlineTable = (text: string, start: number): Value => {
  const pairs: Array<Pair> = []
  let at = skip(text, start + 1, true)
  while (at < text.length && text[at] !== "}") {
    const pair = pairAt(text, at)
    pairs.push(pair)
    at = skip(text, pair.end, true)
    if (text[at] === ",") at = skip(text, at + 1, true)
  }
  return { start, end: at + 1, pairs }
}

const list = (text: string, start: number): Value => {
  let at = skip(text, start + 1, true)
  while (at < text.length && text[at] !== "]") {
    at = skip(text, valueAt(text, at).end, true)
    if (text[at] === ",") at = skip(text, at + 1, true)
  }
  return { start, end: at + 1, pairs: undefined }
}

const valueAt = (text: string, start: number): Value => {
  if (text[start] === "{") return inlineTable(text, start)
  if (text[start] === "[") return list(text, start)
  const string = endOfString(text, start)
  const end = string?.end ?? start + match(/[^,\]}#\r\n]*/, text, start).trimEnd().length
  // Something that is no value must not hold up whoever reads on.
  return { start, end: Math.max(end, start + 1), pairs: undefined }
}

const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf("\n", at)
  return end === -1 ? text.length : end + 1
}

/** The tables of a document in their order; the first is what stands above every header. */
export const tablesOf = (text: string): ReadonlyArray<Table> => {
  const first: Array<Pair> = []
  const tables: Array<Table> = [{ path: [], isItem: false, start: 0, body: 0, pairs: first }]
  let pairs = first
  for (let at = skip(text, 0, true); at < text.length; at = skip(text, at, true)) {
    if (text[at] !== "[") {
      const pair = pairAt(text, at)
      pairs.push(pair)
      at = lineEnd(text, pair.end)
      continue
    }
    const isItem = text[at + 1] === "["
    const { end, path } = keyPath(text, at + (isItem ? 2 : 1))
    const body = lineEnd(text, end)
    pairs = []
    tables.push({ path, isItem, start: text.lastIndexOf("\n", at) + 1, body, pairs })
    at = body
  }
  return tables
}
