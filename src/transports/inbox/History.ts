/** The way of one reader through the log of a conversation, in pieces, so that however slow it is it holds nothing up. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Position } from "../../domain/session/Position.ts"
import type { Conversation, OpenFailed } from "./Conversation.ts"
import type { Body } from "./Event.ts"
import type { Feed, Told } from "./Feed.ts"
import * as Projection from "./Projection.ts"

/** Events of one piece, and characters of them. */
const MAX_EVENTS = 128
const MAX_CHARACTERS = 256 * 1024

interface Item {
  readonly body: Body
  readonly position: Position
}

interface Piece {
  readonly items: ReadonlyArray<Item>
  /** Of the last event that was read, told or not. */
  readonly position: Position | undefined
  readonly isLast: boolean
}

const sizeOf = (body: Body): number => ("text" in body ? body.text.length : 0)

/** The log from a position on, as far as one piece takes it. */
const read = Effect.fnUntraced(function* (
  conversation: Conversation,
  projection: Projection.Projection,
  after: Position | undefined
): Effect.fn.Return<Piece, OpenFailed> {
  const full = yield* Deferred.make<void>()
  const items: Array<Item> = []
  let position = after
  let size = 0
  const isFull = () => items.length >= MAX_EVENTS || size >= MAX_CHARACTERS
  const ready = Effect.suspend(() =>
    isFull() ? Effect.andThen(Deferred.succeed(full, undefined), Effect.never) : Effect.void
  )
  const whole = conversation.history(
    after,
    (event, at) => {
      position = at
      for (const body of projection.tell(event)) {
        items.push({ body, position: at })
        size += sizeOf(body)
      }
    },
    ready
  )
  const isLast = yield* Effect.raceFirst(Effect.as(whole, true), Effect.as(Deferred.await(full), false))
  return { items, position, isLast }
})

/** Tells it from `after` on, for one reader; `at` hears how far. Ends where the feed goes on. */
export const stream = (
  feed: Feed,
  conversation: Conversation,
  after: Position | undefined,
  at: (position: Position | undefined) => void
): Stream.Stream<Told, OpenFailed> =>
  Stream.suspend(() => {
    const projection = Projection.make(conversation.titleOf)
    return Stream.paginate(after, (from) =>
      Effect.gen(function* () {
        const start = feed.last()
        const { isLast, items, position } = yield* read(conversation, projection, from)
        at(position)
        const told = yield* Effect.forEach(items, (item) =>
          feed.make(conversation.sessionId, item.body, item.position, true)
        )
        // Only if the feed still has all that happened meanwhile can it go on from here.
        const isComplete = isLast && feed.after(start) !== undefined
        return [told, isComplete ? Option.none() : Option.some(position)] as const
      })
    )
  })
