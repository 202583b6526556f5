/** What goes into a turn and what comes out of it. */
import * as Schema from "effect/Schema"

/** Why a turn ended. `refusal` comes with an error, `max_turn_requests` from the bound of the loop. */
export const StopReason = Schema.Literals(["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"])
export type StopReason = typeof StopReason.Type

/** Why a model could not answer. `retryAfter` is in seconds; `status` is the provider's HTTP status. */
export const TurnError = Schema.Struct({
  kind: Schema.Literals([
    "authentication",
    "rate_limit",
    "overloaded",
    "context_overflow",
    "network",
    "invalid_request",
    "content_policy",
    "model_unavailable",
    "internal"
  ]),
  message: Schema.String,
  status: Schema.optionalKey(Schema.Int),
  retryAfter: Schema.optionalKey(Schema.Finite)
})
export type TurnError = typeof TurnError.Type

/** Tokens of one turn, summed over its model requests. */
export const TurnUsage = Schema.Struct({
  inputTokens: Schema.Int,
  outputTokens: Schema.Int,
  thoughtTokens: Schema.Int,
  cachedReadTokens: Schema.Int,
  cachedWriteTokens: Schema.Int
})
export type TurnUsage = typeof TurnUsage.Type

export const emptyUsage: TurnUsage = {
  inputTokens: 0,
  outputTokens: 0,
  thoughtTokens: 0,
  cachedReadTokens: 0,
  cachedWriteTokens: 0
}

/** `error` comes with `refusal` only. */
export const Outcome = Schema.Struct({
  stopReason: StopReason,
  error: Schema.optionalKey(TurnError),
  usage: Schema.optionalKey(TurnUsage)
})
export type Outcome = typeof Outcome.Type
