/** A prompt of this inbox, from its post to its outcome. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { Event } from "../../domain/Event.ts"
import type { Busy, InvalidInput, SessionNotFound, StoreFailed } from "../../domain/Failure.ts"
import type { MessageId } from "../../domain/Ids.ts"
import type { Outcome } from "../../domain/Turn.ts"
import { whole } from "../../domain/text/Clip.ts"

export type PromptFailed = SessionNotFound | InvalidInput | Busy | StoreFailed

/** Characters of an answer that is given in one piece. */
const MAX_TEXT = 4 * 1024 * 1024

export interface Turn {
  /** The number of the event before its first one. */
  readonly begun: Deferred.Deferred<number>
  readonly isBegun: () => boolean
  /** The number of its last event. A turn that never began ends as well. */
  readonly ended: Deferred.Deferred<number>
  readonly outcome: Deferred.Deferred<Outcome, PromptFailed>
  /** The end was told, with this number. */
  done: number | undefined
  /** Takes what the turn says. */
  readonly hear: (event: Event) => void
  /** What it said so far, its messages apart. */
  readonly text: () => string
}

export const make: Effect.Effect<Turn> = Effect.gen(function* () {
  let message: MessageId | undefined
  let text = ""
  const begun = yield* Deferred.make<number>()
  return {
    begun,
    isBegun: () => Deferred.isDoneUnsafe(begun),
    ended: yield* Deferred.make<number>(),
    outcome: yield* Deferred.make<Outcome, PromptFailed>(),
    done: undefined,
    hear: (event) => {
      if (event._tag !== "TextDelta" || text.length >= MAX_TEXT) return
      if (message !== undefined && message !== event.messageId) text += "\n\n"
      message = event.messageId
      text = `${text}${event.text}`.slice(0, MAX_TEXT)
    },
    text: () => whole(text).toWellFormed()
  }
})
