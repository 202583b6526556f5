import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import { MAX_CHUNK } from "../../../src/domain/session/Delta.ts"
import { StoreFailed } from "../../../src/domain/Failure.ts"
import { SessionId } from "../../../src/domain/Ids.ts"
import { isBeyond, type Position } from "../../../src/domain/session/Position.ts"
import type { Entry } from "../../../src/domain/session/Session.ts"
import { SessionStore, type SessionStoreShape } from "../../../src/services/SessionStore.ts"
import * as LogWriter from "../../../src/services/store/LogWriter.ts"
import * as SessionStoreSqlite from "../../../src/services/store/SessionStoreSqlite.ts"
import { delta, recordOf, said } from "../../support/logs.ts"
import { logOf, withLogged } from "./support.ts"

const id = SessionId.make("one")
const record = recordOf("one")
const fresh: LogWriter.Origin = { _tag: "New", entries: [] }
const configured = (model: string): Entry => ({ _tag: "Configured", model })
/** For how long what happens together is gathered. */
const GATHER = "20 millis"
const noDisk = new StoreFailed({ reason: "unavailable", message: "The disk is full" })

interface Write {
  readonly from: number | "create"
  readonly entries: ReadonlyArray<Entry>
}

/** A real store whose writes can be watched, and made to fail before they reach it. */
const makeStore = Effect.gen(function* () {
  const real = Context.get(yield* Layer.build(Layer.fresh(SessionStoreSqlite.layerMemory)), SessionStore)
  const writes = yield* Queue.unbounded<Write>()
  const broken: { failure: StoreFailed | undefined } = { failure: undefined }
  const watched = <E>(write: Write, effect: Effect.Effect<void, E>): Effect.Effect<void, E | StoreFailed> =>
    Effect.suspend((): Effect.Effect<void, E | StoreFailed> =>
      broken.failure === undefined ? Effect.tap(effect, () => Queue.offer(writes, write)) : Effect.fail(broken.failure)
    )
  const store: SessionStoreShape = {
    ...real,
    create: (record, entries = []) => watched({ from: "create", entries }, real.create(record, entries)),
    append: (id, seq, entries) => watched({ from: seq, entries }, real.append(id, seq, entries))
  }
  return { store, real, writes, broken }
})

describe("LogWriter", () => {
  it.effect("stores nothing before somebody said something, and then all of it at once (F54)", () =>
    Effect.gen(function* () {
      const { real, store, writes } = yield* makeStore
      const log = yield* LogWriter.open(store, record, { _tag: "New", entries: [configured("a")] })
      yield* log.append({ _tag: "TurnStarted" })
      yield* log.flush
      yield* TestClock.adjust("1 minute")
      assert.isFalse(log.isStored())
      assert.deepStrictEqual(yield* real.list({}), { sessions: [] })

      yield* log.append(said("hi"))
      yield* TestClock.adjust(GATHER)
      const entries = [configured("a"), { _tag: "TurnStarted" } as const, said("hi")]
      assert.deepStrictEqual(yield* Queue.take(writes), { from: "create", entries })
      assert.isTrue(log.isStored())
      yield* log.flush
      assert.deepStrictEqual(yield* logOf(real, id), entries)
    })
  )

  it.effect("leaves no trace of a session in which nobody said anything", () =>
    Effect.gen(function* () {
      const { real, store } = yield* makeStore
      yield* Effect.scoped(
        Effect.gen(function* () {
          const log = yield* LogWriter.open(store, record, fresh)
          for (let index = 0; index < 20_000; index++) yield* log.append(configured(`model ${index}`))
        })
      )
      assert.deepStrictEqual(yield* real.list({}), { sessions: [] })
    })
  )

  it.effect("stores whole events within 20 ms, and together if they came together", () =>
    Effect.gen(function* () {
      const { store, writes } = yield* makeStore
      const log = yield* LogWriter.open(store, record, fresh)
      yield* log.append(said("hi"))
      yield* TestClock.adjust("19 millis")
      yield* log.append(configured("a"))
      assert.strictEqual(yield* Queue.size(writes), 0)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* Queue.take(writes), { from: "create", entries: [said("hi"), configured("a")] })
      yield* log.append({ _tag: "TurnStarted" })
      yield* TestClock.adjust(GATHER)
      assert.deepStrictEqual(yield* Queue.take(writes), { from: 2, entries: [{ _tag: "TurnStarted" }] })
    })
  )

  it.effect("joins the pieces of a message, and stores them after 250 ms", () =>
    Effect.gen(function* () {
      const { store, writes } = yield* makeStore
      yield* store.create(record, [said("hi")])
      yield* Queue.take(writes)
      const log = yield* LogWriter.open(store, record, { _tag: "Stored", nextSeq: 1 })
      yield* log.append(delta("one "))
      yield* TestClock.adjust("200 millis")
      yield* log.append(delta("two "))
      yield* log.append(delta("other", "n"))
      yield* TestClock.adjust("49 millis")
      assert.strictEqual(yield* Queue.size(writes), 0)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* Queue.take(writes), { from: 1, entries: [{ _tag: "Reopened" }] })
      assert.deepStrictEqual(yield* Queue.take(writes), {
        from: 2,
        entries: [delta("one two "), delta("other", "n")]
      })
      yield* log.append(delta("three"))
      yield* TestClock.adjust("250 millis")
      assert.deepStrictEqual(yield* Queue.take(writes), { from: 4, entries: [delta("three")] })
    })
  )

  it.effect("uses no number again that a process told and did not live to store", () =>
    Effect.gen(function* () {
      const { real, store } = yield* makeStore
      yield* store.create(record, [said("hi")])
      const told: Array<Position> = []
      for (const text of ["one", "two", "three"]) {
        const scope = yield* Scope.make()
        const log = yield* Scope.provide(LogWriter.open(store, record, { _tag: "Stored", nextSeq: 1 }), scope)
        for (let count = 0; count < 900; count++) told.push(yield* log.append(delta(text, `${text}${count}`)))
        yield* TestClock.adjust("1 millis")
      }
      for (const [index, position] of told.entries()) assert.isTrue(isBeyond(position, told[index - 1]))
      assert.strictEqual(yield* real.nextSeq(record.id), 1)
    })
  )

  it.effect("does not join beyond the limit of a chunk", () =>
    Effect.gen(function* () {
      const { real, store } = yield* makeStore
      const log = yield* LogWriter.open(store, record, fresh)
      yield* log.append(said("hi"))
      const piece = "x".repeat(MAX_CHUNK / 2)
      yield* Effect.forEach([piece, piece, piece], (text) => log.append(delta(text)), { discard: true })
      yield* log.flush
      assert.deepStrictEqual(yield* logOf(real, id), [said("hi"), delta(piece + piece), delta(piece)])
    })
  )

  it.effect("reports a write that failed, keeps it, and stores it in order at the next flush", () =>
    Effect.gen(function* () {
      const { broken, real, store } = yield* makeStore
      const log = yield* LogWriter.open(store, record, fresh)
      broken.failure = noDisk
      yield* log.append(said("hi"))
      assert.strictEqual(yield* Effect.flip(log.flush), noDisk)
      yield* log.append(delta("a"))
      assert.strictEqual(yield* Effect.flip(log.flush), noDisk)
      assert.isFalse(log.isStored())
      broken.failure = undefined
      yield* log.append(delta("b"))
      yield* log.flush
      assert.deepStrictEqual(yield* logOf(real, id), [said("hi"), delta("ab")])
    })
  )

  it.effect("keeps the order of what came while a write was on its way and failed", () =>
    Effect.gen(function* () {
      const { real, store } = yield* makeStore
      const [begun, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void, StoreFailed>()]
      let attempts = 0
      const create: SessionStoreShape["create"] = (record, entries) =>
        attempts++ > 0
          ? real.create(record, entries)
          : Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(end))
      const log = yield* LogWriter.open({ ...store, create }, record, fresh)
      yield* log.append(said("hi"))
      yield* TestClock.adjust(GATHER)
      yield* Deferred.await(begun)
      yield* log.append(delta("later"))
      yield* Deferred.fail(end, noDisk)
      yield* log.flush
      assert.strictEqual(attempts, 2)
      assert.deepStrictEqual(yield* logOf(real, id), [said("hi"), delta("later")])
    })
  )

  it.effect("warns once about writes that fail in the background, and tries again with the next entry", () =>
    Effect.gen(function* () {
      const { broken, store, writes } = yield* makeStore
      const [, logged] = yield* withLogged(
        Effect.scoped(
          Effect.gen(function* () {
            const log = yield* LogWriter.open(store, record, fresh)
            broken.failure = noDisk
            yield* log.append(said("hi"))
            for (let second = 0; second < 5; second++) {
              yield* TestClock.adjust("1 second")
              yield* log.append(delta("x"))
            }
            broken.failure = undefined
            yield* log.append(configured("a"))
            yield* TestClock.adjust(GATHER)
            assert.deepStrictEqual(yield* Queue.take(writes), {
              from: "create",
              entries: [said("hi"), delta("xxxxx"), configured("a")]
            })
          })
        )
      )
      assert.lengthOf(logged, 1)
      assert.match(logged[0] ?? "", /one is not stored yet: The disk is full/)
    })
  )

  it.effect("gives up for good when another process continued the session", () =>
    Effect.gen(function* () {
      const { real, store } = yield* makeStore
      const log = yield* LogWriter.open(store, record, fresh)
      yield* log.append(said("hi"))
      yield* log.flush
      yield* real.append(id, 1, [delta("theirs")])
      yield* log.append(delta("ours"))
      const first = yield* Effect.flip(log.flush)
      assert.strictEqual(first.reason, "conflict")
      yield* log.append(delta("more"))
      assert.strictEqual(yield* Effect.flip(log.flush), first)
      assert.deepStrictEqual(yield* logOf(real, id), [said("hi"), delta("theirs")])
    })
  )

  it.effect("gives up when the session was removed elsewhere", () =>
    Effect.gen(function* () {
      const { real, store } = yield* makeStore
      const log = yield* LogWriter.open(store, record, fresh)
      yield* log.append(said("hi"))
      yield* log.flush
      yield* real.remove(id)
      yield* log.append(delta("x"))
      assert.strictEqual((yield* Effect.flip(log.flush)).reason, "conflict")
      assert.deepStrictEqual(yield* real.list({}), { sessions: [] })
    })
  )

  it.effect("bounds what waits for a store that fails, and leaves no hole when it gives up", () =>
    Effect.gen(function* () {
      const { broken, real, store } = yield* makeStore
      const log = yield* LogWriter.open(store, record, fresh)
      yield* log.append(said("hi"))
      yield* log.flush
      broken.failure = noDisk
      for (let index = 0; index < 10_000; index++) {
        yield* log.append(delta("x", `m${index}`))
        if (index === 10) yield* Effect.flip(log.flush)
      }
      broken.failure = undefined
      const failure = yield* Effect.flip(log.flush)
      assert.match(failure.message, /The disk is full.*load it again/)
      assert.deepStrictEqual(yield* logOf(real, id), [said("hi")])
    })
  )

  it.effect("stores what is left when its scope closes", () =>
    Effect.gen(function* () {
      const { real, store } = yield* makeStore
      const scope = yield* Scope.make()
      const log = yield* Scope.provide(LogWriter.open(store, record, fresh), scope)
      yield* log.append(said("hi"))
      yield* log.append(delta("the end"))
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* logOf(real, id), [said("hi"), delta("the end")])
    })
  )

  it.effect("outlives a store that dies, and says that the session is not kept", () =>
    Effect.gen(function* () {
      const { store } = yield* makeStore
      const log = yield* LogWriter.open({ ...store, create: () => Effect.die("a bug") }, record, fresh)
      yield* log.append(said("hi"))
      assert.match((yield* Effect.flip(log.flush)).message, /no longer kept/)
      assert.match((yield* Effect.flip(log.flush)).message, /no longer kept/)
    })
  )
})
