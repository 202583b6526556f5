/**
 * A model of an AI SDK package as an `effect/ai` LanguageModel. Heavy: import it only when a model is needed.
 * Interrupting a request aborts it at once, even before its first byte; nothing is repeated here.
 */
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"
import type * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { Conversation } from "../Conversation.ts"
import { makeCount, tooLong } from "./AnswerLimits.ts"
import { mergeBurst } from "./Bursts.ts"
import { foldParts } from "./FoldParts.ts"
import * as ModelParts from "./ModelParts.ts"
import { toProviderPrompt } from "./ModelPrompt.ts"
import { formatOptions, toolOptions } from "./ModelTools.ts"
import * as ProviderFailure from "./ProviderFailure.ts"
import type { ProviderHttp } from "./ProviderHttp.ts"
import type { ProviderModel } from "./Providers.ts"

export interface AiSdkModelOptions {
  readonly provider: ProviderModel
  readonly http: ProviderHttp
  readonly failure: ProviderFailure.FailureContext
  /** How long a provider may send no byte at all. Default ten minutes. */
  readonly idleTimeout?: Duration.Duration
}

type Part = Response.StreamPartEncoded
type Reader = ReadableStreamDefaultReader<LanguageModelV4StreamPart>
type Parts = Queue.Queue<Part, AiError.AiError | Cause.Done>

const DEFAULT_IDLE_TIMEOUT = Duration.minutes(10)
/** Parts read ahead of the consumer. */
const READ_AHEAD = 1024

const brokenError = (
  broken: ModelParts.Broken,
  context: ProviderFailure.FailureContext,
  now: number
): AiError.AiError => {
  switch (broken._tag) {
    case "EndedEarly":
      return ProviderFailure.endedEarly(context)
    case "AnswerFailed":
      return ProviderFailure.answerFailed(broken.reason, context)
    case "ProviderSaid":
      return ProviderFailure.fromUnknown(broken.error, context, now)
  }
}

const openStream = Effect.fnUntraced(function* (
  { failure, http, idleTimeout = DEFAULT_IDLE_TIMEOUT, provider }: AiSdkModelOptions,
  request: LanguageModel.ProviderOptions,
  parts: Parts
) {
  const clock = yield* Clock.Clock
  const signal = yield* Effect.abortSignal
  const conversation = yield* Conversation
  const mapper = ModelParts.make(provider)
  const isCounted = makeCount()
  let heardAt = clock.currentTimeMillisUnsafe()
  let reading = true
  const hear = (): void => {
    heardAt = clock.currentTimeMillisUnsafe()
  }
  http.observe(signal, hear)

  const failed = (error: unknown): AiError.AiError =>
    ProviderFailure.fromUnknown(error, failure, clock.currentTimeMillisUnsafe())

  const silence: Effect.Effect<never, AiError.AiError> = Effect.suspend(() => {
    // While nobody takes the parts, nothing is read: that is not the provider's silence.
    if (!reading) hear()
    const left = heardAt + Duration.toMillis(idleTimeout) - clock.currentTimeMillisUnsafe()
    if (left > 0) return Effect.andThen(Effect.sleep(left), silence)
    const words = `the provider sent nothing for ${Duration.format(idleTimeout)}`
    return Effect.fail(ProviderFailure.fromNetwork(words, failure.provider, failure))
  })

  /** Reads as long as there is room, and gives the parts that found none: at the end of the stream, no parts. */
  const readAhead = (reader: Reader): Effect.Effect<ReadonlyArray<Part>, AiError.AiError> =>
    Effect.callback((resume) => {
      const fail = (error: AiError.AiError) => resume(Effect.fail(error))
      const next = (): void => {
        reader
          .read()
          .then(({ done, value }) => {
            if (!done && !isCounted(value)) return fail(ProviderFailure.answerFailed(tooLong, failure))
            const mapped = done ? mapper.end() : mapper.accept(value)
            if (Result.isFailure(mapped)) {
              return fail(brokenError(mapped.failure, failure, clock.currentTimeMillisUnsafe()))
            }
            const rest = Queue.offerAllUnsafe(parts, mapped.success)
            return done || rest.length > 0 ? resume(Effect.succeed(rest)) : next()
          })
          .catch((error: unknown) => fail(failed(error)))
      }
      next()
    })

  const run = Effect.gen(function* () {
    const { stream } = yield* Effect.tryPromise({
      try: () =>
        Promise.resolve(
          provider.model.doStream({
            ...provider.defaults(conversation),
            ...toolOptions(request, provider.rules.cache),
            ...formatOptions(request.responseFormat),
            prompt: toProviderPrompt(request.prompt, provider.rules),
            abortSignal: signal
          })
        ),
      catch: failed
    })
    const reader = stream.getReader()
    let rest = yield* readAhead(reader)
    while (rest.length > 0) {
      reading = false
      yield* Queue.offerAll(parts, rest)
      reading = true
      hear()
      rest = yield* readAhead(reader)
    }
    yield* Queue.end(parts)
  })

  yield* Effect.raceFirst(run, silence)
})

export const make = (options: AiSdkModelOptions): Effect.Effect<LanguageModel.LanguageModel> => {
  const streamText = (request: LanguageModel.ProviderOptions): Stream.Stream<Part, AiError.AiError> =>
    Stream.callback((parts: Parts) => openStream(options, request, parts), { bufferSize: READ_AHEAD }).pipe(
      Stream.mapArray(mergeBurst)
    )
  return LanguageModel.make({
    streamText,
    generateText: (request) => Effect.map(Stream.runCollect(streamText(request)), foldParts)
  })
}
