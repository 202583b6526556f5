/** A model that an application brings along. This one is no model at all, but it is asked and it answers like one. */
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const usage = {
  inputTokens: { total: 20, uncached: 20, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 10, text: 10, reasoning: undefined }
}

const finish = (reason: Response.FinishReason): Response.StreamPartEncoded => ({ type: "finish", reason, usage })

const say = (delta: string): Stream.Stream<Response.StreamPartEncoded> =>
  Stream.make(
    { type: "text-start", id: "text" },
    { type: "text-delta", id: "text", delta },
    { type: "text-end", id: "text" },
    finish("stop")
  )

const call = (id: string, name: string, params: object): Response.StreamPartEncoded => ({
  type: "tool-call",
  id,
  name,
  params
})

/** The notes are read and, against all manners, deleted; then it tells what came of both. A dream never ends. */
const answer = ({ content }: Prompt.Prompt): Stream.Stream<Response.StreamPartEncoded> => {
  const turn = content.slice(content.findLastIndex(({ role }) => role === "user"))
  const asked = turn
    .flatMap((message) => (message.role === "user" ? message.content : []))
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("")
  const results = turn
    .flatMap((message) => (message.role === "tool" ? message.content : []))
    .flatMap((part) => (part.type === "tool-result" ? [String(part.result)] : []))
  if (results.length > 0) return say(`I got this:\n${results.join("\n")}`)
  if (asked === "Dream.") {
    return Stream.fromEffect(Effect.onInterrupt(Effect.never, () => Console.log("(The model was interrupted.)")))
  }
  if (asked !== "What do the notes say?") return say("I am awake.")
  return Stream.make(
    call("1", "read", { path: "notes.txt" }),
    call("2", "bash", { command: "rm notes.txt" }),
    finish("tool-calls")
  )
}

const noText = AiError.make({
  module: "ToyModel",
  method: "generateText",
  reason: new AiError.UnknownError({ description: "The agent only streams" })
})

export const layer: Layer.Layer<LanguageModel.LanguageModel> = Layer.effect(
  LanguageModel.LanguageModel,
  LanguageModel.make({
    generateText: () => Effect.fail(noText),
    streamText: ({ prompt }) => answer(prompt)
  })
)
