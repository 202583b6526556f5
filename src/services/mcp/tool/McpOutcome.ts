/** What a tool of an MCP server gave: a text for the model, content for a person, both bounded; the rest goes to files. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Content, text as textOf } from "../../../domain/Content.ts"
import type { ToolOutcome } from "../../ToolDefinition.ts"
import type { McpResult } from "../McpServer.ts"
import type { Redactor } from "../Redactor.ts"

/** Characters of text that a person is shown, whatever the model may get. */
const MAX_SHOWN = 100_000
/** Characters of base64 in one image or other piece of data. */
const MAX_DATA = 8 * 1024 * 1024
const MAX_BLOCKS = 100
/** Of all texts together that are kept. */
const MAX_KEPT = 16 * 1024 * 1024

const decodeContent = Schema.decodeUnknownOption(Content)
const decodeBytes = Schema.decodeUnknownResult(Schema.Uint8ArrayFromBase64)

/** The path of the file that something is kept in, or why it is in none. */
export type Kept = Result.Result<string, string>

/** Keeps something of this call in a file. */
export type Keep = (ending: string, content: string | Uint8Array) => Effect.Effect<Kept>

export interface OutcomeOptions {
  readonly redactor: Redactor
  /** Bytes of text that the model gets. */
  readonly limit: number
  readonly keep: Keep
}

const kilobytes = (base64: string): string => `${Math.ceil((base64.length * 3) / 4 / 1_000)} kB`

interface Data {
  readonly base64: string
  readonly what: string
  readonly mimeType: string
  /** Whether editors show it. */
  readonly isShown: boolean
}

const dataOf = (content: Content): Data | undefined => {
  if (content.type === "image" || content.type === "audio") {
    return { base64: content.data, what: content.type, mimeType: content.mimeType, isShown: true }
  }
  if (content.type !== "resource" || !("blob" in content.resource)) return undefined
  const { blob, mimeType = "binary", uri } = content.resource
  return { base64: blob, what: `resource ${uri}`, mimeType, isShown: false }
}

const labelOf = ({ base64, mimeType, what }: Data): string => `${what}, ${mimeType}, ${kilobytes(base64)}`

const endingOf = ({ mimeType }: Data): string => /^[a-z]+\/([a-z0-9]{1,8})\b/.exec(mimeType)?.[1] ?? "bin"

/** What the model reads of a piece. */
const describe = (content: Content, kept: Kept | undefined): string => {
  const data = dataOf(content)
  if (data !== undefined) {
    const shown = data.isShown ? ": shown to the user" : ""
    const place =
      kept === undefined
        ? ""
        : Result.match(kept, { onFailure: (why) => `; not kept: ${why}`, onSuccess: (path) => `; kept in ${path}` })
    return `[${labelOf(data)}${shown}${place}]`
  }
  switch (content.type) {
    case "text":
      return content.text
    case "resource_link":
      return [`[resource ${content.title ?? content.name}: ${content.uri}]`, content.description ?? ""]
        .join("\n")
        .trim()
    case "resource":
      return "text" in content.resource ? `[resource ${content.resource.uri}]\n${content.resource.text}` : ""
    default:
      return ""
  }
}

const size = (text: string): number => new TextEncoder().encode(text).length

/** The first `limit` bytes, to a whole character. */
const headOf = (text: string, limit: number): string => {
  const room = new Uint8Array(limit)
  return text.slice(0, new TextEncoder().encodeInto(text, room).read)
}

/** A block as content; what is unknown or too large becomes a text that says so. */
const contentOf = (block: Schema.Json): Content => {
  const content = decodeContent(block)
  if (Option.isNone(content)) return textOf(`[content of an unknown kind] ${JSON.stringify(block)}`)
  const data = dataOf(content.value)
  return data !== undefined && data.base64.length > MAX_DATA
    ? textOf(`[${labelOf(data)}] was left out: it is too large`)
    : content.value
}

const shorten = (content: Content): Content => {
  const cut = (text: string) =>
    text.length > MAX_SHOWN ? `${headOf(text, MAX_SHOWN)}\n[… ${text.length} characters in all]` : text
  if (content.type === "text") return textOf(cut(content.text))
  if (content.type === "resource" && "text" in content.resource) {
    return { type: "resource", resource: { ...content.resource, text: cut(content.resource.text) } }
  }
  return content
}

/** Servers should say structured content as text too: many do, in JSON or as the one text in it, and some do not. */
const isSaid = (structured: Schema.Json, contents: ReadonlyArray<Content>): boolean => {
  const written = JSON.stringify(structured)
  const [only, ...others] = Object.values(Object(structured))
  return contents.some(
    (content) =>
      content.type === "text" &&
      ((others.length === 0 && only === content.text) ||
        Result.match(
          Result.try((): unknown => JSON.parse(content.text)),
          { onFailure: () => false, onSuccess: (json) => JSON.stringify(json) === written }
        ))
  )
}

/** Without the credentials of the server. */
export const outcomeOf = Effect.fnUntraced(function* (
  result: McpResult,
  { keep, limit, redactor }: OutcomeOptions
): Effect.fn.Return<ToolOutcome> {
  const blocks = (result.content ?? []).map(redactor.result)
  const contents = blocks.slice(0, MAX_BLOCKS).map(contentOf)
  if (blocks.length > MAX_BLOCKS) contents.push(textOf(`[${blocks.length - MAX_BLOCKS} more pieces were left out]`))
  const structured = result.structuredContent === undefined ? undefined : redactor.result(result.structuredContent)
  const written = structured === undefined ? undefined : JSON.stringify(structured)
  if (structured !== undefined && written !== undefined && !isSaid(structured, contents)) contents.push(textOf(written))
  if (contents.length === 0) contents.push(textOf("(no output)"))

  const lines = yield* Effect.forEach(contents, (content) => {
    const data = dataOf(content)
    const bytes = data === undefined ? undefined : decodeBytes(data.base64)
    return data === undefined || bytes === undefined || Result.isFailure(bytes)
      ? Effect.succeed(describe(content, undefined))
      : Effect.map(keep(endingOf(data), bytes.success), (kept) => describe(content, kept))
  })
  const whole = lines.join("\n")
  return {
    status: result.isError === true ? "failed" : "completed",
    text: yield* fit(whole, limit, keep),
    content: contents.map((content) => ({ type: "content", content: shorten(content) })),
    ...(structured !== undefined && written !== undefined && written.length <= MAX_SHOWN
      ? { rawOutput: structured }
      : {})
  }
})

/** The beginning, and where the rest is. */
const fit = Effect.fnUntraced(function* (whole: string, limit: number, keep: Keep) {
  const bytes = size(whole)
  if (bytes <= limit) return whole
  const rest = Result.match(yield* keep("txt", headOf(whole, MAX_KEPT)), {
    onFailure: (why) => `The rest is lost: ${why}. Ask the tool for less at a time`,
    onSuccess: (path) =>
      bytes > MAX_KEPT
        ? `The first ${MAX_KEPT} bytes are in ${path}: search it, or read it in parts`
        : `All of it is in ${path}: search it, or read it in parts`
  })
  return `${headOf(whole, limit)}\n[This is the beginning of ${bytes} bytes. ${rest}]`
})
