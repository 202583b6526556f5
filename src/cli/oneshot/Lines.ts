/** The events of a session as lines for programs: while they happen, and of a log. */
import type { Event } from "../../domain/Event.ts"
import type { ToolCallId } from "../../domain/Ids.ts"
import { outputText, type ToolCallPatch, type ToolContent } from "../../domain/Tool.ts"
import { textOf } from "../../transports/inbox/Projection.ts"
import type { StreamLine } from "./Output.ts"

/** Of one call of a tool, in characters. */
const MAX_OUTPUT = 65_536

const contentText = (content: ToolContent): string => {
  switch (content.type) {
    case "content":
      return textOf([content.content])
    case "output":
      return outputText(content)
    case "diff":
      return `Changed ${content.path}`
  }
}

/** What a call shows, as text. */
export const outputOf = (content: ReadonlyArray<ToolContent>): string => {
  const text = content.map(contentText).join("\n")
  return text.length <= MAX_OUTPUT
    ? text
    : `${text.slice(0, MAX_OUTPUT)}\n… (${text.length - MAX_OUTPUT} characters left out)`
}

const changed = (id: ToolCallId, patch: ToolCallPatch): StreamLine => {
  const { content, locations, rawInput, status, title } = patch
  return {
    type: "tool_call_update",
    id,
    ...(title === undefined ? {} : { title }),
    ...(status === undefined ? {} : { status }),
    ...(locations === undefined ? {} : { locations }),
    ...(rawInput === undefined ? {} : { input: rawInput }),
    ...(content === undefined ? {} : { output: outputOf(content) })
  }
}

/** What a program is told of an event; nothing of what only matters while it happens. */
export const lineOf = (event: Event): StreamLine | undefined => {
  switch (event._tag) {
    case "TextDelta":
      return { type: "text", messageId: event.messageId, text: event.text }
    case "ThoughtDelta":
      return { type: "thought", messageId: event.messageId, text: event.text }
    case "ToolCallStarted": {
      const { id, kind, locations, name, parent, rawInput, status, title } = event.call
      return {
        type: "tool_call",
        id,
        name,
        title,
        kind,
        status,
        locations,
        ...(rawInput === undefined ? {} : { input: rawInput }),
        ...(parent === undefined ? {} : { parent })
      }
    }
    case "ToolCallUpdated":
    case "ToolCallProgress":
      return changed(event.id, event.patch)
    case "PlanUpdated":
      return { type: "plan", entries: event.entries }
    case "UsageUpdated": {
      const { cost, size, used } = event
      return { type: "usage", used, size, ...(cost === undefined ? {} : { cost }) }
    }
    case "Notice": {
      const { description, severity, title } = event
      return { type: "notice", severity, title, ...(description === undefined ? {} : { description }) }
    }
    case "UserMessage":
      return { type: "user", messageId: event.messageId, text: textOf(event.content) }
    case "CompactionUpdated":
    case "InfoUpdated":
    case "ModeChanged":
    case "ConfigChanged":
    case "CommandsChanged":
    case "ActivityChanged":
      return undefined
  }
}
