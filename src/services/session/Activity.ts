/** In which sessions of this process a prompt runs or waits. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { SessionId } from "../../domain/Ids.ts"

export interface Activity {
  /** Counts the effect as work of that session. */
  readonly during: <A, E>(id: SessionId, effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  readonly working: Effect.Effect<ReadonlyArray<SessionId>>
  /** Waits until nothing is at work. */
  readonly idle: Effect.Effect<void>
}

export const make = (): Activity => {
  const counts = new Map<SessionId, number>()
  const quiet = Latch.makeUnsafe(true)

  const begin = (id: SessionId) =>
    Effect.sync(() => {
      counts.set(id, (counts.get(id) ?? 0) + 1)
      quiet.closeUnsafe()
    })

  const end = (id: SessionId) =>
    Effect.sync(() => {
      const left = (counts.get(id) ?? 1) - 1
      if (left > 0) counts.set(id, left)
      else counts.delete(id)
      if (counts.size === 0) quiet.openUnsafe()
    })

  return {
    during: (id, effect) =>
      Effect.acquireUseRelease(
        begin(id),
        () => effect,
        () => end(id)
      ),
    working: Effect.sync(() => [...counts.keys()]),
    idle: quiet.await
  }
}
