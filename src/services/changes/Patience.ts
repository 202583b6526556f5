/** One limit of time for several looks, so that many folders do not take many times as long as one. */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { Unaffordable } from "./Unaffordable.ts"

export interface Patience {
  /** Fails with the reason as soon as the patience is at its end, and at once when it was before. */
  readonly within: <A>(effect: Effect.Effect<A, Unaffordable>) => Effect.Effect<A, Unaffordable>
  readonly isOver: () => boolean
  /** Ends it at once. `reason` is for a person. The first reason counts. */
  readonly end: (reason: string) => Effect.Effect<void>
}

export const makePatience = (): Patience => {
  const over = Deferred.makeUnsafe<never, Unaffordable>()
  return {
    within: (effect) => Effect.raceFirst(Deferred.await(over), effect),
    isOver: () => Deferred.isDoneUnsafe(over),
    end: (message) => Effect.asVoid(Deferred.fail(over, new Unaffordable({ message })))
  }
}

/** Waits for an effect that spends the patience; when that takes longer, the patience ends for this reason. */
export const waitFor = <A, E>(
  patience: Patience,
  effect: Effect.Effect<A, E>,
  limit: Duration.Duration,
  reason: string
): Effect.Effect<A, E> =>
  Effect.raceFirst(effect, Effect.andThen(Effect.delay(patience.end(reason), limit), Effect.never))
