/**
 * A shell line as rules see it: segments without their wrappers, with the script of a `bash -c` in place of the call.
 * Allowing needs a `simple` line and every segment; denying needs one segment, however it is wrapped.
 */
import { scan, type Scan, type SimpleCommand, type Word } from "./ShellScanner.ts"

export interface Segment {
  /** As written, redirections and wrappers included. */
  readonly source: string
  /** The words without quotes and wrappers, joined by one space. */
  readonly text: string
  readonly words: ReadonlyArray<Word>
  /** Variables set for this command that could change what it does. */
  readonly assignments: ReadonlyArray<string>
  readonly writes: ReadonlyArray<Word>
  readonly reads: ReadonlyArray<Word>
  readonly fed: boolean
}

export interface ShellLine {
  readonly source: string
  readonly segments: ReadonlyArray<Segment>
  readonly simple: boolean
  /** False when a command could not be seen, so that deny rules cannot tell what runs. */
  readonly legible: boolean
}

/** Longer lines are not looked into. */
const MAX_LENGTH = 32 * 1024
const MAX_DEPTH = 4

/** Variables that change only how a command reports, not what runs. */
const harmlessVariable =
  /^(CI|DEBUG|FORCE_COLOR|NO_COLOR|COLUMNS|LINES|LANG|LC_[A-Z]+|TERM|TZ|NODE_ENV|RUST_LOG|RUST_BACKTRACE)$/
const shells = new Set(["bash", "sh", "zsh", "dash", "ksh"])

interface Wrapper {
  readonly valued: RegExp
  readonly plain: RegExp
  /** Words of its own before the command. */
  readonly operands: number
}

/** Programs that run the command behind them as it stands. */
const wrappers = new Map<string, Wrapper>([
  [
    "timeout",
    {
      valued: /^(-[ks]|--kill-after|--signal)$/,
      plain: /^(-[pv]+|--foreground|--preserve-status|--verbose|-[ks].+|--(kill-after|signal)=.*)$/,
      operands: 1
    }
  ],
  ["nice", { valued: /^(-n|--adjustment)$/, plain: /^(-\d+|-n.+|--adjustment=.*)$/, operands: 0 }],
  [
    "ionice",
    { valued: /^(-[cn]|--class|--classdata)$/, plain: /^(-t|--ignore|-[cn].+|--(class|classdata)=.*)$/, operands: 0 }
  ],
  ["chrt", { valued: /^-[TPD]$/, plain: /^(-[abdfimorRv]+)$/, operands: 1 }],
  [
    "stdbuf",
    { valued: /^(-[ioe]|--(input|output|error))$/, plain: /^(-[ioe].+|--(input|output|error)=.*)$/, operands: 0 }
  ],
  ["env", { valued: /^(-u|--unset)$/, plain: /^(-|-i|--ignore-environment|--unset=.*)$/, operands: 0 }]
])

/** The words behind a wrapper; undefined when its options are unknown, and it stays in sight then. */
const unwrap = (wrapper: Wrapper, words: ReadonlyArray<Word>): ReadonlyArray<Word> | undefined => {
  let at = 0
  for (let word = words[0]; word?.text.startsWith("-") === true; word = words[at]) {
    if (word.dynamic) return undefined
    if (word.text === "--") {
      at += 1
      break
    }
    if (wrapper.valued.test(word.text)) at += 2
    else if (wrapper.plain.test(word.text)) at += 1
    else return undefined
  }
  const rest = words.slice(at + wrapper.operands)
  return words.slice(at, at + wrapper.operands).some((word) => word.dynamic) ? undefined : rest
}

const variable = /^([A-Za-z_]\w*)=/

/** Removes wrappers, and the variables that `env` sets. */
const peel = (
  command: SimpleCommand
): { readonly words: ReadonlyArray<Word>; readonly assignments: ReadonlyArray<string> } => {
  const assignments = [...command.assignments]
  let words = command.words
  for (;;) {
    const name = words[0]?.text ?? ""
    const wrapper = wrappers.get(name)
    let rest = wrapper === undefined ? undefined : unwrap(wrapper, words.slice(1))
    while (name === "env" && rest !== undefined) {
      const set = variable.exec(rest[0]?.text ?? "")?.[1]
      if (set === undefined) break
      assignments.push(set)
      rest = rest.slice(1)
    }
    if (rest === undefined || rest.length === 0) return { words, assignments }
    words = rest
  }
}

/** Programs that run other commands which they are given. Seen through for denying, never for allowing. */
const launchers =
  /^(?:\S*\/)?(sudo|doas|xargs|nohup|setsid|command|exec|builtin|time|find|parallel|watch|busybox|timeout|nice|ionice|chrt|stdbuf|env)$/
const MAX_LAUNCHED_WORDS = 32

const nameOf = (words: ReadonlyArray<Word>): string => words[0]?.text.split("/").at(-1) ?? ""

/** The script of `bash -c script`; undefined for any other use of a shell, and for options that read other files. */
const scriptOf = (words: ReadonlyArray<Word>): Word | undefined => {
  if (!shells.has(nameOf(words))) return undefined
  let isScript = false
  let at = 1
  for (let word = words[at]; word !== undefined; word = words[at]) {
    if (word.dynamic || !/^[-+]/.test(word.text)) break
    if (/^[-+][a-z]*o$/.test(word.text)) at += 1
    else if (!/^([-+][a-z]+|--|--login|--norc|--noprofile)$/.test(word.text)) return undefined
    if (/^-[a-z]*c/.test(word.text)) isScript = true
    at += 1
  }
  return isScript ? words[at] : undefined
}

/** A shell that runs what it reads from its input. */
const readsScript = (words: ReadonlyArray<Word>): boolean =>
  shells.has(nameOf(words)) && words.slice(1).every((word) => !word.dynamic && word.text.startsWith("-"))

/** A shell with a script that could not be told from its options. */
const mayHoldScript = (words: ReadonlyArray<Word>): boolean =>
  shells.has(nameOf(words)) && words.some((word) => word.dynamic || /^-[a-zA-Z]*c/.test(word.text))

/** The scripts of shells behind a launcher, such as in `xargs sh -c '…'`. */
const launchedScripts = (words: ReadonlyArray<Word>): ReadonlyArray<Word> =>
  launchers.test(words[0]?.text ?? "")
    ? words.slice(1, MAX_LAUNCHED_WORDS).flatMap((_, at) => scriptOf(words.slice(at + 1)) ?? [])
    : []

type Resolved = Omit<ShellLine, "source">

const unseen: Resolved = { segments: [], simple: false, legible: false }

const nest = (script: string, depth: number): Resolved =>
  depth < MAX_DEPTH ? resolve(scan(script), depth + 1) : unseen

/** One command with its scripts looked into. */
const expand = (command: SimpleCommand, depth: number): Resolved => {
  const { assignments, words } = peel(command)
  const { fed, reads, source, writes } = command
  const texts = words.map((word) => word.text)
  const own: Segment = { source, text: texts.join(" "), words, assignments, writes, reads, fed }
  if (texts[0] === "eval" || texts[0] === "trap") {
    const evaluated = texts[0] === "eval" ? texts.slice(1).join(" ") : (texts[1] ?? "")
    const nested = words.some((word) => word.dynamic) ? unseen : nest(evaluated, depth)
    return { segments: [own, ...nested.segments], simple: false, legible: nested.legible }
  }
  const script = scriptOf(words)
  if (script?.dynamic === false) {
    const { segments, ...nested } = nest(script.text, depth)
    const inherit = (segment: Segment): Segment => ({
      ...segment,
      assignments: [...assignments, ...segment.assignments],
      writes: [...writes, ...segment.writes],
      reads: [...reads, ...segment.reads],
      fed: fed || segment.fed
    })
    return { ...nested, segments: segments.map(inherit) }
  }
  const launched = launchedScripts(words).map((launched) => (launched.dynamic ? unseen : nest(launched.text, depth)))
  const isNamed = words[0]?.dynamic !== true && words[0]?.pattern !== true
  return {
    segments: [own, ...launched.flatMap(({ segments }) => segments)],
    simple: isNamed && script === undefined,
    legible:
      isNamed && !mayHoldScript(words) && !(fed && readsScript(words)) && launched.every(({ legible }) => legible)
  }
}

const resolve = ({ commands, legible, simple }: Scan, depth: number): Resolved => {
  const parts = commands.map((command) => expand(command, depth))
  return {
    segments: parts.flatMap(({ segments }) => segments),
    simple: simple && parts.every((part) => part.simple),
    legible: legible && parts.every((part) => part.legible)
  }
}

export const parseLine = (command: string): ShellLine => {
  const source = command.trim()
  if (source.length > MAX_LENGTH) return { source, ...unseen }
  return { source, ...resolve(scan(command), 0) }
}

/** Whether the text says all: no redirection into a file, no variable that changes what runs. */
export const isPlain = (segment: Segment): boolean =>
  segment.words.length > 0 &&
  segment.writes.length === 0 &&
  segment.assignments.every((name) => harmlessVariable.test(name)) &&
  !/\s/.test(segment.words[0]?.text ?? "")

/** Every text under which a segment may be denied: as written, as run, without its folder, behind a launcher. */
export const guises = (segment: Segment): ReadonlyArray<string> => {
  const words = segment.words.map((word) => word.text)
  const suffixes = launchers.test(words[0] ?? "")
    ? words.slice(0, MAX_LAUNCHED_WORDS).map((_, at) => words.slice(at))
    : [words]
  const texts = suffixes.flatMap(([first = "", ...rest]) => [
    [first, ...rest].join(" "),
    [first.slice(first.lastIndexOf("/") + 1), ...rest].join(" ")
  ])
  return [...new Set([segment.source, ...texts])]
}

const dangerous =
  /^(\S*\/)?(rm|rmdir|shred|dd|mkfs\S*|chmod|chown|chgrp|chattr|kill|pkill|killall|sudo|doas|shutdown|reboot|git( \S+)* push)( |$)/

/** Commands whose approval is never extended beyond the exact line that was approved. */
export const isDangerous = (segment: Segment): boolean => guises(segment).some((text) => dangerous.test(text))
