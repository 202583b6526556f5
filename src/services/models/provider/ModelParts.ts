/**
 * One streamed answer, part by part, as `effect/ai` knows it. Promises: no delta is empty (F68), thoughts and text never
 * mix (F67), metadata that must be sent back (signatures) survives, and an answer that breaks off is a failure.
 */
import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider"
import type * as Response from "effect/ai/Response"
import * as Result from "effect/Result"
import { isEmpty, type Metadata, mergeMetadata, plainMetadata } from "./PlainJson.ts"
import * as ThinkTags from "./ThinkTags.ts"

type Part = Response.StreamPartEncoded

/** The stream ended without the part that closes an answer. */
export interface EndedEarly {
  readonly _tag: "EndedEarly"
}
/** The model closed its answer as failed; `reason` is the provider's word for it. */
export interface AnswerFailed {
  readonly _tag: "AnswerFailed"
  readonly reason: string
}
/** What the provider said went wrong, in whatever shape. */
export interface ProviderSaid {
  readonly _tag: "ProviderSaid"
  readonly error: unknown
}
export type Broken = EndedEarly | AnswerFailed | ProviderSaid

export interface PartMapper {
  readonly accept: (part: LanguageModelV4StreamPart) => Result.Result<ReadonlyArray<Part>, Broken>
  /** To be called when the stream has ended. There is nothing left to tell then. */
  readonly end: () => Result.Result<ReadonlyArray<Part>, Broken>
}

/** `open`: its start was told. A text block starts with its first text, since that may turn out to be a thought. */
interface Block {
  open: boolean
  metadata: Metadata
}

const nothing: Result.Result<ReadonlyArray<Part>, Broken> = Result.succeed([])

const withMetadata = (metadata: Metadata): { readonly metadata?: Metadata } => (isEmpty(metadata) ? {} : { metadata })

const count = (value: number | undefined): number | undefined => (Number.isSafeInteger(value) ? value : undefined)

const usageOf = ({ inputTokens, outputTokens }: LanguageModelV4Usage): Response.FinishPartEncoded["usage"] => ({
  inputTokens: {
    uncached: count(inputTokens.noCache),
    total: count(inputTokens.total),
    cacheRead: count(inputTokens.cacheRead),
    cacheWrite: count(inputTokens.cacheWrite)
  },
  outputTokens: {
    total: count(outputTokens.total),
    text: count(outputTokens.text),
    reasoning: count(outputTokens.reasoning)
  }
})

/** Nesting that no tool means, and far from where writing it as JSON overflows the stack. */
const MAX_DEPTH = 500

const isDeep = (value: unknown): boolean => {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true
    level = level.flatMap((inner) => (typeof inner === "object" && inner !== null ? Object.values(inner) : []))
  }
  return false
}

/** Input that is no JSON, or none that can be handled, is passed on as text, so that whoever runs the call says so. */
const inputOf = (text: string): unknown => {
  if (text.trim() === "") return {}
  const parsed = Result.try((): unknown => JSON.parse(text))
  return Result.isFailure(parsed) || isDeep(parsed.success) ? text : parsed.success
}

/** `thinkTags`: whether thoughts may come inside the text (local models). */
export const make = (options: { readonly thinkTags: boolean }): PartMapper => {
  const blocks = new Map<string, Block>()
  let tags = options.thinkTags ? ThinkTags.initial : ThinkTags.answering
  let thinking: string | undefined
  let finished = false

  const closeThought = (parts: Array<Part>): void => {
    if (thinking === undefined) return
    parts.push({ type: "reasoning-end", id: thinking })
    thinking = undefined
  }

  const openText = (parts: Array<Part>, id: string, block: Block): void => {
    closeThought(parts)
    if (block.open) return
    block.open = true
    parts.push({ type: "text-start", id, ...withMetadata(block.metadata) })
    block.metadata = {}
  }

  const tell = (parts: Array<Part>, id: string, block: Block, pieces: ReadonlyArray<ThinkTags.Piece>): void => {
    for (const { text, thought } of pieces) {
      if (!thought) {
        openText(parts, id, block)
        parts.push({ type: "text-delta", id, delta: text })
        continue
      }
      if (thinking === undefined) {
        thinking = `${id}/thought`
        parts.push({ type: "reasoning-start", id: thinking })
      }
      parts.push({ type: "reasoning-delta", id: thinking, delta: text })
    }
  }

  /** Metadata that comes with a delta is told at the block's end, where it means the same. */
  const keep = (id: string, metadata: unknown): Block => {
    const block = blocks.get(id) ?? { open: false, metadata: {} }
    blocks.set(id, block)
    if (metadata !== undefined) block.metadata = mergeMetadata(block.metadata, plainMetadata(metadata))
    return block
  }

  const endText = (id: string, metadata: unknown): ReadonlyArray<Part> => {
    const block = keep(id, metadata)
    const parts: Array<Part> = []
    tell(parts, id, block, ThinkTags.finish(tags))
    tags = ThinkTags.answering
    closeThought(parts)
    blocks.delete(id)
    const open = block.open
    if (!open && isEmpty(block.metadata)) return parts
    if (!open) parts.push({ type: "text-start", id })
    parts.push({ type: "text-end", id, ...withMetadata(block.metadata) })
    return parts
  }

  const finish = (
    part: Extract<LanguageModelV4StreamPart, { type: "finish" }>
  ): Result.Result<ReadonlyArray<Part>, Broken> => {
    const { raw, unified } = part.finishReason
    if (unified === "interrupted") return Result.fail({ _tag: "EndedEarly" })
    if (unified === "error") return Result.fail({ _tag: "AnswerFailed", reason: raw ?? "error" })
    finished = true
    return Result.succeed([{ type: "finish", reason: unified, usage: usageOf(part.usage) }])
  }

  const accept = (part: LanguageModelV4StreamPart): Result.Result<ReadonlyArray<Part>, Broken> => {
    switch (part.type) {
      case "text-delta": {
        const block = keep(part.id, part.providerMetadata)
        const parts: Array<Part> = []
        const [next, pieces] = ThinkTags.step(tags, part.delta)
        tags = next
        tell(parts, part.id, block, pieces)
        return Result.succeed(parts)
      }
      case "text-start":
        keep(part.id, part.providerMetadata)
        return nothing
      case "text-end":
        return Result.succeed(endText(part.id, part.providerMetadata))
      case "reasoning-start":
        // A provider that tells thoughts apart by itself puts none into the text.
        tags = ThinkTags.answering
        return Result.succeed([
          { type: "reasoning-start", id: part.id, ...withMetadata(plainMetadata(part.providerMetadata)) }
        ])
      case "reasoning-delta":
        if (part.providerMetadata !== undefined) keep(part.id, part.providerMetadata)
        return part.delta === ""
          ? nothing
          : Result.succeed([{ type: "reasoning-delta", id: part.id, delta: part.delta }])
      case "reasoning-end": {
        const { metadata } = keep(part.id, part.providerMetadata)
        blocks.delete(part.id)
        return Result.succeed([{ type: "reasoning-end", id: part.id, ...withMetadata(metadata) }])
      }
      case "tool-input-start":
        return Result.succeed([
          {
            type: "tool-params-start",
            id: part.id,
            name: part.toolName,
            providerExecuted: part.providerExecuted ?? false
          }
        ])
      case "tool-input-delta":
        return part.delta === ""
          ? nothing
          : Result.succeed([{ type: "tool-params-delta", id: part.id, delta: part.delta }])
      case "tool-input-end":
        return Result.succeed([{ type: "tool-params-end", id: part.id }])
      case "tool-call":
        return Result.succeed([
          {
            type: "tool-call",
            id: part.toolCallId,
            name: part.toolName,
            params: inputOf(part.input),
            providerExecuted: part.providerExecuted ?? false,
            ...withMetadata(plainMetadata(part.providerMetadata))
          }
        ])
      case "response-metadata":
        return Result.succeed([{ type: "response-metadata", id: part.id, modelId: part.modelId }])
      case "finish":
        return finish(part)
      case "error":
        return Result.fail({ _tag: "ProviderSaid", error: part.error })
      // Results of tools that a provider runs itself, its sources and its files: none of them is asked for.
      case "tool-result":
      case "tool-approval-request":
      case "source":
      case "file":
      case "reasoning-file":
      case "custom":
      case "stream-start":
      case "raw":
      case "ping":
        return nothing
    }
  }

  return { accept, end: () => (finished ? nothing : Result.fail({ _tag: "EndedEarly" })) }
}
