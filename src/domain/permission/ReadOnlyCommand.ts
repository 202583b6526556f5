/**
 * Shell commands that only read, inside the working folder, and so need no question. A list with word boundaries; an
 * option that writes, runs something or reaches outside takes a command off it.
 */
import { isWithin } from "../Paths.ts"
import { isPlain, type Segment, type ShellLine } from "./ShellLine.ts"
import { resolvePath } from "./PathPattern.ts"

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
  "ls",
  "cat",
  "pwd",
  "whoami",
  "uptime",
  "head",
  "tail",
  "wc",
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
  "du",
  "df",
  "which",
  "uname",
  "id",
  "cmp",
  "diff",
  "grep",
  "egrep",
  "fgrep"
])

const commands = new Map<string, Judge>([
  ...[...plainCommands].map((name) => [name, always] as const),
  ["cd", (words) => words.length === 1 && positional(words).length === 1],
  // A variable's name may hold a substitution that testing it runs.
  ["test", without(/^-[vR]$/)],
  ["[", without(/^-[vR]$/)],
  ["date", (words) => only(/^[-+]/)(words) && without(/^-[^-]*s/, /^--s/)(words)],
  ["hostname", only(/^-[fsiId]$/)],
  ["sort", without(/^-[^-]*[oT]/, /^--(o|co|t)/)],
  ["uniq", (words) => positional(words).length <= 1],
  ["rg", without(/^--(pre|hostname-bin|search-zip)/, /^-[^-]*z/)],
  ["find", without(/^-(exec|ok|delete|fprint|fls)/)],
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

const reaches = (path: string, base: string, cwd: string): boolean =>
  path.startsWith("~") ||
  (/^\/|(^|\/)\.\.(\/|$)/.test(path) && path !== "/dev/null" && !isWithin(cwd, resolvePath(base, path)))

const isReadOnlySegment = (segment: Segment, base: string, cwd: string): boolean => {
  const [name = "", ...words] = segment.words.map((word) => word.text)
  const [, ...written] = segment.words
  const mayBecomeOption = written.some((word) => word.pattern && /^[*?[{]/.test(word.text))
  return (
    isPlain(segment) &&
    (commands.get(name)?.(words) ?? false) &&
    !segment.words.some((word) => word.dynamic) &&
    !segment.reads.some((word) => word.dynamic) &&
    (plainCommands.has(name) || !mayBecomeOption) &&
    ![...pathsOf(name, words), ...segment.reads.map((word) => word.text)].some((path) => reaches(path, base, cwd))
  )
}

/**
 * The segments that only read. `base` is where the line runs, `cwd` the folder that it may read. Git in another folder
 * is none: the configuration there decides what git runs.
 */
export const readOnlySegments = (line: ShellLine, base: string, cwd: string): ReadonlySet<Segment> => {
  if (!isWithin(cwd, base)) return new Set()
  const isMoved = base !== cwd || line.segments.some((segment) => segment.words[0]?.text === "cd")
  return new Set(
    line.segments.filter(
      (segment) => isReadOnlySegment(segment, base, cwd) && !(isMoved && segment.words[0]?.text === "git")
    )
  )
}

export const isReadOnlyLine = (line: ShellLine, base: string, cwd: string): boolean =>
  line.simple && line.segments.length > 0 && readOnlySegments(line, base, cwd).size === line.segments.length
