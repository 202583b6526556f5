/** Long output in little memory: its head and its tail, whole while it is short. The same for any cut of the input. */

/** In characters. */
export interface OutputLimits {
  readonly head: number
  readonly tail: number
}

export interface Output {
  readonly limits: OutputLimits
  readonly head: string
  readonly tail: string
  /** Characters so far. */
  readonly length: number
}

/** What of a command's output the model gets. */
export const defaultLimits: OutputLimits = { head: 12_000, tail: 12_000 }

export const empty = (limits: OutputLimits = defaultLimits): Output => ({ limits, head: "", tail: "", length: 0 })

export const push = (self: Output, text: string): Output => {
  const room = self.limits.head - self.head.length
  const rest = self.tail + text.slice(room)
  return {
    limits: self.limits,
    head: self.head + text.slice(0, room),
    tail: rest.slice(Math.max(0, rest.length - self.limits.tail)),
    length: self.length + text.length
  }
}

/** Whether something had to be left out. */
export const isCut = (self: Output): boolean => self.length > self.limits.head + self.limits.tail

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
  if (!isCut(self)) return (self.head + self.tail).toWellFormed()
  const head = toLineEnd(self.head)
  const tail = fromLineStart(self.tail)
  const left = self.length - head.length - tail.length
  const where = place === undefined ? "" : `; the whole output is in ${place}`
  return `${head.replace(/\n?$/, "\n")}[… ${left} characters left out${where} …]\n${tail}`.toWellFormed()
}
