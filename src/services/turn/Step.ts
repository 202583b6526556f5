/** One answer of the model: told as it streams, recorded as the messages that the model will see again. */
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import type { Delta } from "../../domain/session/Delta.ts"
import type { Event } from "../../domain/Event.ts"
import type { MessageId, ToolCallId } from "../../domain/Ids.ts"
import type { ToolDefinition } from "../ToolDefinition.ts"
import type { Deltas } from "./Deltas.ts"
import { rawInput, type RequestedCall } from "./ToolCalls.ts"
import type { TurnIds } from "./TurnIds.ts"

export type Part = Response.StreamPart<Record<string, Tool.Any>, "deferred">
type DeltaPart = Extract<Part, { readonly type: "text-delta" | "reasoning-delta" }>

export interface Step {
  readonly accept: (parts: ReadonlyArray<Part>) => Effect.Effect<void>
  /** Whether anything came yet: from then on the request is not repeated. */
  readonly begun: () => boolean
  readonly calls: () => ReadonlyArray<RequestedCall>
  /** The last part of a complete answer; absent when the stream broke off. */
  readonly finish: () => Response.FinishPart | undefined
  /** What the answer says. */
  readonly text: () => string
  /** The answer as messages, once it is complete. */
  readonly messages: () => ReadonlyArray<Prompt.Message>
}

interface Dependencies {
  readonly ids: TurnIds
  readonly deltas: Deltas
  readonly tools: ReadonlyMap<string, ToolDefinition>
  readonly emit: (event: Event) => Effect.Effect<void>
}

const tagOf = (type: "text-delta" | "reasoning-delta"): Delta["_tag"] =>
  type === "text-delta" ? "TextDelta" : "ThoughtDelta"

export const make = ({ ids, deltas, tools, emit }: Dependencies): Step => {
  const recorded: Array<Part> = []
  const calls: Array<RequestedCall> = []
  /** Calls whose input still streams, by the provider's id. */
  const announced = new Map<string, ToolCallId>()
  /** Blocks that are open, by sort and provider's id. */
  const blocks = new Map<string, MessageId>()
  let finish: Response.FinishPart | undefined

  const tell = (event: Event) => Effect.andThen(deltas.flush, emit(event))

  const announce = (id: ToolCallId, name: string, input: ReturnType<typeof rawInput>) => {
    const definition = tools.get(name)
    return tell({
      _tag: "ToolCallStarted",
      call: {
        id,
        name,
        title: definition?.title ?? name,
        kind: definition?.kind ?? "other",
        status: "pending",
        locations: [],
        content: [],
        ...input
      }
    })
  }

  const request = (part: Extract<Part, { readonly type: "tool-call" }>) => {
    const known = announced.get(part.id)
    const id = known ?? ids.call()
    // A provider may use an id again; a later call with it is another call.
    announced.delete(part.id)
    recorded.push({ ...part, id })
    calls.push({ id, name: part.name, input: part.params })
    const input = rawInput(part.params)
    return known === undefined ? announce(id, part.name, input) : tell({ _tag: "ToolCallUpdated", id, patch: input })
  }

  const deltaOf = (part: DeltaPart): Delta => {
    const _tag = tagOf(part.type)
    const key = `${_tag}:${part.id}`
    const messageId = blocks.get(key) ?? ids.message()
    blocks.set(key, messageId)
    return { _tag, messageId, text: part.delta }
  }

  const acceptOther = (part: Exclude<Part, DeltaPart>): Effect.Effect<void> => {
    switch (part.type) {
      case "tool-params-start": {
        const id = ids.call()
        announced.set(part.id, id)
        return announce(id, part.name, {})
      }
      case "tool-call":
        return request(part)
      case "text-end":
        blocks.delete(`TextDelta:${part.id}`)
        break
      case "reasoning-end":
        blocks.delete(`ThoughtDelta:${part.id}`)
        break
      case "text-start":
      case "reasoning-start":
        break
      case "finish":
        finish = part
        return Effect.void
      default:
        return Effect.void
    }
    recorded.push(part)
    return Effect.void
  }

  /** Neighbours of one message are joined before they are pushed, which is what makes a fast stream cheap. */
  const accept = Effect.fnUntraced(function* (parts: ReadonlyArray<Part>) {
    let run: Delta | undefined
    for (const part of parts) {
      if (part.type !== "text-delta" && part.type !== "reasoning-delta") {
        if (run !== undefined) yield* deltas.push(run)
        run = undefined
        yield* acceptOther(part)
        continue
      }
      recorded.push(part)
      const next = deltaOf(part)
      if (run?.messageId === next.messageId) {
        run = { ...run, text: run.text + next.text }
      } else {
        if (run !== undefined) yield* deltas.push(run)
        run = next
      }
    }
    if (run !== undefined) yield* deltas.push(run)
  })

  return {
    accept,
    begun: () => recorded.length > 0 || announced.size > 0,
    calls: () => calls,
    finish: () => finish,
    text: () => recorded.map((part) => (part.type === "text-delta" ? part.delta : "")).join(""),
    messages: () => Prompt.fromResponseParts(recorded).content
  }
}
