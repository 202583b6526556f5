/** One answer of the model: told as it streams, recorded as the messages that the model will see again. */
import * as Effect from "effect/Effect"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import type { Event } from "../../domain/Event.ts"
import type { MessageId, ToolCallId } from "../../domain/Ids.ts"
import type { ToolDefinition } from "../ToolDefinition.ts"
import type { Delta } from "../../domain/Delta.ts"
import type { Deltas } from "./Deltas.ts"
import { rawInput, type RequestedCall } from "./ToolCalls.ts"
import type { TurnIds } from "./TurnIds.ts"

export type Part = Response.StreamPart<Record<string, Tool.Any>, "deferred">

export interface Step {
  readonly accept: (parts: ReadonlyArray<Part>) => Effect.Effect<void>
  /** Whether anything came yet: from then on the request is not repeated. */
  readonly begun: () => boolean
  readonly calls: () => ReadonlyArray<RequestedCall>
  /** The last part of a complete answer; absent when the stream broke off. */
  readonly finish: () => Response.FinishPart | undefined
  /** The answer as messages, once it is complete. */
  readonly messages: () => ReadonlyArray<Prompt.Message>
}

interface Dependencies {
  readonly ids: TurnIds
  readonly deltas: Deltas
  readonly tools: ReadonlyMap<string, ToolDefinition>
  readonly emit: (event: Event) => Effect.Effect<void>
}

export const make = ({ ids, deltas, tools, emit }: Dependencies): Step => {
  const recorded: Array<Part> = []
  const calls: Array<RequestedCall> = []
  const announced = new Map<string, ToolCallId>()
  const messageOf = new Map<string, MessageId>()
  let finish: Response.FinishPart | undefined

  const announce = (providerId: string, name: string, input: { readonly value: unknown } | undefined) => {
    const id = ids.call()
    announced.set(providerId, id)
    const definition = tools.get(name)
    const started: Event = {
      _tag: "ToolCallStarted",
      call: {
        id,
        name,
        title: definition?.title ?? name,
        kind: definition?.kind ?? "other",
        status: "pending",
        locations: [],
        content: [],
        ...(input === undefined ? {} : rawInput(input.value))
      }
    }
    return Effect.as(Effect.andThen(deltas.flush, emit(started)), id)
  }

  const requested = Effect.fnUntraced(function* (part: Extract<Part, { readonly type: "tool-call" }>) {
    const known = announced.get(part.id)
    const id = known ?? (yield* announce(part.id, part.name, { value: part.params }))
    if (known !== undefined) {
      yield* Effect.andThen(deltas.flush, emit({ _tag: "ToolCallUpdated", id, patch: rawInput(part.params) }))
    }
    // A provider may use an id again; a later call with it is another call.
    announced.delete(part.id)
    recorded.push({ ...part, id })
    calls.push({ id, name: part.name, input: part.params })
  })

  const delta = (_tag: DeltaTag, part: { readonly id: string; readonly delta: string }): Delta => {
    const known = messageOf.get(`${_tag}:${part.id}`)
    const messageId = known ?? ids.message()
    if (known === undefined) messageOf.set(`${_tag}:${part.id}`, messageId)
    return { _tag, messageId, text: part.delta }
  }

  const acceptOther = (part: Part): Effect.Effect<void> => {
    switch (part.type) {
      case "tool-params-start":
        return announced.has(part.id) ? Effect.void : Effect.asVoid(announce(part.id, part.name, undefined))
      case "tool-call":
        return requested(part)
      case "finish":
        finish = part
        return Effect.void
      case "text-start":
      case "text-end":
      case "reasoning-start":
      case "reasoning-end":
        recorded.push(part)
        return Effect.void
      default:
        return Effect.void
    }
  }

  const accept = Effect.fnUntraced(function* (parts: ReadonlyArray<Part>) {
    let run: Delta | undefined
    for (const part of parts) {
      if (part.type === "text-delta" || part.type === "reasoning-delta") {
        recorded.push(part)
        const next = delta(part.type === "text-delta" ? "TextDelta" : "ThoughtDelta", part)
        if (run !== undefined && run.messageId === next.messageId && run.text !== "") {
          run = { ...run, text: run.text + next.text }
          continue
        }
        if (run !== undefined) yield* deltas.push(run)
        run = next
      } else {
        if (run !== undefined) yield* deltas.push(run)
        run = undefined
        yield* acceptOther(part)
      }
    }
    if (run !== undefined) yield* deltas.push(run)
  })

  return {
    accept,
    begun: () => recorded.length > 0 || announced.size > 0,
    calls: () => calls,
    finish: () => finish,
    messages: () => Prompt.fromResponseParts(recorded).content
  }
}
