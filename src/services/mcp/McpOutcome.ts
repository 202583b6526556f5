/** What a tool of an MCP server gave: a text for the model, content for a person, both bounded. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Content, text as textOf } from "../../domain/Content.ts"
import type { ToolOutcome } from "../ToolDefinition.ts"
import type { McpResult } from "./McpServer.ts"
import type { Redactor } from "./Redactor.ts"

/** Characters of text that the model gets. */
const MAX_TEXT = 100_000
/** Characters of base64 in one image or other piece of data. */
const MAX_DATA = 8 * 1024 * 1024
const MAX_BLOCKS = 100

const decodeContent = Schema.decodeUnknownOption(Content)

const kilobytes = (base64: string): string => `${Math.ceil((base64.length * 3) / 4 / 1_000)} kB`

const describe = (content: Content): string => {
  switch (content.type) {
    case "text":
      return content.text
    case "image":
    case "audio":
      return `[${content.type}, ${content.mimeType}, ${kilobytes(content.data)}: shown to the user]`
    case "resource_link":
      return [`[resource ${content.title ?? content.name}: ${content.uri}]`, content.description ?? ""]
        .join("\n")
        .trim()
    case "resource":
      return "text" in content.resource
        ? `[resource ${content.resource.uri}]\n${content.resource.text}`
        : `[resource ${content.resource.uri}, ${content.resource.mimeType ?? "binary"}, ${kilobytes(content.resource.blob)}]`
  }
}

const dataOf = (content: Content): string => {
  switch (content.type) {
    case "image":
    case "audio":
      return content.data
    case "resource":
      return "blob" in content.resource ? content.resource.blob : ""
    case "text":
    case "resource_link":
      return ""
  }
}

/** Cuts at a whole character. */
const cut = (text: string): string => {
  if (text.length <= MAX_TEXT) return text
  const kept = text.slice(0, MAX_TEXT).replace(/[\uD800-\uDBFF]$/, "")
  return `${kept}\n[${text.length - kept.length} more characters were left out; ask the tool for less at a time]`
}

/** A block as content; what is unknown or too large becomes a text that says so. */
const contentOf = (block: Schema.Json): Content => {
  const content = decodeContent(block)
  if (Option.isNone(content)) return textOf(`[content of an unknown kind] ${JSON.stringify(block)}`)
  return dataOf(content.value).length > MAX_DATA
    ? textOf(`${describe(content.value).replace(": shown to the user", "")} was left out: it is too large`)
    : content.value
}

const shorten = (content: Content): Content => {
  if (content.type === "text") return textOf(cut(content.text))
  if (content.type === "resource" && "text" in content.resource) {
    return { type: "resource", resource: { ...content.resource, text: cut(content.resource.text) } }
  }
  return content
}

/** Without the credentials of the server. */
export const outcomeOf = (result: McpResult, redactor: Redactor): ToolOutcome => {
  const blocks = (result.content ?? []).map(redactor.result)
  const contents = blocks.slice(0, MAX_BLOCKS).map(contentOf)
  if (blocks.length > MAX_BLOCKS) contents.push(textOf(`[${blocks.length - MAX_BLOCKS} more pieces were left out]`))
  const structured = result.structuredContent === undefined ? undefined : redactor.result(result.structuredContent)
  if (contents.length === 0)
    contents.push(textOf(structured === undefined ? "(no output)" : JSON.stringify(structured)))
  const isShown = structured !== undefined && JSON.stringify(structured).length <= MAX_TEXT
  return {
    status: result.isError === true ? "failed" : "completed",
    text: cut(contents.map(describe).join("\n")),
    content: contents.map((content) => ({ type: "content", content: shorten(content) })),
    ...(isShown ? { rawOutput: structured } : {})
  }
}
