/**
 * Merges the deltas of one burst: the first of a message goes out at once, later ones wait for the next beat, at most
 * 20 ms, or until 2 KB have gathered. A slow stream is never delayed: the beat stops when nothing waits.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Delta } from "../../domain/session/Delta.ts"
import type { MessageId } from "../../domain/Ids.ts"
import { whole } from "../../domain/text/Clip.ts"

export interface Deltas {
  readonly push: (delta: Delta) => Effect.Effect<void>
  /** Sends what waits. Called before anything else is told, so that order holds. */
  readonly flush: Effect.Effect<void>
}

const BEAT = "20 millis"
const MAX_CHARACTERS = 2048

/** What still waits when the scope ends is sent. */
export const make = Effect.fnUntraced(function* (
  emit: (delta: Delta) => Effect.Effect<void>
): Effect.fn.Return<Deltas, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const lock = yield* Semaphore.make(1)
  let waiting: Delta | undefined
  let present: MessageId | undefined
  let beating = false

  /** What was taken is sent, so that an interruption loses nothing. */
  const exclusively = <A>(effect: Effect.Effect<A>) => lock.withPermits(1)(Effect.uninterruptible(effect))

  /** Sends pieces of at least `atLeast` characters. Half a pair waits for its other half, unless it is the `last`. */
  const send = Effect.fnUntraced(function* (atLeast: number, last = false) {
    while (waiting !== undefined && waiting.text.length >= atLeast) {
      const { text } = waiting
      const piece = last && text.length === 1 ? text : whole(text.slice(0, MAX_CHARACTERS))
      if (piece === "") return
      const delta: Delta = { ...waiting, text: piece }
      waiting = piece.length === text.length ? undefined : { ...waiting, text: text.slice(piece.length) }
      yield* emit(delta)
    }
  })

  const beat = exclusively(
    Effect.suspend(() => {
      beating = waiting !== undefined
      return send(1)
    })
  )

  const startBeating = Effect.suspend(() => {
    if (beating) return Effect.void
    beating = true
    return Effect.sleep(BEAT).pipe(
      Effect.andThen(beat),
      Effect.repeat({ while: () => beating }),
      Effect.forkIn(scope),
      Effect.asVoid
    )
  })

  const push = (delta: Delta): Effect.Effect<void> =>
    exclusively(
      Effect.gen(function* () {
        if (delta.text === "") return
        if (waiting !== undefined && waiting.messageId !== delta.messageId) yield* send(1, true)
        waiting = waiting === undefined ? delta : { ...waiting, text: waiting.text + delta.text }
        const isFirst = present !== delta.messageId
        yield* send(beating && !isFirst ? MAX_CHARACTERS : 1)
        present = delta.messageId
        // Whoever writes it comes next, and not when all that arrived with it has been dealt with.
        if (isFirst) yield* Effect.yieldNow
        yield* startBeating
      })
    )

  const flush = exclusively(send(1, true))
  yield* Effect.addFinalizer(() => flush)

  return { push, flush }
})
