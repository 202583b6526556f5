/** Token counts and what they cost. */
import type * as Response from "effect/ai/Response"
import type { ModelPrice } from "../../domain/Model.ts"
import type { TurnUsage } from "../../domain/Turn.ts"

export const fromResponse = ({ inputTokens, outputTokens }: Response.Usage): TurnUsage => ({
  inputTokens: inputTokens.total ?? 0,
  outputTokens: outputTokens.total ?? 0,
  thoughtTokens: outputTokens.reasoning ?? 0,
  cachedReadTokens: inputTokens.cacheRead ?? 0,
  cachedWriteTokens: inputTokens.cacheWrite ?? 0
})

/** Whether the provider said anything at all: many servers do not, which is not the same as no tokens. */
export const isReported = ({ inputTokens, outputTokens }: Response.Usage): boolean =>
  [...Object.values(inputTokens), ...Object.values(outputTokens)].some((count) => count !== undefined)

export const add = (one: TurnUsage, other: TurnUsage): TurnUsage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  thoughtTokens: one.thoughtTokens + other.thoughtTokens,
  cachedReadTokens: one.cachedReadTokens + other.cachedReadTokens,
  cachedWriteTokens: one.cachedWriteTokens + other.cachedWriteTokens
})

const TOKENS_PER_PRICE = 1_000_000

/** In US dollars. */
export const costOf = (usage: TurnUsage, price: ModelPrice): number => {
  const uncached = Math.max(0, usage.inputTokens - usage.cachedReadTokens - usage.cachedWriteTokens)
  return (
    (uncached * price.input +
      usage.cachedReadTokens * price.cacheRead +
      usage.cachedWriteTokens * price.cacheWrite +
      usage.outputTokens * price.output) /
    TOKENS_PER_PRICE
  )
}
