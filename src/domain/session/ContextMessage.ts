/** Messages as the model reads them, in the encoding of `effect/ai` prompts. */
import * as Base64 from "effect/encoding/Base64"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Content } from "../Content.ts"
import { decode } from "../text/Encoding.ts"

const textPart = (text: string): Schema.Json => ({ type: "text", text })

const filePart = (mediaType: string, data: string): Schema.Json => ({ type: "file", mediaType, data })

const resource = (uri: string, text: string): Schema.Json => textPart(`<resource uri="${uri}">\n${text}\n</resource>`)

/** Editors send texts as bytes too; what is none is at least named (F96). */
const textOf = (blob: string, mimeType: string | undefined): string =>
  Option.match(Option.flatMap(Option.getSuccess(Base64.decode(blob)), decode), {
    onNone: () => `[Binary content${mimeType === undefined ? "" : ` (${mimeType})`}, which cannot be shown]`,
    onSome: ({ text }) => text
  })

/** A link stays a link: its target was never sent. An embedded text names where it comes from. */
const toPart = (content: Content): Schema.Json => {
  switch (content.type) {
    case "text":
      return textPart(content.text)
    case "image":
      return filePart(content.mimeType, content.data)
    case "audio":
      return textPart(`[An audio clip (${content.mimeType}) was attached; it cannot be heard here]`)
    case "resource_link":
      return textPart(`[${content.title ?? content.name}](${content.uri})`)
    case "resource": {
      if ("text" in content.resource) return resource(content.resource.uri, content.resource.text)
      const { blob, mimeType, uri } = content.resource
      return mimeType?.startsWith("image/") === true ? filePart(mimeType, blob) : resource(uri, textOf(blob, mimeType))
    }
  }
}

/** What a person sent. Images are in it whether or not the present model takes them. */
export const userMessage = (content: ReadonlyArray<Content>): Schema.Json => ({
  role: "user",
  content: content.map(toPart)
})

export const assistantMessage = (text: string): Schema.Json => ({ role: "assistant", content: [textPart(text)] })

/** The role of an encoded message; undefined for anything else. */
export const roleOf = (message: Schema.Json): string | undefined =>
  Predicate.hasProperty(message, "role") && typeof message.role === "string" ? message.role : undefined
