/** On which line of a document stands what a complaint speaks of. */
import { spoken, spokenUnknown } from "./ConfigKey.ts"
import { type Pair, tablesOf } from "./TomlSpans.ts"

/** Lines count from 1. Takes the path of a complaint; a key that is missing has the line of its table. */
export type Lines = (path: string) => number | undefined

const parentOf = (path: string): string => path.replace(/(?:\[\d+\]|(?:^|\.)[^.[\]]*)$/, "")

/** Names of one key, as no setting has them: what stands deeper has the line of what it stands in. */
const DEEPEST = 16

/** How many of these numbers, which grow, are at most `most`. */
const countUpTo = (numbers: ReadonlyArray<number>, most: number): number => {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] ?? Infinity) <= most) low = middle + 1
    else high = middle
  }
  return low
}

/** The text has to be TOML that a parser took. */
export const linesOf = (text: string): Lines => {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)]
  const lineAt = (at: number): number => countUpTo(starts, at)
  const lines = new Map<string, number>()
  /** How many tables a list has so far, by its path. */
  const counts = new Map<string, number>()

  const join = (path: string, name: string) => (path === "" ? name : `${path}.${name}`)
  const within = (path: string, name: string): string => {
    const inner = join(path, name)
    const count = counts.get(inner)
    return count === undefined ? inner : `${inner}[${count - 1}]`
  }
  const note = (path: string, name: string, at: number): void => {
    for (const key of [join(path, spoken(name)), join(path, spokenUnknown(name))]) {
      if (!lines.has(key)) lines.set(key, lineAt(at))
    }
  }
  const notePairs = (pairs: ReadonlyArray<Pair>, table: string): void => {
    for (const { path, start, value } of pairs) {
      let place = table
      for (const name of path.slice(0, DEEPEST)) {
        note(place, name, start)
        place = join(place, spoken(name))
      }
      notePairs(value.pairs ?? [], place)
    }
  }

  for (const { isItem, pairs, path, start } of tablesOf(text)) {
    let table = ""
    for (const [depth, name] of path.slice(0, DEEPEST).entries()) {
      if (isItem && depth === path.length - 1) {
        const list = join(table, spoken(name))
        counts.set(list, (counts.get(list) ?? 0) + 1)
      }
      note(table, name, start)
      table = within(table, spoken(name))
      if (!lines.has(table)) lines.set(table, lineAt(start))
    }
    notePairs(pairs, table)
  }
  return (path) => {
    for (let at = path; at !== ""; at = parentOf(at)) {
      const line = lines.get(at)
      if (line !== undefined) return line
    }
    return undefined
  }
}

/** The beginning of a complaint about a file: its path, with the line where that is known. */
export const placeIn = (file: string, text: string): ((path: string) => string) => {
  let lines: Lines | undefined
  return (path) => {
    lines ??= linesOf(text)
    const line = lines(path)
    return line === undefined ? file : `${file}:${line}`
  }
}
