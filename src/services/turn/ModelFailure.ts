/** From a provider's failure to what a person reads, and when it is worth another try. */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import type * as AiError from "effect/ai/AiError"
import type { StoreFailed } from "../../domain/Failure.ts"
import type { TurnError } from "../../domain/Turn.ts"
import { CONTEXT_OVERFLOW } from "../models/provider/ProviderFailure.ts"

/** How a model that an application brings along may say it; our own adapter marks it. */
const OVERFLOW =
  /(context|prompt|input|token).{0,60}(too long|exceed|maximum|too large|limit)|too many (input )?tokens/i

const httpStatus = (reason: AiError.AiErrorReason): number | undefined =>
  "http" in reason ? reason.http?.response?.status : undefined

const kindOf = (reason: AiError.AiErrorReason): TurnError["kind"] => {
  switch (reason._tag) {
    case "RateLimitError":
    case "QuotaExhaustedError":
      return "rate_limit"
    case "AuthenticationError":
      return "authentication"
    case "ContentPolicyError":
      return "content_policy"
    case "InternalProviderError":
      return "overloaded"
    case "NetworkError":
      return "network"
    case "InvalidRequestError":
      if (reason.constraint === CONTEXT_OVERFLOW || OVERFLOW.test(reason.message)) return "context_overflow"
      return reason.parameter === "model" ? "model_unavailable" : "invalid_request"
    case "InvalidUserInputError":
    case "UnsupportedSchemaError":
      return "invalid_request"
    case "InvalidResponseError":
    case "InvalidOutputError":
    case "StructuredOutputError":
    case "UnknownError":
    case "ToolNotFoundError":
    case "ToolParameterValidationError":
    case "InvalidToolResultError":
    case "ToolResultEncodingError":
    case "ToolConfigurationError":
    case "ToolkitRequiredError":
      return "internal"
  }
}

const advice: { readonly [K in TurnError["kind"]]: string } = {
  authentication:
    "The provider did not accept the API key. Check the key of this provider, then send the prompt again.",
  rate_limit: "The provider's rate limit or quota is used up. Wait and send the prompt again, or choose another model.",
  overloaded: "The provider is overloaded or has an internal problem. Send the prompt again in a moment.",
  context_overflow:
    "The conversation no longer fits into the model's context window. Send /compact or /clear, or choose a model with a larger window.",
  network:
    "The connection to the provider failed. Check the network and the provider's base URL, then send the prompt again.",
  invalid_request: "The provider refused the request.",
  content_policy: "The provider refused the request under its content policy.",
  model_unavailable: "The provider does not know the model. Choose another one, then send the prompt again.",
  internal: "The provider's answer could not be used."
}

const describe = (reason: AiError.AiErrorReason): string | undefined => {
  switch (reason._tag) {
    case "NetworkError":
      return reason.description === undefined ? undefined : `${reason.description}; request to ${reason.url}`
    case "AuthenticationError":
    case "InvalidRequestError":
      return reason.description
    default:
      return undefined
  }
}

/**
 * What the provider said, without the advice that some messages of Effect add: ours stands before it. A used-up limit
 * has no words of its own; our adapter keeps those of the provider beside it.
 */
export const wordsOf = (reason: AiError.AiErrorReason): string => {
  const kept =
    reason._tag === "RateLimitError" || reason._tag === "QuotaExhaustedError" ? reason.metadata["superPi"] : null
  if (Predicate.hasProperty(kept, "message") && typeof kept.message === "string") return kept.message
  return describe(reason) ?? reason.message
}

/** Our adapter knows which provider and which key it was. */
const adviceOf = (reason: AiError.AiErrorReason, kind: TurnError["kind"]): string => {
  const kept = reason._tag === "AuthenticationError" ? reason.metadata["superPi"] : null
  return Predicate.hasProperty(kept, "keyAdvice") && typeof kept.keyAdvice === "string" ? kept.keyAdvice : advice[kind]
}

export const toTurnError = (error: AiError.AiError): TurnError => {
  const kind = kindOf(error.reason)
  const status = httpStatus(error.reason)
  const retryAfter = error.retryAfter
  return {
    kind,
    message: `${adviceOf(error.reason, kind)} (${wordsOf(error.reason).trim()})`,
    ...(status === undefined ? {} : { status }),
    ...(retryAfter === undefined ? {} : { retryAfter: Duration.toSeconds(retryAfter) })
  }
}

export const unavailable = (message: string): TurnError => ({ kind: "model_unavailable", message })

export const endedEarly: TurnError = {
  kind: "network",
  message: "The model's answer broke off before it was complete. Send the prompt again to go on."
}

export const answerFailed: TurnError = { kind: "internal", message: advice.internal }

export const unkept = ({ message }: StoreFailed): TurnError => ({
  kind: "internal",
  message: `No tool was run. ${message}.`
})

export const filtered: TurnError = {
  kind: "content_policy",
  message: "The provider's content filter stopped the answer."
}

const refusals: ReadonlySet<TurnError["kind"]> = new Set(["content_policy", "invalid_request", "context_overflow"])

/** Whether the provider refused what it was sent: it would refuse every later request that holds it, too. */
export const isRefused = ({ kind }: TurnError): boolean => refusals.has(kind)

/** The refusal of a prompt that the model will not see again (TRN-08). */
export const withoutPrompt = (error: TurnError): TurnError => ({
  ...error,
  message: `${error.message} The prompt is left out of the conversation: change it, and send it again.`
})

/** Tries of one model request, the first included. */
const MAX_TRIES = 4
/** A provider that asks for a longer pause is not waited for: the person decides. */
const MAX_PAUSE = Duration.seconds(60)
const FIRST_PAUSE = Duration.seconds(1)

/** The pause before try number `tries + 1`, or `undefined` when there is to be none. */
export const pauseBeforeRetry = (error: AiError.AiError, tries: number): Duration.Duration | undefined => {
  if (tries >= MAX_TRIES || !error.isRetryable) return undefined
  const pause = error.retryAfter ?? Duration.times(FIRST_PAUSE, 2 ** (tries - 1))
  return Duration.isLessThanOrEqualTo(pause, MAX_PAUSE) ? pause : undefined
}
