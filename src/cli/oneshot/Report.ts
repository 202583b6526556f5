/** What became of a single task, gathered from the events of its session: lines for programs, progress and the answer for people. */
import type { Event } from "../../domain/Event.ts"
import type { MessageId, ToolCallId } from "../../domain/Ids.ts"
import type { Outcome } from "../../domain/Turn.ts"
import { lineOf } from "./Lines.ts"
import type { ResultLine, StreamLine } from "./Output.ts"

export const exitCodes = { done: 0, failed: 1, refused: 3, cancelled: 130 } as const

type Refusal = ResultLine["refused"][number]

export interface Report {
  /** Takes an event, and gives the line that tells it to a program. */
  readonly hear: (event: Event) => StreamLine | undefined
  readonly titleOf: (id: ToolCallId) => string
  /** What was said since the last time that this was asked. */
  readonly takeSaid: () => string
  /** Whether the call is the question of trust in the folder, which is no call of the model. */
  readonly isTrust: (id: ToolCallId) => boolean
  readonly refuse: (refusal: Refusal) => void
  /** The end, for the result line. */
  readonly result: (end: End) => Omit<ResultLine, "durationMs" | "sessionId" | "model">
}

export type End =
  | { readonly _tag: "Ended"; readonly outcome: Outcome }
  /** `exitCode` says by which signal. */
  | { readonly _tag: "Cancelled"; readonly exitCode?: number }
  | { readonly _tag: "Failed"; readonly message: string }

const limits: ReadonlyMap<Outcome["stopReason"], string> = new Map([
  ["max_tokens", "The answer was cut off at the model's limit of output"],
  ["max_turn_requests", "The task was not finished within the allowed number of requests to the model"]
])

export const make = (): Report => {
  const titles = new Map<ToolCallId, string>()
  const trust = new Set<ToolCallId>()
  const refused: Array<Refusal> = []
  /** The message that was begun last, and the one before it that says something. */
  let current: { readonly id: MessageId; readonly text: string } | undefined
  let said = ""
  let unseen = ""
  let cost: number | undefined

  const say = (id: MessageId, text: string): void => {
    unseen += text
    if (current?.id === id) {
      current = { id, text: current.text + text }
      return
    }
    if (current !== undefined && current.text.trim() !== "") said = current.text
    current = { id, text }
  }

  const answer = (): string => (current === undefined || current.text.trim() === "" ? said : current.text)

  const closed = (outcome: Outcome): Pick<ResultLine, "outcome" | "exitCode" | "error"> => {
    if (outcome.stopReason === "cancelled") return { outcome: "cancelled", exitCode: exitCodes.cancelled }
    const limit = limits.get(outcome.stopReason)
    const error = outcome.error ?? (limit === undefined ? undefined : { message: limit })
    if (error !== undefined) return { outcome: "failed", exitCode: exitCodes.failed, error }
    return refused.length > 0
      ? { outcome: "refused", exitCode: exitCodes.refused }
      : { outcome: "done", exitCode: exitCodes.done }
  }

  return {
    takeSaid: () => {
      const taken = unseen
      unseen = ""
      return taken
    },
    hear: (event) => {
      if (event._tag === "TextDelta") say(event.messageId, event.text)
      if (event._tag === "UsageUpdated") cost = event.cost ?? cost
      if (event._tag === "ToolCallStarted") {
        titles.set(event.call.id, event.call.title)
        if (event.call.name === "trust") trust.add(event.call.id)
      }
      if (event._tag === "ToolCallUpdated" && event.patch.title !== undefined) titles.set(event.id, event.patch.title)
      return lineOf(event)
    },
    titleOf: (id) => titles.get(id) ?? "A tool call",
    isTrust: (id) => trust.has(id),
    refuse: (refusal) => void refused.push(refusal),
    result: (end) => {
      const common = { type: "result", refused, ...(cost === undefined ? {} : { cost }) } as const
      switch (end._tag) {
        case "Cancelled":
          return {
            ...common,
            outcome: "cancelled",
            exitCode: end.exitCode ?? exitCodes.cancelled,
            text: answer(),
            stopReason: "cancelled"
          }
        case "Failed":
          return {
            ...common,
            outcome: "failed",
            exitCode: exitCodes.failed,
            text: answer(),
            error: { message: end.message }
          }
        case "Ended": {
          const { outcome } = end
          // What went wrong was told as a message too, so that every client shows it.
          const text = outcome.error !== undefined && current?.text === outcome.error.message ? said : answer()
          return {
            ...common,
            ...closed(outcome),
            text,
            stopReason: outcome.stopReason,
            ...(outcome.usage === undefined ? {} : { usage: outcome.usage })
          }
        }
      }
    }
  }
}
