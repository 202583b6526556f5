/**
 * Long output in little memory: its head and its tail by lines and bytes, whole while it is short. What is shown of it is
 * the same for any cut of the input.
 */

/** What is kept of one end: as many line ends, and as many bytes of UTF-8, whichever comes first. */
export interface Room {
  readonly lines: number
  readonly bytes: number
}

export interface OutputLimits {
  readonly head: Room
  readonly tail: Room
}

export interface Output {
  readonly limits: OutputLimits
  readonly head: string
  /** What is left of the room for the head; nothing once something did not fit. */
  readonly room: Room
  /** The end of what did not fit into the head, and a little more than may be shown of it. */
  readonly tail: string
  /** Characters so far. */
  readonly length: number
  /** Line ends so far. */
  readonly lines: number
}

/** What of a command's output the model gets. */
export const defaultLimits: OutputLimits = { head: { lines: 400, bytes: 10_000 }, tail: { lines: 800, bytes: 14_000 } }

export const empty = (limits: OutputLimits = defaultLimits): Output => ({
  limits,
  head: "",
  room: limits.head,
  tail: "",
  length: 0,
  lines: 0
})

const LINE_END = 10

/** Bytes of one code unit: each half of a pair is half of its four, so that a cut between them changes no sum. */
const width = (unit: number): number =>
  unit < 0x80 ? 1 : unit < 0x8_00 || (unit >= 0xd8_00 && unit <= 0xdf_ff) ? 2 : 3

const lineEnds = (text: string): number => {
  let count = 0
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1
  return count
}

/** How much of the beginning of `text` there is room for, and what room that leaves. */
const fill = (text: string, room: Room): readonly [length: number, left: Room] => {
  let { bytes, lines } = room
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    bytes -= width(unit)
    if (bytes < 0 || lines === 0) return [at, { lines: 0, bytes: 0 }]
    if (unit === LINE_END) lines -= 1
  }
  return [text.length, { lines, bytes }]
}

/** The end of `text` that there is room for. */
const lastOf = (text: string, room: Room): string => {
  let { bytes, lines } = room
  let at = text.length
  while (at > 0) {
    const unit = text.charCodeAt(at - 1)
    bytes -= width(unit)
    if (unit === LINE_END) lines -= 1
    if (bytes < 0 || lines < 0) break
    at -= 1
  }
  return text.slice(at)
}

export const push = (self: Output, text: string): Output => {
  const { limits } = self
  const [taken, room] = fill(text, self.room)
  const rest = self.tail + text.slice(taken)
  return {
    limits,
    head: self.head + text.slice(0, taken),
    room,
    // Looking for its beginning with every piece would make small pieces dear.
    tail: rest.length > 2 * limits.tail.bytes ? lastOf(rest, limits.tail) : rest,
    length: self.length + text.length,
    lines: self.lines + lineEnds(text)
  }
}

const ends = (self: Output): readonly [head: string, tail: string] => [self.head, lastOf(self.tail, self.limits.tail)]

/** Whether something has to be left out. */
export const isCut = (self: Output): boolean => {
  const [head, tail] = ends(self)
  return self.length > head.length + tail.length
}

const toLineEnd = (text: string): string => {
  const end = text.lastIndexOf("\n") + 1
  return end > text.length / 2 ? text.slice(0, end) : text
}

const fromLineStart = (text: string): string => {
  const start = text.indexOf("\n") + 1
  return start < text.length / 2 ? text.slice(start) : text
}

/** All of it, or head and tail by whole lines around a note. `place` is where all of it can be read. */
export const render = (self: Output, place?: string): string => {
  const [first, last] = ends(self)
  if (self.length === first.length + last.length) return (first + last).toWellFormed()
  const head = toLineEnd(first)
  const tail = fromLineStart(last)
  const left = self.length - head.length - tail.length
  const lines = self.lines - lineEnds(head) - lineEnds(tail)
  const where = place === undefined ? "" : `; the whole output is in ${place}`
  const what = lines > 1 ? `${lines} lines, ${left} characters` : `${left} characters`
  return `${head.replace(/\n?$/, "\n")}[… ${what} left out${where} …]\n${tail}`.toWellFormed()
}
