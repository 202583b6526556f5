/** A log told in two parts is told as a whole, wherever it was cut. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { MessageId } from "../../src/domain/Ids.ts"
import type { StoredEvent } from "../../src/domain/Event.ts"
import { isDelta, merge } from "../../src/domain/session/Delta.ts"
import {
  between,
  format,
  isBeyond,
  isSame,
  type NumberedEntry,
  parse,
  type Position,
  positionOf
} from "../../src/domain/session/Position.ts"
import * as Replay from "../../src/domain/session/Replay.ts"
import type { Entry } from "../../src/domain/session/Session.ts"

const options = { arbitrary: { runs: 200 } }
const messageId = MessageId.make("m")

const Piece = Schema.Union([
  Schema.TaggedStruct("TextDelta", { messageId: Schema.Literal(messageId), text: Schema.NonEmptyString }),
  Schema.TaggedStruct("ThoughtDelta", { messageId: Schema.Literal(messageId), text: Schema.NonEmptyString }),
  Schema.TaggedStruct("TurnStarted", {}),
  Schema.TaggedStruct("InfoUpdated", { title: Schema.String })
])
const logs = Arbitrary.schema(Schema.Array(Piece).check(Schema.isMinLength(1), Schema.isMaxLength(12)))
const places = Arbitrary.schema(
  Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 400 }))).check(Schema.isMaxLength(4))
)

const numbered = (log: ReadonlyArray<Entry>): ReadonlyArray<NumberedEntry> => log.map((entry, seq) => ({ seq, entry }))

const told = (entries: ReadonlyArray<NumberedEntry>): ReadonlyArray<Replay.Told> => {
  const all: Array<Replay.Told> = []
  let buffer = Replay.emptyBuffer
  for (const entry of entries) {
    const [next, ready] = Replay.step(buffer, entry)
    buffer = next
    all.push(...ready)
  }
  return [...all, ...Replay.flush(buffer)]
}

/** Events in which it does not matter into how many pieces a message was cut. */
const plain = (parts: ReadonlyArray<Replay.Told>): ReadonlyArray<unknown> => {
  const events: Array<StoredEvent> = []
  for (const { event } of parts) {
    const last = events.at(-1)
    const joined = last !== undefined && isDelta(last) ? merge(last, event) : undefined
    if (joined === undefined) events.push(event)
    else events[events.length - 1] = joined
  }
  return events
}

/** Every place at which a reader of this log may have stopped. */
const positionsOf = (log: ReadonlyArray<Entry>): ReadonlyArray<Position> =>
  log.flatMap((entry, seq) =>
    isDelta(entry) ? Array.from(entry.text, (_, index) => ({ seq, length: index + 1 })) : [positionOf({ seq, entry })]
  )

describe("positions", () => {
  it.effect.prop(
    "cut a log into parts that are the whole",
    [logs, places],
    Effect.fnUntraced(function* ([log, picks]) {
      const known = positionsOf(log)
      const cuts = picks
        .map((pick) => pick % known.length)
        .toSorted((one, other) => one - other)
        .flatMap((index) => known[index] ?? [])
      const all = numbered(log)
      let after: Position | undefined
      const parts: Array<Replay.Told> = []
      for (const upTo of [...cuts, undefined]) {
        parts.push(...told(all.flatMap((entry) => between(entry, after, upTo) ?? [])))
        after = upTo
      }
      assert.deepStrictEqual(plain(parts), plain(told(all)))
    }),
    options
  )

  it.effect.prop(
    "that are told lead to the rest and to nothing twice",
    [logs],
    Effect.fnUntraced(function* ([log]) {
      const all = numbered(log)
      const whole = told(all)
      for (const [index, { position }] of whole.entries()) {
        const rest = told(all.flatMap((entry) => between(entry, position, undefined) ?? []))
        assert.deepStrictEqual(plain([...whole.slice(0, index + 1), ...rest]), plain(whole))
      }
    }),
    options
  )

  it.effect.prop(
    "are written and read back the same, in an order",
    [logs],
    Effect.fnUntraced(function* ([log]) {
      const known = positionsOf(log)
      for (const [index, position] of known.entries()) {
        assert.deepStrictEqual(Option.getOrUndefined(parse(format(position))), position)
        const before = known[index - 1]
        assert.isTrue(isBeyond(position, before))
        assert.isFalse(isBeyond(position, position))
        assert.isFalse(isSame(position, before))
      }
    }),
    options
  )

  it.effect("are nothing else", () =>
    Effect.sync(() => {
      for (const text of ["", "x", "1.", ".1", "-1", "1.0", "01", "1.2.3", " 1", "1e3", "9".repeat(17)]) {
        assert.isTrue(Option.isNone(parse(text)), text)
      }
    })
  )
})
