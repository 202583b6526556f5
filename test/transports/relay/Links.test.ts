import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { until } from "../../support/Link.ts"
import { echo, play, unauthorized, unreachable } from "./links.ts"

const settle = Effect.forEach(Array(50), () => Effect.yieldNow, { discard: true })

describe("Links.keep, at a relay with a link for each client", () => {
  it.effect("holds one spare link, and calls again as soon as a client took it", () =>
    Effect.gen(function* () {
      const { serve } = echo()
      const relay = yield* play({ serve })
      const first = yield* relay.next
      yield* settle
      assert.strictEqual(yield* relay.waiting, 0)
      yield* first.pair
      const second = yield* relay.next
      yield* first.end.send(["hello"])
      yield* second.pair
      yield* second.end.send(["hello"])
      assert.deepStrictEqual([yield* first.next, yield* second.next], ["1 hello", "2 hello"])
      assert.deepStrictEqual(relay.told, ["Connected to the relay"])
    })
  )

  it.effect("leaves clients alone when one of them or the spare link is lost", () =>
    Effect.gen(function* () {
      const { ended, serve } = echo()
      const relay = yield* play({ serve })
      const first = yield* relay.next
      yield* first.pair
      const second = yield* relay.next
      yield* second.pair
      const spare = yield* relay.next
      yield* first.end.send(["x"])
      yield* first.next
      yield* second.end.send(["x"])
      yield* second.next
      yield* first.end.close
      yield* until(() => ended.length === 1)
      yield* spare.end.close
      yield* settle
      assert.strictEqual(yield* relay.waiting, 0)
      yield* second.end.send(["still here"])
      assert.strictEqual(yield* second.next, "2 still here")
      yield* TestClock.adjust("3 seconds")
      yield* relay.next
    })
  )

  it.effect("calls again after 2 seconds, then 4, and so on, and begins anew once it was connected", () =>
    Effect.gen(function* () {
      const relay = yield* play()
      const first = yield* relay.next
      for (let round = 0; round < 3; round++) {
        const before = relay.tokens.length
        relay.answers.push(unreachable, unreachable, unreachable)
        const link = round === 0 ? first : yield* relay.next
        yield* link.end.close
        yield* settle
        assert.strictEqual(relay.tokens.length, before)
        // Each wait may be a fifth shorter or longer, which adds up.
        for (const [seconds, calls] of [
          [1.5, 0],
          [1, 1],
          [2.1, 1],
          [2.7, 2],
          [3.8, 2],
          [5.8, 3],
          [7, 3],
          [12.2, 4]
        ] as const) {
          yield* TestClock.adjust(seconds * 1000)
          yield* settle
          assert.strictEqual(relay.tokens.length - before, calls, `${round}: ${calls}`)
        }
      }
      const [connected, lost, again] = relay.told
      assert.strictEqual(connected, "Connected to the relay")
      assert.match(lost ?? "", /^The link to the relay is lost\. The next try is in 2 s$/)
      assert.match(again ?? "", /^The relay cannot be reached\. The next try is in [345] s$/)
    })
  )

  it.effect("never waits longer than 72 seconds, and never gives up", () =>
    Effect.gen(function* () {
      const relay = yield* play()
      const link = yield* relay.next
      relay.answers.push(...Array<typeof unreachable>(30).fill(unreachable))
      yield* link.end.close
      yield* settle
      for (let call = 2; call <= 31; call++) {
        yield* TestClock.adjust("72 seconds")
        yield* settle
        assert.isAtLeast(relay.tokens.length, Math.min(call, 31))
      }
      yield* TestClock.adjust("72 seconds")
      yield* relay.next
      assert.strictEqual(relay.told.at(-1), "Connected to the relay")
    })
  )

  it.effect("reads a token that was refused again, and calls at once if it is another one", () =>
    Effect.gen(function* () {
      const tokens = ["old", "new", "newest"]
      let read = 0
      const relay = yield* play({ token: () => tokens[read++] ?? "last" })
      const link = yield* relay.next
      assert.deepStrictEqual(relay.tokens, ["old"])
      relay.answers.push(unauthorized)
      yield* link.pair
      const second = yield* relay.next
      assert.deepStrictEqual(relay.tokens, ["old", "new", "newest"])
      assert.strictEqual(second.token, "newest")
      assert.deepStrictEqual(relay.told, ["Connected to the relay"])
    })
  )

  it.effect("waits as for any failure while the token that is refused stays the same", () =>
    Effect.gen(function* () {
      let token = "old"
      const relay = yield* play({ token: () => token })
      const link = yield* relay.next
      relay.answers.push(unauthorized, unauthorized)
      yield* link.pair
      yield* settle
      assert.deepStrictEqual(relay.tokens, ["old", "old"])
      assert.match(relay.told.at(-1) ?? "", /^The relay answered 401\. The next try is in 2 s$/)
      yield* TestClock.adjust("2500 millis")
      assert.deepStrictEqual(relay.tokens, ["old", "old", "old"])
      token = "new"
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* relay.next).token, "new")
      assert.notMatch(relay.told.join(), /old|new/)
    })
  )

  it.effect("serves no more clients at once than it has seats for", () =>
    Effect.gen(function* () {
      const relay = yield* play({ clients: 2 })
      const first = yield* relay.next
      yield* first.pair
      const second = yield* relay.next
      yield* second.pair
      yield* settle
      assert.strictEqual(yield* relay.waiting, 0)
      yield* first.end.close
      yield* TestClock.adjust("5 seconds")
      yield* relay.next
    })
  )

  it.effect("does not call without end a relay that joins clients and drops them at once", () =>
    Effect.gen(function* () {
      const relay = yield* play({ clients: 4 })
      const drop = Effect.gen(function* () {
        const link = yield* relay.next
        yield* link.pair
        yield* link.end.close
      })
      for (let round = 1; round <= 3; round++) {
        yield* Effect.forEach(Array(4), () => drop, { discard: true })
        yield* settle
        assert.deepStrictEqual([relay.tokens.length, yield* relay.waiting], [4 * round, 0])
        yield* TestClock.adjust("5 seconds")
      }
    })
  )
})

const initialize = (id: number) => JSON.stringify({ jsonrpc: "2.0", id, method: "initialize", params: {} })

describe("Links.keep, at a relay with one link for all", () => {
  it.effect("keeps exactly one, whoever speaks on it", () =>
    Effect.gen(function* () {
      const relay = yield* play({ pairs: false })
      const link = yield* relay.next
      yield* link.pair
      yield* link.end.send([initialize(0), "x"])
      assert.deepStrictEqual([yield* link.next, yield* link.next], [`1 ${initialize(0)}`, "1 x"])
      assert.strictEqual(yield* relay.waiting, 0)
    })
  )

  it.effect("begins a new connection with each initialize, and leaves the one before", () =>
    Effect.gen(function* () {
      const { ended, serve } = echo()
      const relay = yield* play({ pairs: false, serve })
      const link = yield* relay.next
      yield* link.end.send([initialize(0)])
      yield* link.next
      yield* link.end.send([initialize(7), "x"])
      assert.deepStrictEqual([yield* link.next, yield* link.next], [`2 ${initialize(7)}`, "2 x"])
      assert.deepStrictEqual(ended, [1])
      // Not a request to initialize.
      const odd = [
        '{"jsonrpc":"2.0","method":"initialize"}',
        '{"jsonrpc":"2.0","id":1,"result":"initialize"}',
        '"initialize"'
      ]
      yield* link.end.send(odd)
      for (const text of odd) assert.strictEqual(yield* link.next, `2 ${text}`)
    })
  )

  it.effect("goes on with the connection over the next link, and loses nothing that it said in between", () =>
    Effect.gen(function* () {
      let say: ((texts: ReadonlyArray<string>) => Effect.Effect<void>) | undefined
      const { serve } = echo()
      const relay = yield* play({
        pairs: false,
        serve: (frames) => {
          say = frames.send
          return serve(frames)
        }
      })
      const first = yield* relay.next
      yield* first.end.send([initialize(0)])
      yield* first.next
      yield* first.end.close
      yield* settle
      yield* say?.(["one", "two"]) ?? Effect.void
      yield* say?.(["three"]) ?? Effect.void
      yield* TestClock.adjust("3 seconds")
      const second = yield* relay.next
      assert.deepStrictEqual([yield* second.next, yield* second.next, yield* second.next], ["one", "two", "three"])
      yield* second.end.send(["x"])
      assert.strictEqual(yield* second.next, "1 x")
    })
  )

  it.effect("drops the connection when too much waits while the relay is away", () =>
    Effect.gen(function* () {
      let say: ((texts: ReadonlyArray<string>) => Effect.Effect<void>) | undefined
      const { ended, serve } = echo()
      const relay = yield* play({
        pairs: false,
        serve: (frames) => {
          say = frames.send
          return serve(frames)
        }
      })
      const first = yield* relay.next
      yield* first.end.send([initialize(0)])
      yield* first.next
      yield* first.end.close
      yield* settle
      for (let count = 0; count < 4_096; count++) yield* say?.(["x"]) ?? Effect.void
      assert.deepStrictEqual(ended, [])
      yield* say?.(["x"]) ?? Effect.void
      yield* settle
      assert.deepStrictEqual(ended, [1])
      yield* TestClock.adjust("3 seconds")
      const second = yield* relay.next
      yield* second.end.send([initialize(0)])
      assert.strictEqual(yield* second.next, `2 ${initialize(0)}`)
    })
  )
})
