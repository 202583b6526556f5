/** Content blocks: what prompts, messages and tool results are made of. */
import * as Schema from "effect/Schema"
import * as Lenient from "../Lenient.ts"

export const Annotations = Schema.Struct({
  audience: Lenient.drop(Lenient.items(Schema.Literals(["assistant", "user"]))),
  lastModified: Lenient.drop(Schema.String),
  priority: Lenient.drop(Schema.Finite),
  _meta: Lenient.meta
})

const common = { annotations: Lenient.drop(Annotations), _meta: Lenient.meta }

export const TextBlock = Schema.Struct({ ...common, type: Schema.Literal("text"), text: Schema.String })

/** `data` is base64. */
export const ImageBlock = Schema.Struct({
  ...common,
  type: Schema.Literal("image"),
  data: Schema.String,
  mimeType: Schema.String,
  uri: Lenient.drop(Schema.String)
})

/** `data` is base64. */
export const AudioBlock = Schema.Struct({
  ...common,
  type: Schema.Literal("audio"),
  data: Schema.String,
  mimeType: Schema.String
})

/** `size` is in bytes. */
export const ResourceLinkBlock = Schema.Struct({
  ...common,
  type: Schema.Literal("resource_link"),
  uri: Schema.String,
  name: Schema.String,
  title: Lenient.drop(Schema.String),
  description: Lenient.drop(Schema.String),
  mimeType: Lenient.drop(Schema.String),
  size: Lenient.drop(Schema.Int)
})

export const TextResource = Schema.Struct({
  uri: Schema.String,
  mimeType: Lenient.drop(Schema.String),
  text: Schema.String,
  _meta: Lenient.meta
})

/** `blob` is base64. */
export const BlobResource = Schema.Struct({
  uri: Schema.String,
  mimeType: Lenient.drop(Schema.String),
  blob: Schema.String,
  _meta: Lenient.meta
})

export const ResourceBlock = Schema.Struct({
  ...common,
  type: Schema.Literal("resource"),
  resource: Schema.Union([TextResource, BlobResource])
})

export const ContentBlock = Schema.Union([
  TextBlock,
  ImageBlock,
  AudioBlock,
  ResourceLinkBlock,
  ResourceBlock
]).annotate({
  identifier: "a content block of type text, image, audio, resource_link or resource"
})
export type ContentBlock = typeof ContentBlock.Type
