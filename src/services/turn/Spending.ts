/** What a turn used: its own requests to the model, and those of its subagents. */
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import type { Event } from "../../domain/Event.ts"
import type { ModelInfo } from "../../domain/Model.ts"
import { emptyUsage, type TurnUsage } from "../../domain/Turn.ts"
import * as Usage from "./Usage.ts"

/** Tokens, and US dollars where the model has a price. */
export interface Spent {
  readonly usage: TurnUsage
  readonly cost: number | undefined
}

export interface Spending {
  readonly usage: () => TurnUsage
  /** An answer of the turn's own model; the tokens of the window that are used then, if the provider says so. */
  readonly answered: (finish: Response.FinishPart, model: ModelInfo) => Effect.Effect<number | undefined>
  /** A summary of the conversation, which is that long now. */
  readonly summedUp: (usage: TurnUsage, used: number, model: ModelInfo) => Effect.Effect<void>
  /** What a subagent used: it counts, but fills no window of this conversation (F79). */
  readonly delegated: (spent: Spent) => Effect.Effect<void>
}

export interface SpendingInput {
  /** US dollars of earlier turns. */
  readonly before: number
  readonly emit: (event: Event) => Effect.Effect<void>
  /** Hears of all of it, too. */
  readonly also: (spent: Spent) => Effect.Effect<void>
}

export const make = ({ also, before, emit }: SpendingInput): Spending => {
  let usage = emptyUsage
  let cost = before
  let isPriced = false
  /** The window, once the provider said how full it is. */
  let window: { readonly used: number; readonly size: number } | undefined

  const spend = (spent: Spent) =>
    Effect.suspend(() => {
      usage = Usage.add(usage, spent.usage)
      cost += spent.cost ?? 0
      isPriced ||= spent.cost !== undefined
      const told =
        window === undefined ? Effect.void : emit({ _tag: "UsageUpdated", ...window, ...(isPriced ? { cost } : {}) })
      return Effect.andThen(told, also(spent))
    })

  const own = (spent: TurnUsage, used: number, { contextWindow, price }: ModelInfo) => {
    window = { used, size: contextWindow }
    return spend({ usage: spent, cost: price === undefined ? undefined : Usage.costOf(spent, price) })
  }

  return {
    usage: () => usage,
    answered: (finish, model) =>
      Effect.suspend(() => {
        if (!Usage.isReported(finish.usage)) return Effect.undefined
        const spent = Usage.fromResponse(finish.usage)
        const used = spent.inputTokens + spent.outputTokens
        return Effect.as(own(spent, used, model), used)
      }),
    summedUp: (spent, used, model) => Effect.suspend(() => own(spent, used, model)),
    delegated: spend
  }
}
