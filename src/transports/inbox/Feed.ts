/** The latest events of the process, in one order: what readers follow, and what they get again after a cut. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { SecureRandom } from "effect/crypto/SecureRandom"
import type { SessionId } from "../../domain/Ids.ts"
import type { Position } from "../../domain/session/Position.ts"
import type { Body, InboxEvent } from "./Event.ts"
import * as Mark from "./Mark.ts"

/** Events that are kept, and characters of them; the latest one always is. */
const MAX_EVENTS = 2_000
const MAX_CHARACTERS = 8 * 1024 * 1024

/** An event as readers get it. `number` counts the events of the process from 1; one out of the log has none. */
export interface Told {
  readonly number?: number
  readonly mark: Mark.Mark
  /** Whether the log has it, so that `mark.position` is its own. */
  readonly kept: boolean
  readonly id: string
  readonly event: InboxEvent
  /** The event as it is written, once for all readers. */
  readonly json: string
}

export interface Feed {
  /** An event that is told to one reader only. */
  readonly make: (
    sessionId: SessionId,
    body: Body,
    position: Position | undefined,
    kept: boolean
  ) => Effect.Effect<Told>
  /** The same for everybody. */
  readonly append: Feed["make"]
  /** The number of the latest event. */
  readonly last: () => number
  /** What came after a number; nothing if some of it is no longer kept. */
  readonly after: (number: number) => ReadonlyArray<Told> | undefined
  /** All that is kept. */
  readonly all: () => ReadonlyArray<Told>
  /** The number of the event with this id, if it is kept. */
  readonly find: (id: string) => number | undefined
  /** Waits until there is something after a number. */
  readonly beyond: (number: number) => Effect.Effect<void>
}

export const make = Effect.gen(function* (): Effect.fn.Return<Feed, never, SecureRandom> {
  const random = yield* SecureRandom
  /** Tells the ids of this process from those of another. */
  const process = (yield* random.uuidV4()).slice(0, 8)
  const news = Latch.makeUnsafe(false)
  let kept: Array<Told> = []
  let characters = 0
  let ids = 0
  let last = 0

  const create = Effect.fnUntraced(function* (
    sessionId: SessionId,
    body: Body,
    position: Position | undefined,
    inLog: boolean
  ): Effect.fn.Return<Told> {
    const mark = { sessionId, position, type: body.type }
    ids += 1
    const id = Mark.format(mark, `${process}-${ids.toString(36)}`)
    const event = { id, ts: yield* Clock.currentTimeMillis, sessionId, ...body }
    return { mark, kept: inLog, id, event, json: JSON.stringify(event) }
  })

  const add = (created: Told): Told => {
    last += 1
    const told = { ...created, number: last }
    kept.push(told)
    characters += told.json.length
    let gone = 0
    for (const old of kept) {
      if (kept.length - gone <= 1) break
      if (kept.length - gone <= MAX_EVENTS && characters <= MAX_CHARACTERS) break
      characters -= old.json.length
      gone += 1
    }
    if (gone > 0) kept = kept.slice(gone)
    news.openUnsafe()
    return told
  }

  const after = (number: number): ReadonlyArray<Told> | undefined => {
    const first = last - kept.length + 1
    return number < first - 1 ? undefined : kept.slice(Math.max(number - first + 1, 0))
  }

  return {
    make: create,
    append: (...event) => Effect.map(create(...event), add),
    last: () => last,
    after,
    all: () => kept,
    find: (id) => kept.find((told) => told.id === id)?.number,
    beyond: (number) =>
      Effect.suspend(() => {
        if (last > number) return Effect.void
        news.closeUnsafe()
        return news.await
      })
  }
})
