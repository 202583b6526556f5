/** How long a call may take. A person who is asked something may take any time: the limit waits for the answer. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** `silence`: since the last sign of progress, and 24 times that in all. `total`: since the beginning (F103). */
export interface CallLimit {
  readonly of: "silence" | "total"
  readonly limit: Duration.Duration
}

const LONGEST = 24

export interface Patience {
  /** The server showed that it works. */
  readonly progressed: Effect.Effect<void>
  /** The time that this takes does not count. */
  readonly waitingFor: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Returns when the limit is reached. */
  readonly expired: Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* ({ limit, of }: CallLimit): Effect.fn.Return<Patience> {
  const most = Duration.toMillis(limit)
  const began = yield* Clock.currentTimeMillis
  let since = began
  let waiting = 0
  let waitingSince = 0

  return {
    progressed:
      of === "total"
        ? Effect.void
        : Effect.map(Clock.currentTimeMillis, (now) => {
            since = Math.min(now, began + (LONGEST - 1) * most)
          }),
    waitingFor: (effect) =>
      Effect.acquireUseRelease(
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (waiting === 0) waitingSince = now
          waiting += 1
        }),
        () => effect,
        () =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            waiting -= 1
            if (waiting === 0) since += now - Math.max(since, waitingSince)
          })
      ),
    expired: Effect.gen(function* () {
      for (;;) {
        const left = waiting > 0 ? most : since + most - (yield* Clock.currentTimeMillis)
        if (left <= 0) return
        yield* Effect.sleep(Duration.millis(left))
      }
    })
  }
})
