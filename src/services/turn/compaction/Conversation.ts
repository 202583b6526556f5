/** A conversation as a text, for a model that is to sum it up: as one message, it needs no tools and no pairs of calls. */
import type * as Prompt from "effect/ai/Prompt"

/** Characters of what was said, of what a tool was given, and of what it gave. */
const WORDS = 12_000
const INPUT = 1_500
const RESULT = 3_000

/** Beginning and end, of which the end says more in the output of a command. */
export const shorten = (text: string, limit: number): string => {
  if (text.length <= limit) return text
  const head = Math.floor(limit * 0.4)
  const left = text.length - limit
  return `${text.slice(0, head).toWellFormed()}\n[… ${left} characters left out …]\n${text.slice(head + left).toWellFormed()}`
}

const asText = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))

const partText = (part: Exclude<Prompt.Message["content"], string>[number]): ReadonlyArray<string> => {
  switch (part.type) {
    case "text":
      return [shorten(part.text, WORDS)]
    case "file":
      return [`[a file of the type ${part.mediaType}]`]
    case "tool-call":
      return [`[calls ${part.name}: ${shorten(asText(part.params), INPUT)}]`]
    case "tool-result":
      return [`[${part.name}${part.isFailure ? " failed" : ""}: ${shorten(asText(part.result), RESULT)}]`]
    default:
      return []
  }
}

const messageText = ({ content, role }: Prompt.Message): ReadonlyArray<string> => {
  const text = (typeof content === "string" ? [content] : content.flatMap(partText)).join("\n").trim()
  return text === "" ? [] : [`## ${role === "user" ? "The user" : role === "tool" ? "Tools" : "The agent"}\n${text}`]
}

/** No more than `limit` characters: what lies in between is left out first. */
export const conversationText = (messages: ReadonlyArray<Prompt.Message>, limit: number): string =>
  shorten(messages.flatMap(messageText).join("\n\n"), limit)
