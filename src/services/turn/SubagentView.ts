/** What a person sees of a subagent at work, in the call that it works for (F79). */
import type { Event } from "../../domain/Event.ts"
import type { ToolCallId } from "../../domain/Ids.ts"
import type { ToolStatus } from "../../domain/Tool.ts"

export interface SubagentView {
  /** Whether what is shown changed. */
  readonly note: (event: Event) => boolean
  readonly text: () => string
  /** How many calls it made, and how many of them failed. */
  readonly counts: () => { readonly calls: number; readonly failed: number }
}

/** Calls that are shown, the latest ones; and characters of what it says. */
const MOST_SHOWN = 12
const LONGEST_TEXT = 1000

const marks: Readonly<Record<ToolStatus, string>> = { pending: "…", in_progress: "…", completed: "✓", failed: "✗" }

export const make = (): SubagentView => {
  const shown = new Map<ToolCallId, { readonly title: string; readonly status: ToolStatus }>()
  let calls = 0
  let failed = 0
  let message: string | undefined
  let said = ""

  const show = (id: ToolCallId, title: string, status: ToolStatus): void => {
    shown.set(id, { title, status })
    const [oldest] = shown.keys()
    if (shown.size > MOST_SHOWN && oldest !== undefined) shown.delete(oldest)
  }

  return {
    note: (event) => {
      switch (event._tag) {
        case "ToolCallStarted":
          calls += 1
          show(event.call.id, event.call.title, event.call.status)
          return true
        case "ToolCallUpdated": {
          const { status, title } = event.patch
          if (status === "failed") failed += 1
          const known = shown.get(event.id)
          if (known === undefined || (status === undefined && title === undefined)) return false
          shown.set(event.id, { title: title ?? known.title, status: status ?? known.status })
          return true
        }
        case "TextDelta":
          said = event.messageId === message ? said + event.text : event.text
          message = event.messageId
          said = said.slice(-LONGEST_TEXT).toWellFormed()
          return false
        default:
          return false
      }
    },
    text: () => {
      const more = calls - shown.size
      return [
        ...(more > 0 ? [`- ${more} earlier ${more === 1 ? "call" : "calls"}`] : []),
        ...[...shown.values()].map(({ status, title }) => `- ${marks[status]} ${title.replace(/\s+/g, " ")}`),
        ...(said.trim() === "" ? [] : ["", said.trim()])
      ].join("\n")
    },
    counts: () => ({ calls, failed })
  }
}
