/** Models for tests: one that answers by a script and remembers what it was asked. */
import * as Effect from "effect/Effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { ModelInfo } from "../../src/domain/Model.ts"
import { Models } from "../../src/services/Models.ts"
import type { ScriptPart, ScriptStep } from "../../src/services/models/script/Script.ts"
import * as ScriptedModel from "../../src/services/models/script/ScriptedModel.ts"
import { makeSignal, type Signal } from "./signal.ts"

export const info: ModelInfo = {
  id: "scripted/one",
  name: "One",
  contextWindow: 100_000,
  image: true,
  efforts: ["low", "medium", "high"]
}

/** Each array is one answer. */
export const steps = (...answers: ReadonlyArray<ReadonlyArray<ScriptPart>>): ReadonlyArray<ScriptStep> =>
  answers.map((parts) => ({ parts }))

export interface Asked {
  /** What the model was sent, request after request, the system prompt first. */
  readonly prompts: Array<ReadonlyArray<Prompt.Message>>
  /** Names of the tools of the last request. */
  tools: ReadonlyArray<string>
  /** Requests that are streaming. */
  open: number
  readonly signal: Signal
  /** Waits for that many requests. */
  readonly requests: (count: number) => Effect.Effect<void>
}

export const nothingAsked = (): Asked => {
  const signal = makeSignal()
  const prompts: Asked["prompts"] = []
  return { prompts, tools: [], open: 0, signal, requests: (count) => signal.until(() => prompts.length >= count) }
}

/** Every model of `infos` answers by the same script. */
export const scripted = (
  answers: ReadonlyArray<ScriptStep>,
  asked: Asked = nothingAsked(),
  infos: ReadonlyArray<ModelInfo> = [info]
): Layer.Layer<Models> =>
  Layer.effect(
    Models,
    Effect.map(ScriptedModel.make({ steps: answers }), (model) => {
      const watched = {
        ...model,
        streamText: (options: Parameters<LanguageModel.LanguageModel["streamText"]>[0]) => {
          const stream = model.streamText(options)
          return Stream.unwrap(
            Effect.sync(() => {
              const { content } = options.prompt as Prompt.Prompt
              const tools = (options.toolkit as { readonly tools: Record<string, object> }).tools
              asked.prompts.push(content)
              asked.tools = Object.keys(tools)
              asked.open += 1
              asked.signal.changed()
              return stream
            })
          ).pipe(
            Stream.ensuring(
              Effect.sync(() => {
                asked.open -= 1
                asked.signal.changed()
              })
            )
          )
        }
      } as LanguageModel.LanguageModel
      return Models.of({ list: Effect.succeed(infos), resolve: () => Effect.succeed(watched) })
    })
  )

/** A model that answers each request with the next of these, part by part as given. */
export const rawModel = (...answers: ReadonlyArray<ReadonlyArray<Response.StreamPartEncoded>>): Layer.Layer<Models> =>
  Layer.effect(
    Models,
    Effect.suspend(() => {
      const left = [...answers]
      return Effect.map(
        LanguageModel.make({
          generateText: () => Effect.succeed([]),
          streamText: () => Stream.fromIterable(left.shift() ?? [])
        }),
        (model) => Models.of({ list: Effect.succeed([info]), resolve: () => Effect.succeed(model) })
      )
    })
  )

export const finish = (reason: Response.FinishReason): Response.StreamPartEncoded => ({
  type: "finish",
  reason,
  usage: {
    inputTokens: { total: 1, uncached: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 }
  }
})

/** The text of messages, with the role in front. Calls and results are named. */
export const spoken = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<string> =>
  messages.flatMap((message): ReadonlyArray<string> => {
    if (message.role === "system") return []
    return message.content.map((part) => {
      switch (part.type) {
        case "text":
        case "reasoning":
          return `${message.role} ${part.type === "text" ? "" : "thought "}${part.text}`.trim()
        case "tool-call":
          return `call ${part.name} ${JSON.stringify(part.params)}`
        case "tool-result":
          return `${part.isFailure ? "failed" : "result"} ${part.name} ${String(part.result)}`
        case "file":
          return `${message.role} file ${part.mediaType}`
        default:
          return part.type
      }
    })
  })
