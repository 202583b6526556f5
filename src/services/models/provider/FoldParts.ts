/** A streamed answer as the whole that it amounts to. */
import type * as Response from "effect/ai/Response"
import { type Metadata, mergeMetadata, plainMetadata } from "./PlainJson.ts"

interface Block {
  readonly index: number
  text: string
  metadata: Metadata
}

/** Blocks come where they began; parameters in pieces are left out, since the calls hold them whole. */
export const foldParts = (parts: ReadonlyArray<Response.StreamPartEncoded>): Array<Response.PartEncoded> => {
  const whole: Array<Response.PartEncoded> = []
  const blocks = new Map<string, Block>()
  const extend = (type: "text" | "reasoning", id: string, delta: string, metadata: unknown): void => {
    const key = `${type} ${id}`
    const block = blocks.get(key) ?? { index: whole.length, text: "", metadata: {} }
    blocks.set(key, block)
    block.text += delta
    block.metadata = mergeMetadata(block.metadata, plainMetadata(metadata))
    whole[block.index] = { type, text: block.text, metadata: block.metadata }
  }
  for (const part of parts) {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        extend(part.type === "text-start" ? "text" : "reasoning", part.id, "", part.metadata)
        break
      case "text-delta":
      case "reasoning-delta":
        extend(part.type === "text-delta" ? "text" : "reasoning", part.id, part.delta, part.metadata)
        break
      case "text-end":
      case "reasoning-end":
        extend(part.type === "text-end" ? "text" : "reasoning", part.id, "", part.metadata)
        // A later block may use the id again.
        blocks.delete(`${part.type === "text-end" ? "text" : "reasoning"} ${part.id}`)
        break
      case "tool-params-start":
      case "tool-params-delta":
      case "tool-params-end":
      case "error":
        break
      default:
        whole.push(part)
    }
  }
  return whole
}
