/** A session as a page that people read. */
import type { StoredEvent } from "../../domain/Event.ts"
import type { SessionRecord } from "../../domain/session/Session.ts"
import type { ToolCall } from "../../domain/Tool.ts"
import { fenced } from "../../domain/text/Fence.ts"
import { textOf } from "../../transports/inbox/Projection.ts"
import { outputOf } from "../oneshot/Lines.ts"

/** Of what one call shows, in characters. */
const MAX_OUTPUT = 4_000

/** In one line, so that it cannot become a heading or a list. */
const inLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

/** A call as it was in the end. */
const callText = ({ content, status, title }: ToolCall): string => {
  const output = outputOf(content).trim()
  const shown = output.length <= MAX_OUTPUT ? output : `${output.slice(0, MAX_OUTPUT)}\n…`
  const body = shown === "" ? "" : `\n\n${shown.startsWith("```") && shown === output ? shown : fenced(shown)}`
  return `**${inLine(title)}**${status === "failed" ? " (failed)" : ""}${body}`
}

const part = (event: StoredEvent, calls: ReadonlyMap<string, ToolCall>): string | undefined => {
  switch (event._tag) {
    case "UserMessage":
      return `## You\n\n${textOf(event.content)}`
    case "TextDelta":
      return event.text
    case "ToolCallStarted": {
      const call = calls.get(event.call.id)
      return call === undefined ? undefined : callText(call)
    }
    case "CompactionUpdated":
    case "ThoughtDelta":
    case "ToolCallUpdated":
    case "PlanUpdated":
    case "UsageUpdated":
    case "InfoUpdated":
      return undefined
  }
}

export const markdownOf = (record: SessionRecord, events: ReadonlyArray<StoredEvent>): string => {
  const calls = new Map<string, ToolCall>()
  for (const event of events) {
    if (event._tag === "ToolCallStarted") calls.set(event.call.id, event.call)
    const before = event._tag === "ToolCallUpdated" ? calls.get(event.id) : undefined
    if (event._tag === "ToolCallUpdated" && before !== undefined) calls.set(event.id, { ...before, ...event.patch })
  }
  const parts: Array<string> = []
  let isSpeaking = false
  for (const event of events) {
    const text = part(event, calls)
    if (text === undefined || text.trim() === "") continue
    if (event._tag === "UserMessage") isSpeaking = false
    else if (!isSpeaking) {
      parts.push("## Agent")
      isSpeaking = true
    }
    parts.push(text.trim())
  }
  const head = [
    `# ${inLine(record.title ?? "A session without a title")}`,
    `Session ${record.id} in ${record.cwd}, ${record.createdAt.slice(0, 16).replace("T", " ")} to ${record.updatedAt.slice(0, 16).replace("T", " ")} UTC`
  ]
  return `${[...head, ...parts].join("\n\n")}\n`
}
