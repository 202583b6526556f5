/** One limit of time for several looks, so that many folders do not take many times as long as one. */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
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

/** Runs an effect that spends the patience; when it takes longer than `limit`, the patience ends for this reason. */
export const limited = Effect.fnUntraced(function* <A, E>(
  patience: Patience,
  effect: Effect.Effect<A, E>,
  limit: Duration.Duration,
  reason: string
) {
  const timer = yield* Effect.forkChild(Effect.delay(patience.end(reason), limit))
  return yield* Effect.ensuring(effect, Fiber.interrupt(timer))
})
