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
}

export const emptyView: LiveView = { settled: "", open: "", received: 0, sent: 0 }

/** `text` is free of control sequences; its carriage returns count. */
export const receive = (view: LiveView, text: string): LiveView => {
  const [settled, open] = settle(view.open, text)
  return { ...view, settled: (view.settled + settled).slice(-VIEW_LIMIT), open, received: view.received + text.length }
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
