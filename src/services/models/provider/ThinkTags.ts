/**
 * Splits `<think>…</think>` at the start of an answer from the answer itself, whatever way the text is cut into deltas
 * (F67). Tags further on are text: an answer may well talk about them.
 */

export interface Piece {
  readonly thought: boolean
  readonly text: string
}

/** `held` is text that cannot be judged yet. In `opening` and `closing` white space is skipped. */
export interface ThinkState {
  readonly phase: "start" | "opening" | "thinking" | "closing" | "answer"
  readonly held: string
}

const OPEN = "<think>"
const CLOSE = "</think>"

/** Nothing seen yet: tags are looked for. */
export const initial: ThinkState = { phase: "start", held: "" }
/** All further text is answer. */
export const answering: ThinkState = { phase: "answer", held: "" }

/** How many characters at the end of `text` may be the beginning of `tag`. */
const overlap = (text: string, tag: string): number => {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length
  }
  return 0
}

const advance = (state: ThinkState, pieces: Array<Piece>): ThinkState => {
  const { phase, held } = state
  switch (phase) {
    case "start": {
      const text = held.trimStart()
      if (text.startsWith(OPEN)) return advance({ phase: "opening", held: text.slice(OPEN.length) }, pieces)
      return OPEN.startsWith(text) ? state : advance({ phase: "answer", held }, pieces)
    }
    case "opening": {
      const text = held.trimStart()
      return text === "" ? { phase, held: "" } : advance({ phase: "thinking", held: text }, pieces)
    }
    case "thinking": {
      const end = held.indexOf(CLOSE)
      const known = end >= 0 ? end : held.length - overlap(held, CLOSE)
      if (known > 0) pieces.push({ thought: true, text: held.slice(0, known) })
      return end >= 0
        ? advance({ phase: "closing", held: held.slice(end + CLOSE.length) }, pieces)
        : { phase, held: held.slice(known) }
    }
    case "closing": {
      const text = held.trimStart()
      return text === "" ? { phase, held: "" } : advance({ phase: "answer", held: text }, pieces)
    }
    case "answer":
      if (held !== "") pieces.push({ thought: false, text: held })
      return answering
  }
}

/** Takes one more delta. Pieces are never empty. */
export const step = (state: ThinkState, delta: string): readonly [ThinkState, ReadonlyArray<Piece>] => {
  if (state.phase === "answer") return [state, delta === "" ? [] : [{ thought: false, text: delta }]]
  const pieces: Array<Piece> = []
  return [advance({ phase: state.phase, held: state.held + delta }, pieces), pieces]
}

/** What was held back when the text ended. */
export const finish = (state: ThinkState): ReadonlyArray<Piece> =>
  state.held === "" ? [] : [{ thought: state.phase === "thinking", text: state.held }]
