/** Shows the output of a running command: the first of it at once, then what changed, a few times a second (F77). */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Semaphore from "effect/Semaphore"
import { emptyView, receive, take, takeFresh } from "../../../domain/text/LiveView.ts"

/** Time for a burst to come together before the first view. */
const SETTLE = 20

/** Milliseconds between views: at first, and at most, for commands that have run for long. */
const SHORTEST = 250
const LONGEST = 1_000

export interface LiveOutput {
  readonly add: (text: string) => Effect.Effect<void>
  /** Shows what is new for the last time; a view is not made for it, since the outcome follows. */
  readonly finish: Effect.Effect<void>
}

/** The last screenful, and what is new since the last time; of much of it the end. */
export type Show = (fresh: string, view: string | undefined) => Effect.Effect<void>

/** The scope ends the showing. `show` may suspend, and output goes on meanwhile. */
export const makeLiveOutput = Effect.fnUntraced(function* (show: Show) {
  const startedAt = yield* Clock.currentTimeMillis
  const arrived = yield* Latch.make(false)
  const oneByOne = (yield* Semaphore.make(1)).withPermits(1)
  let view = emptyView

  const showView = Effect.suspend(() => {
    const [text, seen] = take(view)
    const [fresh, next] = takeFresh(seen)
    view = next
    return show(fresh, text)
  })

  const showNext = Effect.fnUntraced(function* (pause: number) {
    yield* arrived.await
    yield* Effect.sleep(Duration.millis(pause))
    yield* arrived.close
    yield* oneByOne(showView)
  })

  const showing = Effect.gen(function* () {
    yield* showNext(SETTLE)
    return yield* Effect.forever(
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        showNext(Math.min(LONGEST, Math.max(SHORTEST, (now - startedAt) / 100)))
      )
    )
  })

  yield* Effect.forkScoped(showing)
  return {
    add: (text) =>
      Effect.suspend(() => {
        view = receive(view, text)
        return Effect.asVoid(arrived.open)
      }),
    finish: oneByOne(
      Effect.suspend(() => {
        const [fresh, next] = takeFresh(view)
        view = next
        return fresh === "" ? Effect.void : show(fresh, undefined)
      })
    )
  } satisfies LiveOutput
})
