/** One session's events as the inbox tells them. The same function serves what happens and what the log has. */
import type { Content } from "../../domain/Content.ts"
import type { Event } from "../../domain/Event.ts"
import type { ToolCallId } from "../../domain/Ids.ts"
import { isFinal, type ToolCallPatch, type ToolStatus } from "../../domain/Tool.ts"
import type { Body } from "./Event.ts"

interface Call {
  readonly title: string
  readonly state: ToolStatus
}

export interface Projection {
  /** What the event is told as. Where turns begin and end, a stream knows better. */
  readonly tell: (event: Event) => ReadonlyArray<Body>
  readonly titleOf: (id: ToolCallId) => string | undefined
}

/** Calls whose titles are remembered, the latest ones. */
const MAX_TITLES = 4_096

/** What a person reads of a message. */
export const textOf = (content: ReadonlyArray<Content>): string =>
  content
    .map((part) => {
      switch (part.type) {
        case "text":
          return part.text
        case "resource_link":
          return `[${part.name}]`
        case "resource":
          return `[${part.resource.uri}]`
        case "image":
        case "audio":
          return `[${part.type}]`
      }
    })
    .join("\n")

/** For a call that began before anything that is known here. */
export const UNTITLED = "Tool call"

/** `known` has the titles of calls whose beginning this projection is not told. */
export const make = (known: Projection["titleOf"] = () => undefined): Projection => {
  const titles = new Map<ToolCallId, string>()
  const calls = new Map<ToolCallId, Call>()

  const remember = (id: ToolCallId, title: string): void => {
    titles.set(id, title)
    const [oldest] = titles.keys()
    if (titles.size > MAX_TITLES && oldest !== undefined) titles.delete(oldest)
  }

  const tool = (id: ToolCallId, { status, title }: ToolCallPatch): ReadonlyArray<Body> => {
    const before = calls.get(id)
    // What does not say the state of a call that is new here changes nothing that is told.
    if (before === undefined && status === undefined && title === undefined) return []
    const call = {
      title: title ?? before?.title ?? titles.get(id) ?? known(id) ?? UNTITLED,
      state: status ?? before?.state ?? "pending"
    }
    remember(id, call.title)
    if (isFinal(call.state)) calls.delete(id)
    else calls.set(id, call)
    return before?.title === call.title && before.state === call.state
      ? []
      : [{ type: "tool", toolCallId: id, ...call }]
  }

  return {
    titleOf: (id) => titles.get(id),
    tell: (event) => {
      switch (event._tag) {
        case "UserMessage":
          return [{ type: "user", role: "user", text: textOf(event.content) }]
        case "TextDelta":
          return [{ type: "text", role: "assistant", text: event.text }]
        case "ThoughtDelta":
          return [{ type: "thought", text: event.text }]
        case "ToolCallStarted":
          return tool(event.call.id, event.call)
        case "ToolCallUpdated":
        case "ToolCallProgress":
          return tool(event.id, event.patch)
        default:
          return []
      }
    }
  }
}
