/** Looks again and again at what changes beside a session, such as files: from a first time on, and while somebody watches. */
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import type * as Scope from "effect/Scope"

/** How soon a change is told to those who watch. */
const LOOK_EVERY = "3 seconds"

export interface Watch {
  /** Nothing where it began already. */
  readonly begin: Effect.Effect<void>
}

/** The scope is the session's. */
export const make = Effect.fnUntraced(function* (
  isWatched: () => boolean,
  look: Effect.Effect<void>
): Effect.fn.Return<Watch, never, Scope.Scope> {
  const looking = yield* FiberHandle.make()
  const again = Effect.suspend(() => (isWatched() ? look : Effect.void))
  const forever = Effect.forever(Effect.delay(again, LOOK_EVERY))
  return { begin: Effect.asVoid(FiberHandle.run(looking, forever, { onlyIfMissing: true })) }
})
