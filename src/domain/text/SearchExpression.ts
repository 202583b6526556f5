/**
 * Turns an expression in the dialect of ripgrep into one of JavaScript, so that a search finds the same with and without
 * it: classes and word boundaries know all scripts, and any punctuation may be escaped.
 */

export interface SearchExpression {
  readonly source: string
  readonly flags: string
}

/** Stands for bytes that are no UTF-8, which no expression matches. */
const broken = "\\ufffd"

const word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}"
const isWord = `[${word}]`

/** Escapes outside of brackets. */
const escapes: Readonly<Record<string, string>> = {
  w: isWord,
  W: `[^${word}${broken}]`,
  d: "\\p{Nd}",
  D: `[^\\p{Nd}${broken}]`,
  s: "\\p{White_Space}",
  S: `[^\\p{White_Space}${broken}]`,
  b: `(?:(?<=${isWord})(?!${isWord})|(?<!${isWord})(?=${isWord}))`,
  B: `(?:(?<=${isWord})(?=${isWord})|(?<!${isWord})(?!${isWord}))`,
  "<": `(?<!${isWord})(?=${isWord})`,
  ">": `(?<=${isWord})(?!${isWord})`,
  A: "^",
  z: "$",
  a: "\\x07"
}

/** What some of them are between brackets. */
const classEscapes: Readonly<Record<string, string>> = {
  w: word,
  d: "\\p{Nd}",
  D: "\\P{Nd}",
  s: "\\p{White_Space}",
  S: "\\P{White_Space}",
  a: "\\x07"
}

const named: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7f",
  blank: " \\t",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\s",
  upper: "A-Z",
  word: "0-9A-Z_a-z",
  xdigit: "0-9A-Fa-f"
}

const isPunctuation = (character: string): boolean => /[\x20-\x2f:-@[-`{-~]/.test(character)

/** A character that stands for itself. */
const literal = (character: string): string => (/[$()*+\-./?[\\\]^{|}]/.test(character) ? `\\${character}` : character)

const escapeAt = (pattern: string, at: number, table: Readonly<Record<string, string>>): string => {
  const character = pattern.charAt(at + 1)
  const known = table[character]
  if (known !== undefined) return known
  return isPunctuation(character) ? literal(character) : `\\${character}`
}

/** Where the brackets that begin at `start` end, and what is between them. */
const classFrom = (pattern: string, start: number): readonly [source: string, next: number] => {
  let at = start + 1
  let source = "["
  if (pattern[at] === "^") {
    source += `^${broken}`
    at += 1
  }
  for (let isFirst = true; at < pattern.length; isFirst = false) {
    const character = pattern.charAt(at)
    if (character === "]" && !isFirst) return [`${source}]`, at + 1]
    const [whole, name = ""] = /^\[:(\w+):\]/.exec(pattern.slice(at)) ?? []
    if (whole !== undefined) {
      source += Object.hasOwn(named, name) ? named[name] : ""
      at += whole.length
    } else if (character === "\\") {
      source += escapeAt(pattern, at, classEscapes)
      at += 2
    } else {
      source += character === "[" || character === "]" ? `\\${character}` : character
      at += 1
    }
  }
  return [source, at]
}

/** What it makes of a broken expression is broken, too. */
export const searchExpression = (pattern: string, ignoreCase: boolean): SearchExpression => {
  const [options = "", letters = ""] = /^\(\?([imsu]+)\)/.exec(pattern) ?? []
  let source = ""
  let at = options.length
  while (at < pattern.length) {
    const rest = pattern.slice(at)
    const repetition = /^\{\d+(?:,\d*)?\}/.exec(rest)?.[0]
    if (rest.startsWith("\\")) {
      const unicode = /^\\(?:[pPuU]\{[^}]*\}|x\{[^}]*\})/.exec(rest)?.[0]
      source += unicode?.replace(/^\\[xU]/, "\\u") ?? escapeAt(pattern, at, escapes)
      at += unicode?.length ?? 2
    } else if (rest.startsWith("[")) {
      const [found, next] = classFrom(pattern, at)
      source += found
      at = next
    } else if (rest.startsWith("(?P<")) {
      source += "(?<"
      at += 4
    } else if (repetition !== undefined) {
      source += repetition
      at += repetition.length
    } else {
      source += rest.startsWith(".")
        ? `[^${broken}]`
        : rest.startsWith("]") || rest.startsWith("}")
          ? `\\${rest.charAt(0)}`
          : rest.charAt(0)
      at += 1
    }
  }
  return { source, flags: ignoreCase || letters.includes("i") ? "isu" : "su" }
}
