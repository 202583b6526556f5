/**
 * What a load tells of a stored log: every event in order, with adjacent chunks of one message merged, the usage once at
 * the end, and output too long for a screen cut. A state machine over entries, so a log of any length streams through.
 */
import type * as Schema from "effect/Schema"
import { type Delta, merge } from "./Delta.ts"
import type { StoredEvent } from "../Event.ts"
import { type NumberedEntry, type Position, positionOf } from "./Position.ts"
import type { Entry } from "./Session.ts"
import type { ToolCall, ToolCallPatch, ToolContent } from "../Tool.ts"
import { clip } from "../text/Clip.ts"

/** An event, and how far the log is told with it. */
export interface Told {
  readonly event: StoredEvent
  readonly position: Position
}

export interface ReplayBuffer {
  readonly delta: { readonly event: Delta; readonly position: Position } | undefined
  readonly usage: Extract<StoredEvent, { readonly _tag: "UsageUpdated" }> | undefined
  /** Of the last entry. */
  readonly last: Position
}

export const emptyBuffer: ReplayBuffer = { delta: undefined, usage: undefined, last: { seq: 0, length: 0 } }

/** Characters of one text or raw output of a tool call; the rest is told as a count (F53). */
export const MAX_OUTPUT = 262_144

const cutText = (text: string): string =>
  text.length <= MAX_OUTPUT
    ? text
    : `${clip(text, MAX_OUTPUT).toWellFormed()}\n[${text.length - MAX_OUTPUT} more characters are not shown]`

const cutContent = (item: ToolContent): ToolContent => {
  if (item.type === "output") return { ...item, text: cutText(item.text) }
  return item.type === "content" && item.content.type === "text"
    ? { ...item, content: { ...item.content, text: cutText(item.content.text) } }
    : item
}

const cutJson = (value: Schema.Json): Schema.Json => {
  if (typeof value === "string") return cutText(value)
  if (typeof value !== "object" || value === null) return value
  const text = JSON.stringify(value)
  return text.length <= MAX_OUTPUT ? value : cutText(text)
}

const cut = <A extends ToolCall | ToolCallPatch>(call: A): A => ({
  ...call,
  ...(call.content === undefined ? {} : { content: call.content.map(cutContent) }),
  ...(call.rawOutput === undefined ? {} : { rawOutput: cutJson(call.rawOutput) })
})

const pendingDelta = (buffer: ReplayBuffer): ReadonlyArray<Told> => (buffer.delta === undefined ? [] : [buffer.delta])

/** Takes one entry; gives the events that are ready. Fits `Stream.mapAccum`, with `flush` as its `onHalt`. */
export const step = (
  buffer: ReplayBuffer,
  numbered: NumberedEntry
): readonly [buffer: ReplayBuffer, told: ReadonlyArray<Told>] => {
  const { entry } = numbered
  const position = positionOf(numbered)
  const next = { ...buffer, last: position }
  const tell = (event: StoredEvent) =>
    [{ ...next, delta: undefined }, [...pendingDelta(buffer), { event, position }]] as const
  switch (entry._tag) {
    case "TextDelta":
    case "ThoughtDelta": {
      const merged = buffer.delta === undefined ? undefined : merge(buffer.delta.event, entry)
      return merged === undefined
        ? [{ ...next, delta: { event: entry, position } }, pendingDelta(buffer)]
        : [{ ...next, delta: { event: merged, position } }, []]
    }
    case "UsageUpdated":
      return [{ ...next, usage: entry }, []]
    case "ToolCallStarted":
      return tell({ ...entry, call: cut(entry.call) })
    case "ToolCallUpdated":
      return tell({ ...entry, patch: cut(entry.patch) })
    case "UserMessage":
    case "PlanUpdated":
    case "CompactionUpdated":
    case "InfoUpdated":
      return tell(entry)
    case "ContextAppended":
    case "ContextTruncated":
    case "Compacted":
    case "Configured":
    case "ChangesUndone":
    case "FileChanged":
    case "Granted":
    case "Reopened":
    case "TurnStarted":
    case "TurnEnded":
      return [next, []]
  }
}

/** What is left at the end of the log. */
export const flush = (buffer: ReplayBuffer): ReadonlyArray<Told> =>
  buffer.usage === undefined
    ? pendingDelta(buffer)
    : [...pendingDelta(buffer), { event: buffer.usage, position: buffer.last }]

/** The whole of a log that is at hand. */
export const replay = (entries: Iterable<Entry>): ReadonlyArray<StoredEvent> => {
  const events: Array<StoredEvent> = []
  let buffer = emptyBuffer
  let seq = 0
  for (const entry of entries) {
    const [next, ready] = step(buffer, { seq: seq++, entry })
    buffer = next
    for (const { event } of ready) events.push(event)
  }
  return [...events, ...flush(buffer).map(({ event }) => event)]
}
