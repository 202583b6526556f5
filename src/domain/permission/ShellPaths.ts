/**
 * The paths that a shell line spells out. Those that exist only when it runs, in a variable or in a file that it reads,
 * cannot be seen.
 */
import { expandHome } from "../files/Paths.ts"
import { resolvePath } from "./PathPattern.ts"
import type { Segment, ShellLine } from "./ShellLine.ts"
import type { Word } from "./ShellScanner.ts"

/** Where a line runs. */
export interface ShellPlace {
  readonly cwd: string
  readonly home: string | undefined
}

/** Characters: no system takes a longer path. */
const MAX_LENGTH = 4_096

/** Folders that are kept in mind; a line that changes them more often is seen from the first ones. */
const MAX_FOLDERS = 8

/** Words of a line that are seen from every folder; where there are more, only from the first. */
const MAX_TEXTS = 1_000

/** Paths of a line whose real names are asked for. */
const MAX_PATHS = 2_000

const expand = (text: string, { home }: ShellPlace): string =>
  expandHome(text.replace(/^\$(HOME|\{HOME\})(?=\/|$)/, "~").replace(/^\$(PWD|\{PWD\})(?=\/|$)/, "."), home)

/** Both readings of `..`: `cd` takes it off the text, all others leave the folder that a link led to. */
const spellings = (folder: string, text: string): ReadonlyArray<string> => {
  const written = text.startsWith("/") ? text : text === "." ? folder : `${folder}/${text}`
  const plain = resolvePath("/", written)
  return /\/\.\.(\/|$)/.test(written) ? [plain, written] : [plain]
}

/** The texts as paths, from each of the folders. */
export const pathsFrom = (
  texts: ReadonlyArray<string>,
  folders: ReadonlyArray<string>,
  place: ShellPlace
): ReadonlyArray<string> => [
  ...new Set(
    texts
      .filter((text) => text !== "" && text.length <= MAX_LENGTH && !text.includes("\0"))
      .map((text) => expand(text, place))
      .flatMap((text) => (text.startsWith("/") ? [""] : folders).flatMap((folder) => spellings(folder, text)))
  )
]

/** Where a word says that what follows runs: behind `cd`, or behind the `-C` of many programs. */
const targetsOf = ({ words }: Segment): ReadonlyArray<string> => {
  const change = words.slice(0, 3).findIndex(({ text }) => text === "cd" || text === "pushd")
  const behind = change === -1 ? [] : words.slice(change + 1).filter(({ text }) => !text.startsWith("-"))
  return [
    ...(change === -1 ? [] : [behind[0]?.text ?? "~"]),
    ...words.filter((_, at) => words[at - 1]?.text === "-C").map(({ text }) => text)
  ]
}

const foldersOf = (line: ShellLine, place: ShellPlace): ReadonlyArray<string> => {
  const folders = new Set([place.cwd])
  let last = place.cwd
  for (const text of line.segments.flatMap(targetsOf)) {
    for (const folder of pathsFrom([text], [place.cwd, last], place)) {
      if (folders.size < MAX_FOLDERS) folders.add(folder)
      last = folder
    }
  }
  return [...folders]
}

/** The folder before the first wildcard of a word that the shell expands. */
export const stemOf = (text: string): string => {
  const stem = text.slice(0, /[*?[{]/.exec(text)?.index)
  return stem.slice(0, stem.lastIndexOf("/") + 1) || "."
}

/** Everything in a word that may be a path. `rev:path`, `host:path` and `a=b` are looked into, sentences are not. */
const textsOf = ({ pattern, text }: Word): ReadonlyArray<string> =>
  [
    text,
    text.slice(text.indexOf("=") + 1),
    ...(/\s/.test(text) ? [] : text.split(/[=:]/)),
    // The value that an option holds itself, such as in `-f/etc/x`.
    ...(text.startsWith("-") ? [text.replace(/^-[^=/~]*/, "")] : []),
    ...(/^-[^-]/.test(text) ? [text.slice(2)] : []),
    ...(pattern ? [stemOf(text)] : [])
  ].filter((candidate) => !candidate.startsWith("-"))

export interface LinePaths {
  /** Every folder in which a part of the line may run. */
  readonly folders: ReadonlyArray<string>
  /** Every path that the line spells out, from each of them. */
  readonly paths: ReadonlyArray<string>
  /** Those whose real names count. */
  readonly followed: ReadonlyArray<string>
}

export const pathsOfLine = (line: ShellLine, place: ShellPlace): LinePaths => {
  const texts = new Set(
    line.segments.flatMap(({ reads, words, writes }) => [...words, ...reads, ...writes].flatMap(textsOf))
  )
  const folders = texts.size > MAX_TEXTS ? [place.cwd] : foldersOf(line, place)
  const paths = pathsFrom([...texts], folders, place)
  return { folders, paths, followed: paths.slice(0, MAX_PATHS) }
}
