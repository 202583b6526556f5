/**
 * Shell commands that only read, inside the workspace, and so need no question. A list with word boundaries; an
 * option that writes, runs something or reaches outside takes a command off it, and so does one that follows links or
 * takes names from a file, since nobody sees where those lead.
 */
import { isWithin } from "../files/Paths.ts"
import { isPlain, type Segment, type ShellLine } from "./ShellLine.ts"
import { resolvePath } from "./PathPattern.ts"
import { stemOf } from "./ShellPaths.ts"
import type { Word } from "./ShellScanner.ts"

type Judge = (words: ReadonlyArray<string>) => boolean

const always: Judge = () => true
const without =
  (...options: ReadonlyArray<RegExp>): Judge =>
  (words) =>
    !words.some((word) => options.some((option) => option.test(word)))
const only =
  (word: RegExp): Judge =>
  (words) =>
    words.every((candidate) => word.test(candidate))

const positional = (words: ReadonlyArray<string>) => words.filter((word) => !word.startsWith("-"))

const gitCommands = new Map<string, Judge>([
  ...[
    "status",
    "log",
    "diff",
    "ls-files",
    "show",
    "rev-parse",
    "blame",
    "describe",
    "merge-base",
    "shortlog",
    "check-ignore",
    "check-attr",
    "cat-file",
    "ls-tree",
    "show-ref",
    "for-each-ref",
    "rev-list",
    "name-rev",
    "count-objects"
  ].map((name) => [name, without(/^--ou/, /^--ext/)] as const),
  ["branch", only(/^(-a|-r|-vv?|-l|--all|--remotes|--verbose|--list|--show-current|--no-color)$/)]
])

const git: Judge = (words) => {
  const [name = "", ...rest] = words[0] === "--no-pager" ? words.slice(1) : words
  return gitCommands.get(name)?.(rest) ?? false
}

const sed: Judge = ([quiet, script = "", ...files]) =>
  quiet === "-n" && /^\d+(,(\d+|\$))?p$/.test(script) && positional(files).length === files.length

const kubectl: Judge = ([verb = "", ...rest]) =>
  /^(get|logs|describe)$/.test(verb) && without(/secret/i, /^--(kubeconfig|server|token|as|raw)/, /^-s/)(rest)

/** Commands that take any words: none of their options writes or runs anything. */
const plainCommands = new Set([
  "cat",
  "pwd",
  "whoami",
  "uptime",
  "head",
  "tail",
  "tr",
  "cut",
  "nl",
  "echo",
  "true",
  "false",
  "basename",
  "dirname",
  "realpath",
  "readlink",
  "stat",
  "df",
  "which",
  "uname",
  "id",
  "cmp"
])

/** Commands that only read, but of which some options follow links or take names from a file. */
const following = new Map<string, Judge>([
  ["ls", without(/^-[^-]*L/, /^--dereference$/)],
  ["wc", without(/^--fil/)],
  ["du", without(/^-[^-]*[LD]/, /^--(de|fil)/)],
  ["diff", without(/^-[^-]*r/, /^--rec/)],
  ...["grep", "egrep", "fgrep"].map((name) => [name, without(/^-[^-]*R/, /^--de/)] as const)
])

const commands = new Map<string, Judge>([
  ...[...plainCommands].map((name) => [name, always] as const),
  ...following,
  ["cd", (words) => words.length === 1 && positional(words).length === 1],
  // A variable's name may hold a substitution that testing it runs.
  ["test", without(/^-[vR]$/)],
  ["[", without(/^-[vR]$/)],
  ["date", (words) => only(/^[-+]/)(words) && without(/^-[^-]*s/, /^--s/)(words)],
  ["hostname", only(/^-[fsiId]$/)],
  ["sort", without(/^-[^-]*[oT]/, /^--(o|co|t|fil)/)],
  ["uniq", (words) => positional(words).length <= 1],
  ["rg", without(/^--(pre|hostname-bin|search-zip|follow)/, /^-[^-]*[zL]/)],
  ["find", without(/^-(exec|ok|delete|fprint|fls|follow|files0|L$)/)],
  ["git", git],
  ["sed", sed],
  ["kubectl", kubectl]
])

const searches = /^([ef]?grep|rg)$/

/** The parts of a command's words that may be paths. The expression of a search is none. */
const pathsOf = (name: string, words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const isExpressionNamed = words.some((word) => /^-[^-]*[ef]|^--(regexp|file)/.test(word))
  const hasExpression = searches.test(name) && !isExpressionNamed
  const expression = hasExpression ? words.findIndex((word) => !word.startsWith("-")) : -1
  return words
    .filter((_, at) => at !== expression)
    .flatMap((word) => (word.startsWith("-") ? [word.replace(/^-[^=/~]*=?/, "")] : [word]))
}

/** The folders of a session: the one where it works, and all that it may read, `cwd` included. Absolute. */
export interface Workplace {
  readonly cwd: string
  readonly roots: ReadonlyArray<string>
}

const isInside = ({ roots }: Workplace, path: string): boolean => roots.some((root) => isWithin(root, path))

const reaches = (path: string, base: string, place: Workplace): boolean => {
  if (path === "/dev/null") return false
  if (path.startsWith("~") || (path.startsWith("/") && !isInside(place, path))) return true
  return /^\/|(^|\/)\.\.(\/|$)/.test(path) && !isInside(place, resolvePath(base, path))
}

/** Whether the shell may make several words of it, an option, or the name of the folder above. */
const mayBecomeMore = ({ pattern, text }: Word): boolean =>
  pattern && (/^-|\{/.test(text) || /(^|\/)\.[^/]*[*?[]/.test(text))

/** Whether the name of a file may be taken for an option: with a dot or a slash in it, it is none that is known here. */
const mayBecomeOption = (name: string, { pattern, text }: Word): boolean =>
  pattern && /^[*?[]/.test(text) && !plainCommands.has(name) && !(following.has(name) && /[./]/.test(text))

const isReadOnlySegment = (segment: Segment, base: string, place: Workplace): boolean => {
  const [name = "", ...words] = segment.words.map((word) => word.text)
  const [, ...written] = segment.words
  return (
    isPlain(segment) &&
    (commands.get(name)?.(words) ?? false) &&
    ![...segment.words, ...segment.reads].some((word) => word.dynamic || mayBecomeMore(word)) &&
    !written.some((word) => mayBecomeOption(name, word)) &&
    ![...pathsOf(name, words), ...segment.reads.map((word) => word.text)].some((path) => reaches(path, base, place))
  )
}

/** More of them are not followed. */
const MAX_MOVES = 4

const movesOf = (line: ShellLine): number => line.segments.filter((segment) => segment.words[0]?.text === "cd").length

/**
 * The segments that only read in the workplace. `base` is where the line runs. Git in another folder than `cwd` is none:
 * the configuration there decides what git runs.
 */
export const readOnlySegments = (line: ShellLine, base: string, place: Workplace): ReadonlySet<Segment> => {
  const moves = movesOf(line)
  if (!isInside(place, base) || moves > MAX_MOVES) return new Set()
  const isMoved = base !== place.cwd || moves > 0
  return new Set(
    line.segments.filter(
      (segment) => isReadOnlySegment(segment, base, place) && !(isMoved && segment.words[0]?.text === "git")
    )
  )
}

/** Whether a command goes into every folder below those that it names. */
const isDeep = (name: string, words: ReadonlyArray<string>): boolean =>
  /^(rg|find|du)$/.test(name) ||
  (searches.test(name) && words.some((word) => /^-[^-]*[rd]|^--[rd]/.test(word))) ||
  (name === "ls" && words.some((word) => /^-[^-]*R|^--rec/.test(word)))

/** What the reading segments of a line are about, all in the workplace. Patterns are as written. */
export interface PathsRead {
  readonly named: ReadonlyArray<string>
  /** Those with everything below them. */
  readonly deep: ReadonlyArray<string>
}

/**
 * Each path from every folder in which the line may be by then. `..` is not resolved: only the file system knows where it
 * leads.
 */
export const pathsRead = (line: ShellLine, base: string, place: Workplace): PathsRead => {
  const reading = readOnlySegments(line, base, place)
  const named: Array<string> = []
  const deep: Array<string> = []
  let bases: ReadonlyArray<string> = [base]
  for (const segment of line.segments.filter((candidate) => reading.has(candidate))) {
    const [name = "", ...words] = segment.words.map((word) => word.text)
    const paths = [...pathsOf(name, words), ...segment.reads.map((word) => word.text)]
      .filter((path) => path !== "" && path !== "/dev/null")
      .flatMap((path) => (path.startsWith("/") ? [path] : bases.map((folder) => `${folder}/${path}`)))
    named.push(...paths)
    // Which word is the folder depends on the options, so that the folder where it runs counts as well.
    if (isDeep(name, words)) deep.push(...bases, ...paths)
    if (name === "cd") bases = [...bases, ...paths]
  }
  return { named, deep }
}

export const isReadOnlyLine = (line: ShellLine, base: string, place: Workplace): boolean =>
  line.simple && line.segments.length > 0 && readOnlySegments(line, base, place).size === line.segments.length

/** Commands that show names of files and what the system keeps about them, but nothing of what they hold. */
const namesOnly =
  /^(ls|pwd|echo|test|\[|cd|find|stat|du|df|basename|dirname|realpath|readlink|which|true|false|date|hostname)$/

/**
 * Folders, as words, below which a reading segment may show any file: it searches there, or the shell expands a pattern
 * there. Which word of a search is its folder depends on its options, so that the folder where it runs counts as well.
 */
export const sweptBy = (segment: Segment): ReadonlyArray<string> => {
  const [name = "", ...words] = segment.words.map((word) => word.text)
  if (namesOnly.test(name)) return []
  return [
    ...(isDeep(name, words) ? [".", ...pathsOf(name, words)] : []),
    ...[...segment.words, ...segment.reads].filter((word) => word.pattern).map((word) => stemOf(word.text))
  ]
}
