/** The values of front matter as people write them: plain, quoted, or a list in brackets. Nothing that can be read is refused. */

export type FrontMatterValue = string | boolean | number | ReadonlyArray<string>

export interface ReadValue {
  readonly value: FrontMatterValue
  /** What is wrong with it and what to do; the value is then the text as it stands. */
  readonly problem?: string
}

/** A `#` that follows a space and precedes one; `fix #12` has none. */
const comment = /(?:^|\s)#(?:\s.*)?$/s

export const withoutComment = (line: string): string => line.replace(comment, "").trim()

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "0": "\0",
  '"': '"',
  "\\": "\\",
  "/": "/"
}

const escaped = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))/gs

/** An escape that is none stays as it is written: a path of Windows is more likely than a mistake in it. */
const unescape = (text: string): string =>
  text.replace(escaped, (whole, two: string | undefined, four: string | undefined, one: string | undefined) => {
    const code = two ?? four
    return code === undefined ? (escapes[one ?? ""] ?? whole) : String.fromCharCode(Number.parseInt(code, 16))
  })

/** Where the quote that begins at `from` ends; -1 when it does not. */
const quoteEnd = (text: string, from: number): number => {
  const quote = text[from]
  for (let at = from + 1; at < text.length; at++) {
    if (quote === '"' && text[at] === "\\") at++
    else if (text[at] === quote) {
      if (quote !== "'" || text[at + 1] !== "'") return at
      at++
    }
  }
  return -1
}

const isQuote = (character: string | undefined): boolean => character === '"' || character === "'"

const unquote = (text: string): string =>
  text.startsWith('"') ? unescape(text.slice(1, -1)) : text.slice(1, -1).replaceAll("''", "'")

const opening = "([{"
const closing = ")]}"

/** Cut at the commas that stand outside quotes and brackets, so that `Bash(git add, git rm)` is one item. */
const items = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  let [depth, from] = [0, 0]
  let begins = true
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ""
    const end = begins && isQuote(character) ? quoteEnd(text, at) : -1
    begins &&= character === " "
    if (end !== -1) at = end
    else if (opening.includes(character)) depth++
    else if (closing.includes(character)) depth = Math.max(0, depth - 1)
    else if (character === "," && depth === 0) {
      found.push(text.slice(from, at))
      from = at + 1
      begins = true
    }
  }
  return [...found, text.slice(from)].map((item) => readText(item.trim())).filter((item) => item !== "")
}

const readText = (text: string): string =>
  isQuote(text[0]) && quoteEnd(text, 0) === text.length - 1 ? unquote(text) : text

const readQuoted = (text: string): ReadValue => {
  const end = quoteEnd(text, 0)
  if (end === -1) return { value: text, problem: `has no closing ${text[0]}; add it` }
  if (withoutComment(text.slice(end + 1)) === "") return { value: unquote(text.slice(0, end + 1)) }
  return { value: text, problem: "goes on behind its closing quote; put quotes around all of it, or none" }
}

const readList = (text: string): ReadValue => {
  const bare = text.endsWith("]") ? text : withoutComment(text)
  if (bare.endsWith("]")) return { value: items(bare.slice(1, -1)) }
  return { value: text, problem: "has no closing ]; add it" }
}

/** Only numbers that are written as they would be shown, so that no version or id loses a digit. */
const readPlain = (text: string): FrontMatterValue => {
  if (/^(?:true|True|TRUE)$/.test(text)) return true
  if (/^(?:false|False|FALSE)$/.test(text)) return false
  return Number.isFinite(Number(text)) && String(Number(text)) === text ? Number(text) : text
}

/** A trimmed value; its lines may already be joined. */
export const readValue = (text: string): ReadValue => {
  if (isQuote(text[0])) return readQuoted(text)
  if (text.startsWith("[")) return readList(text)
  return { value: readPlain(withoutComment(text)) }
}

/** A list, or what a person meant as one: `Read, Grep`. */
export const asList = (value: FrontMatterValue): ReadonlyArray<string> =>
  typeof value === "object" ? value : items(String(value))

export const asText = (value: FrontMatterValue): string =>
  typeof value === "object" ? value.join(", ") : String(value)

/** Undefined for what is neither yes nor no. */
export const asBoolean = (value: FrontMatterValue): boolean | undefined => {
  if (typeof value === "boolean") return value
  const word = asText(value).toLowerCase()
  if (["yes", "on", "true"].includes(word)) return true
  return ["no", "off", "false"].includes(word) ? false : undefined
}

/** In double quotes, on one line, whatever it contains. */
const quoted = (text: string): string =>
  `"${text.replace(/["\\\p{Cc}\p{Zl}\p{Zp}]/gu, (one) => {
    if (one === '"' || one === "\\") return `\\${one}`
    return one === "\n" ? "\\n" : `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`
  })}"`

export const writeValue = (value: FrontMatterValue): string => {
  if (typeof value === "object") return `[${value.map(quoted).join(", ")}]`
  if (typeof value !== "string") return String(value)
  return /^[A-Za-z][\w .,()/-]*$/.test(value) && readPlain(value) === value && value.trim() === value
    ? value
    : quoted(value)
}
