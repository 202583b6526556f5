/** Shows the output of a running command: the first of it at once, then what changed, a few times a second (F77). */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { emptyView, receive, take } from "../../../domain/text/LiveView.ts"

/** Time for a burst to come together before the first view. */
const SETTLE = 20

/** Milliseconds between views: at first, and at most, for commands that have run for long. */
const SHORTEST = 250
const LONGEST = 1_000

/** Gives the function that takes output. The scope ends the showing. `show` may suspend; output goes on meanwhile. */
export const makeLiveOutput = Effect.fnUntraced(function* (show: (text: string) => Effect.Effect<void>) {
  const startedAt = yield* Clock.currentTimeMillis
  const news = yield* Latch.make(false)
  let view = emptyView

  const showNext = Effect.fnUntraced(function* (pause: number) {
    yield* news.await
    yield* Effect.sleep(Duration.millis(pause))
    yield* news.close
    const [text, next] = take(view)
    view = next
    yield* show(text)
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
  return (text: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      view = receive(view, text)
      return Effect.asVoid(news.open)
    })
})
