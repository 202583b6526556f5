/**
 * What the mode `auto` runs without a question, judged without a model: commands that build, test, format or look at a
 * project, and the local half of git. They run what the project itself holds, so that they count as safe only while a
 * sandbox confines them. Whatever is not listed, or written in a way that hides what runs, is left to a person.
 */
import { isProtected } from "./facts/FileFacts.ts"
import { isPlain, type Segment, type ShellLine } from "./ShellLine.ts"

type Judge = (words: ReadonlyArray<string>) => boolean

const isOption = (word: string): boolean => word.startsWith("-")

const without =
  (refused: RegExp): Judge =>
  (words) =>
    !words.some((word) => refused.test(word))

const any: Judge = () => true

/** The first word names what is done, and no option of the program itself stands before it. */
const verb =
  (names: RegExp, refused?: RegExp): Judge =>
  ([first = "", ...rest]) =>
    names.test(first) && (refused === undefined || without(refused)(rest))

/** Every word that is no option names what is done: one that is not known is one too many. */
const goals =
  (names: RegExp, refused: RegExp): Judge =>
  (words) => {
    const named = words.filter((word) => !isOption(word))
    return named.length > 0 && named.every((word) => names.test(word)) && without(refused)(words)
  }

/** Scripts of a package by their usual names: what they do is the project's own, and is confined. */
const scripts = /^(test|build|lint|check|format|typecheck|type-check|compile|unit|e2e)(:[\w:.-]+)?$/

/** Options of the runner end before `--`; only those that change how it reports are known to be harmless. */
const runner: Judge = (words) => {
  const [first = "", second = "", ...rest] = words
  const isRun = first === "run" || first === "run-script"
  const options = isRun ? rest : words.slice(1)
  const end = options.indexOf("--")
  const own = end === -1 ? options : options.slice(0, end)
  return scripts.test(isRun ? second : first) && own.every((word) => /^(-s|--silent|--if-present|--bail)$/.test(word))
}

const stash = /^(list|show|push)$/

/** Of git only what stays in this repository and can be taken back. Options may be shortened, as git takes them. */
const git: Judge = ([first = "", ...rest]) => {
  switch (first) {
    case "add":
    case "mv":
      return without(/^-(?!-)\w*[fpie]|^--(f|pat|in|e)/)(rest)
    case "commit":
      return without(/^-(?!-)[a-z]*[nepct]|^--(am|no-v|no-p|e|ree|reu|pat|in|t|fi|sq)/)(rest)
    case "checkout":
    case "switch":
      return rest.length === 2 && /^(-b|-c|--create)$/.test(rest[0] ?? "") && !isOption(rest[1] ?? "-")
    case "stash":
      return rest.length === 0 || (stash.test(rest[0] ?? "") && without(/^-(?!-)\w*p|^--pat/)(rest))
    default:
      return false
  }
}

/** Programs whose whole use is to look at a project, to build it, to test it or to tidy it. */
const commands = new Map<string, Judge>([
  ...["npm", "pnpm", "yarn", "bun"].map((name) => [name, runner] as const),
  ...["tsc", "vitest", "jest", "mocha", "eslint", "oxlint", "prettier", "oxfmt"].map((name) => [name, any] as const),
  ...["rustfmt", "gofmt", "mypy", "black", "ctest", "mkdir", "touch"].map((name) => [name, any] as const),
  ["biome", verb(/^(check|lint|format|ci)$/)],
  ["cargo", verb(/^(build|check|test|clippy|fmt|doc|tree|metadata|bench)$/, /^-Z/)],
  ["go", verb(/^(build|test|vet|fmt|list|doc|version)$/, /^-{1,2}(exec|toolexec|vettool|overlay|modfile)/)],
  ["pytest", without(/^-[^-]*[pc]|^--(basetemp|rootdir|co)/)],
  ["ruff", verb(/^(check|format)$/)],
  ["make", goals(/^(all|build|test|check|lint|fmt|format|clean)$/, /^-[^-]*[fCIEWo]|^--(f|d|m|e|in|i|o|w|n)|=/)],
  ["gradle", goals(/^:?([\w-]+:)*(build|test|check|assemble|lint)$/, /^-[^-]*[PDIbcpg]|^--(i|p|b|s|c|g)/)],
  ["mvn", goals(/^(compile|test|verify|package)$/, /^-[^-]*[fsDgtPl]|^--/)],
  ["dotnet", verb(/^(build|test|format)$/, /^[-/]{1,2}p(roperty)?:/i)],
  ["git", git]
])

/** Options that run or load something else, whatever the program: taken off the list in general. */
const loads =
  /^--?(exec|eval|require|import|loader|plugin|config|rulesdir|preset|reporter|resolve|runner|transform|global|setup|env)/i

/** The value that an option holds itself, such as in `-f/etc/x` and `--file=/etc/x`. */
const valueOf = (word: string): string => (isOption(word) ? word.replace(/^-+[^=/~.]*=?/, "") : word)

const leavesHere = (word: string): boolean => /^[/~]|(^|[/=:,])\.\.([/=:,]|$)|[=:,][/~]|:\/\//.test(valueOf(word))

/** Whether one segment is on the list. `isMoved`: it may run in another folder, whose configuration git would follow. */
const isSafeSegment = (segment: Segment, isMoved: boolean): boolean => {
  const [name = "", ...words] = segment.words.map(({ text }) => text)
  return (
    isPlain(segment) &&
    !segment.fed &&
    !segment.words.some(({ dynamic, pattern }) => dynamic || pattern) &&
    segment.reads.length === 0 &&
    !(isMoved && name === "git") &&
    (commands.get(name)?.(words) ?? false) &&
    !words.some((word) => loads.test(word) || leavesHere(word) || isProtected(`/${valueOf(word)}`))
  )
}

/** Whether the mode `auto` may run the line, given what is known to only read and whether it starts elsewhere. */
export const isSafeLine = (line: ShellLine, reading: ReadonlySet<Segment>, isElsewhere: boolean): boolean => {
  const isMoved = isElsewhere || line.segments.some(({ words }) => words[0]?.text === "cd")
  return (
    line.simple &&
    line.segments.length > 0 &&
    line.segments.every((segment) => reading.has(segment) || isSafeSegment(segment, isMoved))
  )
}
