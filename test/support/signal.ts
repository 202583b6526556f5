/** Lets a test wait until something that it watches has become true, without any time. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

export interface Signal {
  /** To be called whenever what is watched changed. */
  readonly changed: () => void
  readonly until: (condition: () => boolean) => Effect.Effect<void>
}

export const makeSignal = (): Signal => {
  const waiting = new Set<{ readonly condition: () => boolean; readonly done: Deferred.Deferred<void> }>()
  return {
    changed: () => {
      for (const waiter of waiting) {
        if (!waiter.condition()) continue
        waiting.delete(waiter)
        Deferred.doneUnsafe(waiter.done, Effect.void)
      }
    },
    until: (condition) =>
      Effect.suspend(() => {
        if (condition()) return Effect.void
        const done = Deferred.makeUnsafe<void>()
        waiting.add({ condition, done })
        // Whoever changed it comes to rest first: what is tested never answers from within itself.
        return Effect.andThen(Deferred.await(done), Effect.yieldNow)
      })
  }
}
