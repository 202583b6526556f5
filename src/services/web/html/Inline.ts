/** The text of one paragraph while it grows: white space joined, and what is marked in it wrapped when its mark ends. */

type Decorate = (body: string) => string

interface Wrap {
  readonly name: string
  readonly decorate: Decorate
  /** The piece at which it begins. */
  start: number
}

/** Marks within marks; deeper ones are left out. */
const DEEPEST = 32

export interface Inline {
  /** `raw` text keeps its white space. */
  readonly text: (text: string, raw?: boolean) => void
  readonly space: () => void
  readonly open: (name: string, decorate: Decorate) => void
  readonly close: (name: string) => void
  readonly isIn: (name: string) => boolean
  /** What it is so far. What is marked goes on in the next paragraph. */
  readonly take: () => string
}

/** Leaves white space outside of the marks, and nothing where there is nothing. */
const decorated = (body: string, decorate: Decorate): string => {
  const inner = body.trim()
  if (inner === "") return body
  const before = body.slice(0, body.indexOf(inner))
  return before + decorate(inner) + body.slice(before.length + inner.length)
}

export const make = (): Inline => {
  const pieces: Array<string> = []
  const wraps: Array<Wrap> = []
  let spaced = true

  const apply = ({ decorate, start }: Wrap): void => {
    pieces.push(decorated(pieces.splice(start).join(""), decorate))
  }

  const text: Inline["text"] = (text, raw = false) => {
    const joined = raw ? text : text.replace(/[\s\u00a0]+/g, " ")
    const piece = spaced && !raw && joined.startsWith(" ") ? joined.slice(1) : joined
    if (piece === "") return
    pieces.push(piece)
    spaced = /\s$/.test(piece)
  }

  return {
    text,
    space: () => text(" "),
    open: (name, decorate) => {
      if (wraps.length < DEEPEST) wraps.push({ name, decorate, start: pieces.length })
    },
    close: (name) => {
      const found = wraps.findLastIndex((wrap) => wrap.name === name)
      const wrap = wraps[found]
      if (wrap === undefined) return
      wraps.length = found
      apply(wrap)
    },
    isIn: (name) => wraps.some((wrap) => wrap.name === name),
    take: () => {
      for (const wrap of wraps.toReversed()) {
        apply(wrap)
        wrap.start = 0
      }
      spaced = true
      return pieces.splice(0).join("")
    }
  }
}
