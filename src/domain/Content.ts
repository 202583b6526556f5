/** What a message is made of. Field names are ACP's, which both protocol versions share. */
import * as Schema from "effect/Schema"

export const TextContent = Schema.Struct({ type: Schema.tag("text"), text: Schema.String })

/** `data` is base64. */
export const ImageContent = Schema.Struct({
  type: Schema.tag("image"),
  data: Schema.String,
  mimeType: Schema.String,
  uri: Schema.optionalKey(Schema.String)
})

/** `data` is base64. */
export const AudioContent = Schema.Struct({ type: Schema.tag("audio"), data: Schema.String, mimeType: Schema.String })

/** A pointer that the agent may follow; its content was not sent. `size` is in bytes. */
export const ResourceLink = Schema.Struct({
  type: Schema.tag("resource_link"),
  uri: Schema.String,
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  mimeType: Schema.optionalKey(Schema.String),
  size: Schema.optionalKey(Schema.Int)
})

export const TextResource = Schema.Struct({
  uri: Schema.String,
  mimeType: Schema.optionalKey(Schema.String),
  text: Schema.String
})

/** `blob` is base64. */
export const BlobResource = Schema.Struct({
  uri: Schema.String,
  mimeType: Schema.optionalKey(Schema.String),
  blob: Schema.String
})

export const EmbeddedResource = Schema.Struct({
  type: Schema.tag("resource"),
  resource: Schema.Union([TextResource, BlobResource])
})

/** A piece of a prompt, of a message or of what a tool call shows. */
export const Content = Schema.Union([TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource])
export type Content = typeof Content.Type

export const text = (text: string): Content => ({ type: "text", text })
