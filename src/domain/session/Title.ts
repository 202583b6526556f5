/** A short single-line name for a session, from the first thing that was asked (F57). */
import type { Content } from "../Content.ts"
import { clip } from "../text/Clip.ts"

const MAX_LENGTH = 60
/** A prompt may hold a whole file; a name is found at its head. */
const MAX_READ = 4096

const shorten = (line: string): string => {
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

const firstLine = (content: Content): string | undefined =>
  clip(nameOf(content), MAX_READ)
    .toWellFormed()
    .split(/[\r\n]/u)
    .map((line) => line.replace(/[\s\p{Cc}]+/gu, " ").trim())
    .find((line) => line !== "")

/** Editors put attached files before the words: the words come first here. */
export const titleOf = (prompt: ReadonlyArray<Content>): string => {
  const words = prompt.filter(({ type }) => type === "text")
  const line = [...words, ...prompt].map(firstLine).find((found) => found !== undefined)
  return shorten(line ?? "Untitled")
}
