/**
 * What a person sees of a running command: its last screenful, never more bytes in all than a small multiple of what the
 * command wrote, and still something of everything new (F76, F77).
 */
import { settle, shown } from "./Terminal.ts"

/** Characters of one view. */
export const VIEW_LIMIT = 16_384

/** A view may be this many times as long as the output that it pays for. */
const MULTIPLE = 3

/** Characters that any command may show on top, so that short output is always seen whole. */
const ALLOWANCE = 32_768

/** A view never shrinks below this, or the newest line could be missing. */
const SMALLEST = 256

export interface LiveView {
  readonly settled: string
  readonly open: string
  /** Characters that came, and that were shown. */
  readonly received: number
  readonly sent: number
  /** The end of what came since the last time, and how many characters came before it. */
  readonly fresh: string
  readonly skipped: number
  /** Whether what was told last ended in the middle of a line. */
  readonly midLine: boolean
}

export const emptyView: LiveView = {
  settled: "",
  open: "",
  received: 0,
  sent: 0,
  fresh: "",
  skipped: 0,
  midLine: false
}

/** `text` is free of control sequences; its carriage returns count. */
export const receive = (view: LiveView, text: string): LiveView => {
  const [settled, open] = settle(view.open, text)
  const fresh = view.fresh + text
  const kept = fresh.slice(-VIEW_LIMIT)
  return {
    ...view,
    settled: (view.settled + settled).slice(-VIEW_LIMIT),
    open,
    received: view.received + text.length,
    fresh: kept,
    skipped: view.skipped + fresh.length - kept.length
  }
}

/** The text to show now, and the view that has paid for it. */
export const take = (view: LiveView): readonly [text: string, view: LiveView] => {
  const left = view.received * MULTIPLE + ALLOWANCE - view.sent
  const size = Math.min(VIEW_LIMIT, Math.max(SMALLEST, left))
  const whole = view.settled + shown(view.open)
  const tail = whole.slice(-size)
  const start = tail.length < whole.length ? tail.indexOf("\n") + 1 : 0
  const text = tail.slice(start === tail.length ? 0 : start).toWellFormed()
  return [text, { ...view, sent: view.sent + text.length }]
}

/** What is new since the last time, for whoever keeps what came before: all of it, or its end behind a note. */
export const takeFresh = (view: LiveView): readonly [fresh: string, view: LiveView] => {
  const { fresh, midLine, skipped } = view
  if (fresh === "") return ["", view]
  const next = { ...view, fresh: "", skipped: 0, midLine: !fresh.endsWith("\n") }
  if (skipped === 0) return [fresh.toWellFormed(), next]
  const start = fresh.indexOf("\n") + 1
  const whole = fresh.slice(start === fresh.length ? 0 : start)
  const left = skipped + fresh.length - whole.length
  return [`${midLine ? "\n" : ""}[… ${left} characters are not shown …]\n${whole}`.toWellFormed(), next]
}
