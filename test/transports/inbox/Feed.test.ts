import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { SessionId } from "../../../src/domain/Ids.ts"
import * as Feed from "../../../src/transports/inbox/Feed.ts"
import { platform } from "../../support/turns.ts"

const id = SessionId.make("one")
const text = (text: string) => ({ type: "text", role: "assistant", text }) as const

describe("the feed", () => {
  it.effect("numbers events, gives those after a number, and knows their ids", () =>
    Effect.gen(function* () {
      const feed = yield* Feed.make
      assert.deepStrictEqual(feed.after(0), [])
      const told = []
      for (const word of ["a", "b", "c"]) told.push(yield* feed.append(id, text(word), undefined, true))
      assert.deepStrictEqual(
        told.map(({ number }) => number),
        [1, 2, 3]
      )
      assert.strictEqual(feed.last(), 3)
      assert.deepStrictEqual(feed.after(1), told.slice(1))
      assert.deepStrictEqual(feed.after(3), [])
      assert.strictEqual(feed.find(told[1]?.id ?? ""), 2)
      const own = yield* feed.make(id, text("d"), { seq: 1, length: 2 }, true)
      assert.isUndefined(feed.find(own.id))
      assert.strictEqual(feed.last(), 3)
      assert.deepStrictEqual(JSON.parse(own.json), own.event)
    }).pipe(Effect.provide(platform))
  )

  it.effect("keeps the last 2,000 events, and says when a reader is behind them", () =>
    Effect.gen(function* () {
      const feed = yield* Feed.make
      for (let count = 0; count < 2_500; count++) yield* feed.append(id, text(`${count}`), undefined, true)
      assert.lengthOf(feed.all(), 2_000)
      assert.isUndefined(feed.after(499))
      assert.lengthOf(feed.after(500) ?? [], 2_000)
      assert.lengthOf(feed.after(2_499) ?? [], 1)
    }).pipe(Effect.provide(platform))
  )

  it.effect("keeps so many characters, and the latest event whatever its size", () =>
    Effect.gen(function* () {
      const feed = yield* Feed.make
      for (let count = 0; count < 40; count++) yield* feed.append(id, text("x".repeat(1_000_000)), undefined, true)
      assert.isAtMost(
        feed.all().reduce((sum, { json }) => sum + json.length, 0),
        8 * 1024 * 1024
      )
      assert.lengthOf(feed.all(), 8)
      yield* feed.append(id, text("x".repeat(9_000_000)), undefined, true)
      assert.lengthOf(feed.all(), 1)
      assert.lengthOf(feed.after(40) ?? [], 1)
    }).pipe(Effect.provide(platform))
  )
})
