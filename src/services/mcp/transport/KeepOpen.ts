/** A stream on which a server tells what is new: opened again when it ends, and not at all where the server refuses it. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { McpFailed } from "./McpTransport.ts"

/** From the end of one to the beginning of the next: doubled each time, until one holds. */
const FIRST = Duration.toMillis("1 second")
const LONGEST = Duration.toMillis("1 minute")
/** One that was there for so long has held. */
const STABLE = Duration.toMillis("10 seconds")
/** So many failures in a row, and it is left alone. */
const FAILURES = 5

/** What the server said itself, or what no other attempt would change. */
const isRefusal = ({ code, reason }: McpFailed): boolean =>
  code !== undefined || reason === "final" || reason === "mismatch"

/** `once` is one stream from its beginning to its end. Returns when there is to be none. */
export const keepOpen = Effect.fnUntraced(function* <A>(once: Effect.Effect<A, McpFailed>): Effect.fn.Return<void> {
  let wait = FIRST
  let failures = 0
  while (failures < FAILURES) {
    const since = yield* Clock.currentTimeMillis
    const outcome = yield* Effect.result(once)
    if (Result.isFailure(outcome) && isRefusal(outcome.failure)) return
    const hasHeld = (yield* Clock.currentTimeMillis) - since >= STABLE
    failures = Result.isFailure(outcome) && !hasHeld ? failures + 1 : 0
    if (hasHeld) wait = FIRST
    yield* Effect.sleep(wait)
    wait = Math.min(2 * wait, LONGEST)
  }
})
