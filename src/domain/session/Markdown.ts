/** A conversation as a document: what was asked, what was answered, and the titles of the calls between them. */
import type { Content } from "../Content.ts"
import type { StoredEvent } from "../Event.ts"
import type { ToolCallId } from "../Ids.ts"

export interface Document {
  readonly add: (event: StoredEvent) => void
  /** Without the prompt that came last, which is the wish for the document. */
  readonly text: () => string
}

const contentText = (content: Content): string => {
  switch (content.type) {
    case "text":
      return content.text
    case "image":
    case "audio":
      return `*(${content.type}, ${content.mimeType})*`
    case "resource_link":
      return `[${content.title ?? content.name}](${content.uri})`
    case "resource":
      return `*(${content.resource.uri})*`
  }
}

/** No more than `limit` characters, which the document says. */
export const makeDocument = (title: string, limit: number): Document => {
  const parts: Array<string> = [`# ${title}\n`]
  const calls = new Map<ToolCallId, { title: string; part: number }>()
  let length = 0
  let answering = false
  let asked = 1

  const push = (part: string): void => {
    if (length > limit) return
    length += part.length
    parts.push(length > limit ? "\n*(the rest is left out for its length)*\n" : part)
  }

  const answer = (): void => {
    if (!answering) push("\n## Agent\n")
    answering = true
  }

  const add = (event: StoredEvent): void => {
    switch (event._tag) {
      case "UserMessage":
        asked = parts.length
        answering = false
        push(`\n## User\n\n${event.content.map(contentText).join("\n")}\n`)
        return
      case "TextDelta":
        answer()
        push(`\n${event.text.trim()}\n`)
        return
      case "ToolCallStarted":
        answer()
        calls.set(event.call.id, { title: event.call.title, part: parts.length })
        push(`\n> ${event.call.title}\n`)
        return
      case "ToolCallUpdated": {
        const call = calls.get(event.id)
        if (call === undefined || parts[call.part] === undefined) return
        call.title = event.patch.title ?? call.title
        const { status } = event.patch
        parts[call.part] = `\n> ${call.title}${status === "failed" ? " — failed" : ""}\n`
        if (status === "completed" || status === "failed") calls.delete(event.id)
        return
      }
      default:
    }
  }

  return { add, text: () => parts.slice(0, asked).join("") }
}
