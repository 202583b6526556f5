/** A short single-line name for a session, from the first thing that was asked (F57). */
import type { Content } from "./Content.ts"

const MAX_LENGTH = 60

const clip = (line: string): string => {
  const characters = [...line]
  if (characters.length <= MAX_LENGTH) return line
  const head = characters.slice(0, MAX_LENGTH - 1).join("")
  const lastSpace = head.lastIndexOf(" ")
  return `${(lastSpace > MAX_LENGTH / 2 ? head.slice(0, lastSpace) : head).trimEnd()}…`
}

const nameOf = (content: Content): string => {
  switch (content.type) {
    case "text":
      return content.text
    case "resource_link":
      return content.title ?? content.name
    case "resource":
      return content.resource.uri
    case "image":
      return "Image"
    case "audio":
      return "Audio"
  }
}

export const titleOf = (prompt: ReadonlyArray<Content>): string => {
  const lines = prompt.flatMap((content) => nameOf(content).split(/\r?\n/u))
  const first = lines.map((line) => line.replace(/\s+/gu, " ").trim()).find((line) => line !== "")
  return clip(first ?? "Untitled")
}
