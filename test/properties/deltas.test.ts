/** Whatever comes in whatever rhythm: the same text, whole characters, in order, soon, and in few pieces. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import type { Delta } from "../../src/domain/session/Delta.ts"
import { MessageId } from "../../src/domain/Ids.ts"
import * as Deltas from "../../src/services/turn/Deltas.ts"

const Piece = Schema.Struct({
  letters: Schema.Array(Schema.Literals(["a", "ä", "😀", "\n"])),
  repeat: Schema.Literals([1, 1, 1, 7, 400]),
  pauses: Schema.Array(Schema.Literals([0, 0, 0, 1, 7, 19, 20, 21, 50])),
  sizes: Schema.Array(Schema.Literals([1, 2, 3, 100, 3000])),
  thought: Schema.Boolean,
  event: Schema.Boolean
})

interface Step {
  readonly delta: Delta
  readonly pause: number
  /** Another event follows the message. */
  readonly event: boolean
}

/** Cuts at any UTF-16 unit, so that halves of pairs come apart. */
const cut = (text: string, sizes: ReadonlyArray<number>): ReadonlyArray<string> => {
  const parts: Array<string> = []
  for (let from = 0, turn = 0; from < text.length; turn++) {
    const size = sizes[turn % Math.max(1, sizes.length)] ?? 1
    parts.push(text.slice(from, from + size))
    from += size
  }
  return parts
}

const scripts = Arbitrary.array(Arbitrary.schema(Piece), { maxLength: 6 }).pipe(
  Arbitrary.map((pieces) =>
    pieces.flatMap(({ event, letters, pauses, repeat, sizes, thought }, message): ReadonlyArray<Step> => {
      const parts = cut(letters.join("").repeat(repeat), sizes)
      return parts.map((text, index) => ({
        delta: { _tag: thought ? "ThoughtDelta" : "TextDelta", messageId: MessageId.make(`m${message}`), text },
        pause: pauses[index % Math.max(1, pauses.length)] ?? 0,
        event: event && index === parts.length - 1
      }))
    })
  )
)

type Told = (Delta & { readonly at: number }) | { readonly _tag: "Event"; readonly at: number }

const isDelta = (told: Told): told is Delta & { readonly at: number } => told._tag !== "Event"

const play = (script: ReadonlyArray<Step>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const told: Array<Told> = []
      const pushed: Array<Delta & { readonly at: number }> = []
      const deltas = yield* Deltas.make((delta) =>
        Effect.map(Clock.currentTimeMillis, (at) => void told.push({ ...delta, at }))
      )
      for (const { delta, event, pause } of script) {
        pushed.push({ ...delta, at: yield* Clock.currentTimeMillis })
        yield* deltas.push(delta)
        if (event) {
          yield* deltas.flush
          told.push({ _tag: "Event", at: yield* Clock.currentTimeMillis })
        }
        if (pause > 0) yield* TestClock.adjust(pause)
      }
      return { told, pushed }
    })
  )

const text = (deltas: ReadonlyArray<Delta>): string => deltas.map((delta) => delta.text).join("")
const messages = (deltas: ReadonlyArray<Delta>): ReadonlyArray<string> =>
  deltas
    .map(({ _tag, messageId }) => `${_tag} ${messageId}`)
    .filter((message, index, all) => message !== all[index - 1])

describe("deltas", () => {
  it.effect.prop("tell every character once, of the right message, in order", [scripts], ([script]) =>
    Effect.gen(function* () {
      const { pushed, told } = yield* play(script)
      const sent = told.filter(isDelta)
      assert.strictEqual(text(sent), text(pushed))
      assert.deepStrictEqual(messages(sent), messages(pushed))
      for (const id of new Set(pushed.map(({ messageId }) => messageId))) {
        const of = (deltas: ReadonlyArray<Delta>) => text(deltas.filter(({ messageId }) => messageId === id))
        assert.strictEqual(of(sent), of(pushed))
      }
    })
  )

  it.effect.prop("come in whole characters, 2,048 at most", [scripts], ([script]) =>
    Effect.gen(function* () {
      const { told } = yield* play(script)
      for (const delta of told.filter(isDelta)) {
        assert.isTrue(delta.text.isWellFormed(), JSON.stringify(delta.text.slice(-4)))
        assert.isAtMost(delta.text.length, 2048)
        assert.isAtLeast(delta.text.length, 1)
      }
    })
  )

  it.effect.prop("begin at once, and are never later than 20 ms", [scripts], ([script]) =>
    Effect.gen(function* () {
      const { pushed, told } = yield* play(script)
      const sent = told.filter(isDelta)
      let due = 0
      for (const [index, { at, messageId, text: last }] of pushed.entries()) {
        const isFirst = pushed[index - 1]?.messageId !== messageId
        due += last.length
        // Half a pair may wait for its other half.
        const whole = last.isWellFormed() ? last.length : last.length - 1
        if (whole === 0) continue
        let offset = 0
        const chunk = sent.find(({ text }) => (offset += text.length) >= due - last.length + whole)
        assert.isDefined(chunk)
        if (chunk !== undefined) assert.isAtMost(chunk.at - at, isFirst ? 0 : 20)
      }
    })
  )

  it.effect.prop("precede the event that follows them", [scripts], ([script]) =>
    Effect.gen(function* () {
      const { told } = yield* play(script)
      const events = script.flatMap(({ event }, index) => (event ? [index] : []))
      const marks = told.flatMap(({ _tag }, index) => (_tag === "Event" ? [index] : []))
      assert.lengthOf(marks, events.length)
      for (const [turn, index] of events.entries()) {
        assert.strictEqual(
          text(told.slice(0, marks[turn]).filter(isDelta)),
          text(script.slice(0, index + 1).map(({ delta }) => delta))
        )
      }
    })
  )

  it.effect.prop(
    "of one burst are joined",
    [Schema.Int.check(Schema.isBetween({ minimum: 2, maximum: 3000 }))],
    ([count]) =>
      Effect.gen(function* () {
        const delta: Delta = { _tag: "TextDelta", messageId: MessageId.make("m"), text: "word " }
        const { told } = yield* play(Array.from({ length: count }, () => ({ delta, pause: 0, event: false })))
        assert.isAtMost(told.length, 2 + Math.ceil((count * 5) / 2048))
      }),
    { arbitrary: { runs: 20 } }
  )
})
