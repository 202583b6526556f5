/**
 * The rules of a `.gitignore` file, as git reads them. No pattern takes long to match, whoever wrote it: a repository of
 * others must not be able to stop the agent.
 */

/** `path` is relative to the folder of the file. Undefined: no rule speaks of it. */
export type GitIgnore = (path: string, isFolder: boolean) => boolean | undefined

/** A test of one character, or any number of any characters. */
type Token = "star" | Test

/** The tokens of one name, or any number of names. */
type Segment = "globstar" | ReadonlyArray<Token>

interface Rule {
  readonly ignores: boolean
  readonly foldersOnly: boolean
  readonly segments: ReadonlyArray<Segment>
}

const classes: Readonly<Record<string, RegExp>> = {
  alnum: /^[A-Za-z0-9]$/,
  alpha: /^[A-Za-z]$/,
  blank: /^[ \t]$/,
  digit: /^[0-9]$/,
  lower: /^[a-z]$/,
  punct: /^[!-/:-@[-`{-~]$/,
  space: /^\s$/,
  upper: /^[A-Z]$/,
  xdigit: /^[A-Fa-f0-9]$/
}

type Test = (character: string) => boolean

const isIn =
  (first: string, last: string): Test =>
  (character) =>
    first <= character && character <= last

const characterAt = (text: string, at: number): string => String.fromCodePoint(text.codePointAt(at) ?? 0)

/** What stands between brackets; undefined when they are not closed. */
const classAt = (name: string, start: number): readonly [test: Test, next: number] | undefined => {
  let at = start + 1
  const isNegated = name[at] === "!" || name[at] === "^"
  if (isNegated) at += 1
  const tests: Array<Test> = []
  let previous: string | undefined
  for (let isFirst = true; at < name.length; isFirst = false) {
    if (name[at] === "]" && !isFirst) {
      return [(character) => tests.some((test) => test(character)) !== isNegated, at + 1]
    }
    const [whole, named = ""] = /^\[:(\w+):\]/.exec(name.slice(at)) ?? []
    if (whole !== undefined) {
      const known = Object.hasOwn(classes, named) ? classes[named] : undefined
      tests.push((character) => known?.test(character) === true)
      previous = undefined
      at += whole.length
      continue
    }
    const isRange = name[at] === "-" && previous !== undefined && at + 1 < name.length && name[at + 1] !== "]"
    if (isRange) at += 1
    if (name[at] === "\\") at += 1
    const character = characterAt(name, at)
    tests.push(isIn(isRange && previous !== undefined ? previous : character, character))
    previous = isRange ? undefined : character
    at += character.length
  }
  return undefined
}

const tokensOf = (name: string): ReadonlyArray<Token> | undefined => {
  const tokens: Array<Token> = []
  let at = 0
  while (at < name.length) {
    const character = characterAt(name, at)
    if (character === "*") {
      if (tokens.at(-1) !== "star") tokens.push("star")
      at += 1
    } else if (character === "?") {
      tokens.push(() => true)
      at += 1
    } else if (character === "[") {
      const found = classAt(name, at)
      if (found === undefined) return undefined
      tokens.push(found[0])
      at = found[1]
    } else {
      const isEscaped = character === "\\"
      if (isEscaped && at + 1 >= name.length) return undefined
      const literal = isEscaped ? characterAt(name, at + 1) : character
      tokens.push((other) => other === literal)
      at += literal.length + (isEscaped ? 1 : 0)
    }
  }
  return tokens
}

/** Only the last star ever has to take more: what an earlier one could take, a later one can as well. */
const nameMatches = (tokens: ReadonlyArray<Token>, name: ReadonlyArray<string>): boolean => {
  let [token, at, star, mark] = [0, 0, -1, 0]
  while (at < name.length) {
    const current = tokens[token]
    if (current === "star") {
      star = token
      mark = at
      token += 1
    } else if (current?.(name[at] ?? "") === true) {
      token += 1
      at += 1
    } else if (star !== -1) {
      mark += 1
      at = mark
      token = star + 1
    } else return false
  }
  return tokens.slice(token).every((rest) => rest === "star")
}

/** The same for names in the place of characters. A last globstar takes at least one. */
const pathMatches = (segments: ReadonlyArray<Segment>, names: ReadonlyArray<ReadonlyArray<string>>): boolean => {
  const last = segments.length - 1
  let [segment, at, star, mark] = [0, 0, -1, 0]
  while (at < names.length) {
    const current = segments[segment]
    if (current === "globstar") {
      if (segment === last) return true
      star = segment
      mark = at
      segment += 1
    } else if (current !== undefined && nameMatches(current, names[at] ?? [])) {
      segment += 1
      at += 1
    } else if (star !== -1) {
      mark += 1
      at = mark
      segment = star + 1
    } else return false
  }
  return segment === segments.length
}

/** Without blanks at the end, except one that a backslash keeps. */
const trimmed = (line: string): string => {
  let end = line.length
  while (end > 0 && line[end - 1] === " ") end -= 1
  let backslashes = 0
  while (line[end - 1 - backslashes] === "\\") backslashes += 1
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end)
}

const parseRule = (line: string): ReadonlyArray<Rule> => {
  const text = trimmed(line)
  if (text === "" || text.startsWith("#")) return []
  const ignores = !text.startsWith("!")
  const pattern = ignores ? text : text.slice(1)
  const foldersOnly = pattern.endsWith("/")
  const path = foldersOnly ? pattern.slice(0, -1) : pattern
  const names = path.replace(/^\//, "").split("/")
  const segments: Array<Segment> = path.includes("/") ? [] : ["globstar"]
  for (const name of names) {
    const segment = name === "**" ? "globstar" : tokensOf(name)
    if (segment === undefined || path === "") return []
    // Two in a row take what one takes.
    if (segment !== "globstar" || segments.at(-1) !== "globstar") segments.push(segment)
  }
  return [{ ignores, foldersOnly, segments }]
}

/** The last rule that matches decides. What lies in an ignored folder is not asked for: nobody goes there. */
export const parseGitIgnore = (text: string): GitIgnore => {
  const rules = text.split(/\r?\n/).flatMap(parseRule).toReversed()
  return (path, isFolder) => {
    const names = path.split("/").map((name) => Array.from(name))
    return rules.find(({ foldersOnly, segments }) => (isFolder || !foldersOnly) && pathMatches(segments, names))
      ?.ignores
  }
}
