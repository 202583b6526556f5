import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { StoreFailed } from "../../src/domain/Failure.ts"
import { SessionId } from "../../src/domain/Ids.ts"
import * as Replay from "../../src/domain/session/Replay.ts"
import { Entry, type SessionRecord } from "../../src/domain/session/Session.ts"
import { empty, foldAll } from "../../src/domain/session/SessionState.ts"
import { SessionStore, type SessionStoreShape } from "../../src/services/SessionStore.ts"
import * as LogWriter from "../../src/services/store/LogWriter.ts"
import { layerMemory } from "../../src/services/store/SessionStoreSqlite.ts"
import { logs, recordOf, split } from "../support/logs.ts"

const memory = Effect.map(Layer.build(Layer.fresh(layerMemory)), (context) => Context.get(context, SessionStore))

const logOf = (store: SessionStoreShape, id: SessionId) => Stream.runCollect(store.entries(id))

/** JSON has one zero. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const Name = Schema.Literals(["a", "b", "c"])
const Operation = Schema.Union([
  Schema.TaggedStruct("Create", { id: Name, entries: Schema.Array(Entry) }),
  Schema.TaggedStruct("Append", { id: Name, behind: Schema.Boolean, entries: Schema.NonEmptyArray(Entry) }),
  Schema.TaggedStruct("Fork", { from: Name, id: Name }),
  Schema.TaggedStruct("Remove", { id: Name })
])

/** What a store has to hold, said with a map. */
class Model {
  readonly sessions = new Map<string, { record: SessionRecord; entries: Array<Entry> }>()

  apply(operation: typeof Operation.Type, now: string): "done" | "StoreFailed" | "SessionNotFound" {
    const known = this.sessions.get(operation.id)
    switch (operation._tag) {
      case "Create": {
        if (known !== undefined) return "StoreFailed"
        this.sessions.set(operation.id, { record: recordOf(operation.id, { updatedAt: now }), entries: [] })
        if (operation.entries.length > 0) this.add(operation.id, operation.entries, now)
        return "done"
      }
      case "Append": {
        if (known === undefined) return "SessionNotFound"
        if (operation.behind && known.entries.length > 0) return "StoreFailed"
        this.add(operation.id, operation.entries, now)
        return "done"
      }
      case "Fork": {
        const from = this.sessions.get(operation.from)
        if (from === undefined) return "SessionNotFound"
        if (known !== undefined) return "StoreFailed"
        const record = recordOf(operation.id, { parent: SessionId.make(operation.from), updatedAt: now })
        this.sessions.set(operation.id, { record, entries: [...from.entries] })
        return "done"
      }
      case "Remove":
        this.sessions.delete(operation.id)
        return "done"
    }
  }

  private add(id: string, entries: ReadonlyArray<Entry>, now: string): void {
    const session = this.sessions.get(id)
    if (session === undefined) return
    session.entries.push(...entries)
    const titles = entries.flatMap((entry) => (entry._tag === "InfoUpdated" ? (entry.title ?? []) : []))
    // A column holds whole characters only.
    const title = titles.at(-1)?.toWellFormed()
    session.record = { ...session.record, updatedAt: now, ...(title === undefined ? {} : { title }) }
  }
}

const run = (store: SessionStoreShape, operation: typeof Operation.Type, now: string) => {
  const id = SessionId.make(operation.id)
  switch (operation._tag) {
    case "Create":
      return store.create(recordOf(id, { updatedAt: now }), operation.entries)
    case "Append":
      return store
        .nextSeq(id)
        .pipe(
          Effect.flatMap((next) => store.append(id, operation.behind ? Math.max(0, next - 1) : next, operation.entries))
        )
    case "Fork": {
      const parent = SessionId.make(operation.from)
      return store.fork(parent, recordOf(id, { parent, updatedAt: now }))
    }
    case "Remove":
      return store.remove(id)
  }
}

describe("the session store", () => {
  it.effect.prop(
    "does what a map of logs would do",
    [Schema.Array(Operation)],
    ([operations]) =>
      Effect.gen(function* () {
        const store = yield* memory
        const model = new Model()
        for (const operation of operations) {
          yield* TestClock.adjust("1 second")
          const now = DateTime.formatIso(yield* DateTime.now)
          const result = yield* run(store, operation, now).pipe(
            Effect.as("done"),
            Effect.catch((failure) => Effect.succeed(failure._tag))
          )
          assert.strictEqual(result, model.apply(operation, now), JSON.stringify(operation))
        }
        for (const { entries, record } of model.sessions.values()) {
          assert.deepStrictEqual(asJson(yield* logOf(store, record.id)), asJson(entries))
          assert.strictEqual(yield* store.nextSeq(record.id), entries.length)
        }
        const newest = [...model.sessions.values()]
          .map(({ record }) => record)
          .toSorted((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1))
        assert.deepStrictEqual(asJson((yield* store.list({})).sessions), asJson(newest))
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 150 } }
  )

  it.effect.prop(
    "leads to the same state however a log was cut into appends",
    [logs, Schema.Array(Schema.Natural)],
    ([log, sizes]) =>
      Effect.gen(function* () {
        const store = yield* memory
        const { id } = recordOf("one")
        yield* store.create(recordOf("one"))
        let seq = 0
        for (const piece of split(log, sizes)) {
          yield* store.append(id, seq, piece)
          seq += piece.length
        }
        const stored = yield* logOf(store, id)
        assert.deepStrictEqual(asJson(stored), asJson(log))
        assert.deepStrictEqual(asJson(foldAll(empty, stored).context), asJson(foldAll(empty, log).context))
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 50 } }
  )
})

const noDisk = new StoreFailed({ reason: "unavailable", message: "no disk" })

const Disturbance = Schema.Literals(["nothing", "flush", "wait", "tick", "break", "mend"])

describe("the log writer", () => {
  it.effect.prop(
    "loses nothing and changes nothing that is told, whatever the disk and the clock do",
    [logs, Schema.Array(Disturbance)],
    ([log, disturbances]) =>
      Effect.gen(function* () {
        const real = yield* memory
        let failing = false
        const unlessBroken = <E>(effect: Effect.Effect<void, E>) =>
          Effect.suspend((): Effect.Effect<void, E | StoreFailed> =>
            failing ? Effect.andThen(Effect.yieldNow, Effect.fail(noDisk)) : effect
          )
        const store: SessionStoreShape = {
          ...real,
          create: (record, entries) => unlessBroken(real.create(record, entries)),
          append: (id, seq, entries) => unlessBroken(real.append(id, seq, entries))
        }
        const writer = yield* LogWriter.open(store, recordOf("one"), { _tag: "New", entries: [] })
        for (const [index, entry] of log.entries()) {
          yield* writer.append(entry)
          switch (disturbances[index % Math.max(1, disturbances.length)]) {
            case "flush":
              yield* Effect.ignore(writer.flush)
              break
            case "wait":
              yield* TestClock.adjust("300 millis")
              break
            case "tick":
              yield* Effect.yieldNow
              break
            case "break":
              failing = true
              break
            case "mend":
              failing = false
              break
            case "nothing":
            case undefined:
              break
          }
        }
        failing = false
        yield* writer.flush
        if (log.length === 0) return
        const stored = yield* logOf(real, SessionId.make("one"))
        assert.deepStrictEqual(asJson(Replay.replay(stored)), asJson(Replay.replay(log)))
        assert.deepStrictEqual(asJson(foldAll(empty, stored)), asJson(foldAll(empty, log)))
        assert.strictEqual(yield* real.nextSeq(SessionId.make("one")), stored.length)
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 150 } }
  )
})
