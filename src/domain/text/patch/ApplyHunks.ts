/**
 * Puts hunks into a text. A hunk belongs where its lines are: at the line that its head names, else at the only place
 * that has them. Blanks at the ends of lines may differ where nothing else fits. What no hunk names keeps every character.
 */
import * as Result from "effect/Result"
import { type Line, type LineEnding, lineEnding, splitLines, joinLines } from "../LineEnding.ts"
import { type Hunk, PatchFailed, type PatchLine } from "./FilePatch.ts"
import { clip } from "../Clip.ts"

/** `firstLine`, from 1, is where the new text begins to differ. */
export interface Patched {
  readonly text: string
  readonly firstLine: number
}

/** `name` is the file and `number` the hunk, from 1, for messages. */
interface Place {
  readonly name: string
  readonly number: number
  readonly hunk: Hunk
}

const fail = ({ hunk, name, number }: Place, message: string) =>
  Result.fail(new PatchFailed({ message: `Hunk ${number} of ${name} (line ${hunk.at} of the patch) ${message}` }))

const bare = (text: string): string => text.replace(/\r$/, "")

type Same = (own: Line, wanted: PatchLine) => boolean

/** A patch that speaks of `\r` means it; one that does not leaves line ends to the file. */
const exactly =
  (speaksOfEndings: boolean): Same =>
  (own, wanted) =>
    (own.ending === "") === wanted.isOpen &&
    (speaksOfEndings ? own.text + (own.ending === "\r\n" ? "\r" : "") === wanted.text : own.text === wanted.text)

const loosely: Same = (own, wanted) => own.text.trimEnd() === wanted.text.trimEnd()

const fits = (lines: ReadonlyArray<Line>, at: number, wanted: ReadonlyArray<PatchLine>, same: Same): boolean =>
  at + wanted.length <= lines.length &&
  wanted.every((line, index) => {
    const own = lines[at + index]
    return own !== undefined && same(own, line)
  })

const shorten = (text: string): string => JSON.stringify(text.length > 80 ? `${clip(text, 80)}…` : text)

/** Where the file first is not as the hunk says, at the place that fits best. */
const difference = (
  lines: ReadonlyArray<Line>,
  from: number,
  wanted: ReadonlyArray<PatchLine>,
  expected: number
): string => {
  const own = lines.map(({ text }) => text.trimEnd())
  const others = wanted.map(({ text }) => text.trimEnd())
  const matched = (at: number) => {
    const index = others.findIndex((other, offset) => own[at + offset] !== other)
    return index === -1 ? others.length : index
  }
  let best = Math.max(expected, from)
  let index = matched(best)
  for (let at = from; at < lines.length; at++) {
    const count = matched(at)
    if (count > index) [best, index] = [at, count]
  }
  const found = lines[best + index]?.text
  const other = shorten(bare(wanted[index]?.text ?? ""))
  return found === undefined
    ? `the file ends before ${other}`
    : `line ${best + index + 1} is ${shorten(found)}, not ${other}`
}

/** The line, from 0, behind the anchors of a hunk. */
const behindAnchors = (place: Place, lines: ReadonlyArray<Line>, from: number): Result.Result<number, PatchFailed> => {
  let at = from
  for (const anchor of place.hunk.anchors) {
    const found = lines.findIndex(({ text }, index) => index >= at && text.trim() === anchor)
    if (found === -1) return fail(place, `names the line ${shorten(anchor)}, which the file does not have there`)
    at = found + 1
  }
  return Result.succeed(at)
}

/** Where the old lines of a hunk are, from 0, and whether they are there to the last character. */
interface Found {
  readonly at: number
  readonly isExact: boolean
}

const exact = (at: number): Found => ({ at, isExact: true })

const locate = (
  place: Place,
  lines: ReadonlyArray<Line>,
  from: number,
  shift: number,
  same: Same
): Result.Result<Found, PatchFailed> => {
  const { anchors, atEnd, lines: all, start } = place.hunk
  const wanted = all.filter(({ tag }) => tag !== "+")
  if (wanted.length === 0) {
    if (lines.length === 0 || start === 0) {
      return lines.length === 0
        ? Result.succeed(exact(0))
        : fail(place, "adds lines to nothing, but the file is not empty: add lines around the place as context")
    }
    if (start !== undefined) return fail(place, "has no line of the file in it: add lines around the place as context")
    return Result.map(anchors.length > 0 ? behindAnchors(place, lines, from) : Result.succeed(lines.length), exact)
  }
  const expected = start === undefined ? -1 : start - 1 + shift
  const first = behindAnchors(place, lines, from)
  if (Result.isFailure(first)) return Result.fail(first.failure)
  for (const alike of [same, loosely]) {
    const isExact = alike === same
    if (expected >= first.success && fits(lines, expected, wanted, alike)) {
      return Result.succeed({ at: expected, isExact })
    }
    const found: Array<number> = []
    const begin = atEnd ? Math.max(first.success, lines.length - wanted.length) : first.success
    for (let at = begin; at < lines.length; at++) if (fits(lines, at, wanted, alike)) found.push(at)
    const [only] = found
    if (only !== undefined && found.length === 1) return Result.succeed({ at: only, isExact })
    if (only !== undefined) {
      const list = found.slice(0, 10).map((at) => at + 1)
      return fail(place, `fits ${found.length} places, at lines ${list.join(", ")}: add more context`)
    }
  }
  const why = difference(lines, first.success, wanted, expected)
  return fail(place, `does not fit: ${why}. Read the file again and make the patch anew`)
}

/** What the lines of the hunk become. Lines that stay are the file's own. */
const replaced = (
  old: ReadonlyArray<Line>,
  { lines }: Hunk,
  ending: LineEnding,
  speaksOfEndings: boolean
): ReadonlyArray<Line> => {
  const fresh: Array<Line> = []
  let next = 0
  /** Line ends of what goes: those of what comes in its place. */
  let freed: Array<Line["ending"]> = []
  for (const line of lines) {
    const own = old[next]
    if (line.tag !== "+") next += 1
    if (line.tag === "-" && own !== undefined) freed.push(own.ending)
    if (line.tag === " " && own !== undefined) {
      freed = []
      fresh.push(own)
    }
    if (line.tag === "+") {
      const usual = freed.shift() ?? own?.ending ?? ""
      const written = speaksOfEndings ? endingIn(line.text) : usual === "" ? ending : usual
      fresh.push({ text: bare(line.text), ending: line.isOpen ? "" : written })
    }
  }
  return fresh
}

const endingIn = (text: string): LineEnding => (text.endsWith("\r") ? "\r\n" : "\n")

/** A line end for lines that others follow; the last one ends as the old last one, unless the patch says otherwise. */
const closed = (lines: ReadonlyArray<Line>, ending: LineEnding, keepsOpen: boolean): ReadonlyArray<Line> =>
  lines.map((line, index) =>
    index < lines.length - 1
      ? line.ending === ""
        ? { ...line, ending }
        : line
      : keepsOpen
        ? { ...line, ending: "" }
        : line
  )

/** `name` is the file, for messages. The hunks come in the order of the file. */
export const applyHunks = (
  name: string,
  text: string,
  hunks: ReadonlyArray<Hunk>
): Result.Result<Patched, PatchFailed> => {
  const lines = splitLines(text)
  const speaksOfEndings = hunks.some((hunk) => hunk.lines.some((line) => line.text.endsWith("\r")))
  const ending = lineEnding(text)
  const same = exactly(speaksOfEndings)
  const result: Array<Line> = []
  let [from, shift, firstLine] = [0, 0, 0]
  let keepsOpen = false
  for (const [index, hunk] of hunks.entries()) {
    const place = { name, number: index + 1, hunk }
    if (hunk.lines.every(({ tag }) => tag === " ")) return fail(place, "changes nothing: mark lines with + and -")
    const found = locate(place, lines, from, shift, same)
    if (Result.isFailure(found)) return Result.fail(found.failure)
    const { at, isExact } = found.success
    const length = hunk.lines.filter(({ tag }) => tag !== "+").length
    result.push(...lines.slice(from, at))
    const unchanged = hunk.lines.findIndex(({ tag }) => tag !== " ")
    if (firstLine === 0) firstLine = result.length + unchanged + 1
    const old = lines.slice(at, at + length)
    result.push(...replaced(old, hunk, ending, speaksOfEndings && isExact))
    if (at + length === lines.length) {
      // Without a word on it, the end of the file stays as it was.
      keepsOpen = lines.at(-1)?.ending === "" && !hunk.lines.some(({ isOpen }) => isOpen)
    }
    if (hunk.start !== undefined) shift = at - (hunk.start - 1)
    from = at + length
  }
  result.push(...lines.slice(from))
  return Result.succeed({ text: joinLines(closed(result, ending, keepsOpen)), firstLine: Math.max(1, firstLine) })
}
