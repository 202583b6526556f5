/** A model that answers by a script: for tests, demonstrations and benchmarks, without a key or a network. */
import type * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { foldParts } from "../provider/FoldParts.ts"
import * as ProviderFailure from "../provider/ProviderFailure.ts"
import type { Script, ScriptPart, ScriptStep } from "./Script.ts"
import { clip } from "../../../domain/text/Clip.ts"

type Part = Response.StreamPartEncoded
type Parts = Queue.Queue<Part, AiError.AiError | Cause.Done>
type Sort = "text" | "reasoning"

const context: ProviderFailure.FailureContext = { provider: "scripted", secrets: [] }
/** Parts that go out at once. */
const BURST = 512

const lastUserText = (prompt: Prompt.Prompt): string =>
  prompt.content
    .findLast((message) => message.role === "user")
    ?.content.flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n") ?? ""

const errorOf = ({ message, retryAfter, status }: NonNullable<ScriptPart["error"]>): AiError.AiError =>
  status === undefined
    ? ProviderFailure.fromNetwork(message ?? "the connection broke off", context.provider, context)
    : ProviderFailure.fromFacts(
        {
          status,
          message: message ?? `the script answers with status ${status}`,
          code: "",
          retryAfter: retryAfter === undefined ? undefined : Duration.seconds(retryAfter),
          url: context.provider
        },
        context
      )

/** Characters are not torn apart. */
const cut = (text: string, size: number): ReadonlyArray<string> => {
  const characters = Array.from(text)
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join("")
  )
}

const usageOf = ({
  cached,
  input,
  output,
  thought
}: NonNullable<ScriptStep["usage"]>): Response.FinishPartEncoded["usage"] => ({
  inputTokens: { total: input, uncached: input - (cached ?? 0), cacheRead: cached, cacheWrite: undefined },
  outputTokens: { total: output, text: output - (thought ?? 0), reasoning: thought }
})

const callParts = ({ input, name }: NonNullable<ScriptPart["tool"]>, id: string): ReadonlyArray<Part> => [
  { type: "tool-params-start", id, name },
  { type: "tool-params-delta", id, delta: typeof input === "string" ? input : JSON.stringify(input) },
  { type: "tool-params-end", id },
  { type: "tool-call", id, name, params: input }
]

/** Tells the parts of one step. `callId` makes an id for a call that has none. */
const play = Effect.fnUntraced(function* (step: ScriptStep, userText: string, parts: Parts, callId: () => string) {
  let open: { readonly sort: Sort; readonly id: string } | undefined
  let blocks = 0
  let called = false
  let reason: Response.FinishReason | undefined

  const close = Effect.suspend(() => {
    if (open === undefined) return Effect.void
    const part: Part = { type: `${open.sort}-end`, id: open.id }
    open = undefined
    return Queue.offer(parts, part)
  })

  const tell = Effect.fnUntraced(function* (sort: Sort, text: string, size: number | undefined, times: number) {
    if (open?.sort !== sort) {
      yield* close
      open = { sort, id: `${sort}-${blocks++}` }
      yield* Queue.offer(parts, { type: `${sort}-start`, id: open.id })
    }
    const id = open.id
    const deltas = (size === undefined ? [text] : cut(text, size)).filter((delta) => delta !== "")
    for (let told = 0; told < times; told += BURST) {
      const burst = Array.from({ length: Math.min(BURST, times - told) }, () =>
        deltas.map((delta): Part => ({ type: `${sort}-delta`, id, delta }))
      )
      yield* Queue.offerAll(parts, burst.flat())
    }
  })

  for (const { chunk, delayMs, echo, error, finish, hang, repeat = 1, text, thought, tool } of step.parts) {
    if (text !== undefined) yield* tell("text", text, chunk, repeat)
    if (thought !== undefined) yield* tell("reasoning", thought, chunk, repeat)
    if (echo !== undefined) yield* tell("text", userText, chunk, repeat)
    if (delayMs !== undefined) yield* Effect.sleep(delayMs)
    if (hang !== undefined) return yield* Effect.never
    if (error !== undefined) return yield* errorOf(error)
    if (finish !== undefined) reason = finish
    if (tool !== undefined) {
      yield* close
      called = true
      yield* Queue.offerAll(parts, callParts(tool, tool.id ?? callId()))
    }
  }
  yield* close
  yield* Queue.offer(parts, {
    type: "finish",
    reason: reason ?? (called ? "tool-calls" : "stop"),
    usage: usageOf(step.usage ?? { input: 100, output: 10 })
  })
  yield* Queue.end(parts)
})

const exhausted = (userText: string): AiError.AiError =>
  ProviderFailure.fromFacts(
    {
      status: 400,
      message: `the script has no step left for "${clip(userText, 80)}": add one, or mark one with "again": true`,
      code: "",
      retryAfter: undefined,
      url: context.provider
    },
    context
  )

/** All requests to one model share its steps. */
export const make = (script: Script): Effect.Effect<LanguageModel.LanguageModel> =>
  Effect.suspend(() => {
    const steps = [...script.steps]
    let calls = 0
    const callId = () => `call_${++calls}`
    const take = (userText: string): ScriptStep | undefined => {
      const index = steps.findIndex(({ when }) => when === undefined || userText.includes(when))
      const step = steps[index]
      if (step !== undefined && step.again !== true) steps.splice(index, 1)
      return step
    }
    const streamText = ({ prompt }: LanguageModel.ProviderOptions): Stream.Stream<Part, AiError.AiError> =>
      Stream.callback(
        (parts: Parts) =>
          Effect.suspend(() => {
            const userText = lastUserText(prompt)
            const step = take(userText)
            return step === undefined ? Effect.fail(exhausted(userText)) : play(step, userText, parts, callId)
          }),
        { bufferSize: BURST }
      )
    return LanguageModel.make({
      streamText,
      generateText: (request) => Effect.map(Stream.runCollect(streamText(request)), foldParts)
    })
  })
