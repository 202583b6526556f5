import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"
import * as NodeFs from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { SessionId } from "../../../src/domain/Ids.ts"
import type { SessionRecord } from "../../../src/domain/session/Session.ts"
import type { SessionFilter, SessionStoreShape } from "../../../src/services/SessionStore.ts"
import { root, sources } from "../../support/Sources.ts"
import { delta, recordOf, said, titled } from "../../support/logs.ts"
import { logOf, openStore, temporaryFile, withLogged } from "./support.ts"

const id = SessionId.make("one")
const mode = (path: string) => (NodeFs.statSync(path).mode & 0o777).toString(8)

/** What this process holds open; nothing where the system does not say. */
const openFiles = (): ReadonlyArray<string> => {
  const folder = "/proc/self/fd"
  if (!NodeFs.existsSync(folder)) return []
  return NodeFs.readdirSync(folder).flatMap((name) => {
    const link = join(folder, name)
    return NodeFs.existsSync(link) ? NodeFs.readlinkSync(link) : []
  })
}

/** Works on the file behind the store's back. */
const tamper = (file: string, work: (database: DatabaseSync) => void) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new DatabaseSync(file)),
    (database) => Effect.sync(() => work(database)),
    (database) => Effect.sync(() => database.close())
  )

const walk = Effect.fnUntraced(function* (store: SessionStoreShape, filter: SessionFilter) {
  const pages: Array<ReadonlyArray<SessionRecord>> = []
  let cursor: string | undefined
  do {
    const page = yield* store.list(cursor === undefined ? filter : { ...filter, cursor })
    pages.push(page.sessions)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return pages
})

describe("SessionStoreSqlite", () => {
  it.effect("touches nothing before the first operation", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      const store = yield* openStore(file)
      assert.isFalse(NodeFs.existsSync(dirname(file)))
      assert.deepStrictEqual(yield* store.list({}), { sessions: [] })
      assert.isTrue(NodeFs.existsSync(file))
    })
  )

  it("loads neither the driver nor the SQL modules before the first operation", () => {
    const eager = sources("src/services/{store/SessionStoreSqlite,SessionStore}.ts").flatMap(({ imports }) => imports)
    const loaded = eager.filter((specifier) => /sql/i.test(specifier))
    assert.deepStrictEqual(loaded, ["./SqliteSessions.ts"])
    const text = NodeFs.readFileSync(join(root, "src/services/store/SessionStoreSqlite.ts"), "utf8")
    assert.include(text, 'import("./SqliteSessions.ts")')
  })

  it.effect("keeps the file and its folder to the user", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      const store = yield* openStore(file)
      yield* store.create(recordOf("one"))
      assert.strictEqual(mode(dirname(file)), "700")
      for (const name of NodeFs.readdirSync(dirname(file))) {
        assert.strictEqual(mode(`${dirname(file)}/${name}`), "600", name)
      }
    })
  )

  it.effect("gives back what was stored after a restart", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      const log = [said("hi"), delta("hello"), titled("A title")]
      yield* Effect.scoped(Effect.flatMap(openStore(file), (store) => store.create(recordOf("one"), log)))
      const store = yield* openStore(file)
      assert.deepStrictEqual(yield* store.record(id), recordOf("one", { title: "A title" }))
      assert.deepStrictEqual(yield* logOf(store, id), log)
      assert.strictEqual(yield* store.nextSeq(id), 3)
    })
  )

  it.effect("moves the time and the title with an append", () =>
    Effect.gen(function* () {
      const store = yield* openStore(yield* temporaryFile)
      yield* store.create(recordOf("one"))
      yield* TestClock.adjust("90 seconds")
      yield* store.append(id, 0, [titled("First"), titled("Second"), delta("x")])
      assert.deepStrictEqual(
        yield* store.record(id),
        recordOf("one", { title: "Second", updatedAt: "1970-01-01T00:01:30.000Z" })
      )
    })
  )

  it.effect("never moves the time of a session back", () =>
    Effect.gen(function* () {
      const store = yield* openStore(yield* temporaryFile)
      const future = recordOf("one", { updatedAt: "2099-01-01T00:00:00.000Z" })
      yield* store.create(future)
      yield* store.append(id, 0, [delta("x")])
      assert.deepStrictEqual(yield* store.record(id), future)
    })
  )

  it.effect("says for every operation that a session does not exist", () =>
    Effect.gen(function* () {
      const store = yield* openStore(yield* temporaryFile)
      for (const operation of [
        store.record(id),
        store.nextSeq(id),
        store.append(id, 0, [delta("x")]),
        logOf(store, id),
        store.fork(id, recordOf("two"))
      ]) {
        const failure = yield* Effect.flip(Effect.asVoid(operation))
        assert.strictEqual(failure._tag, "SessionNotFound")
      }
      assert.deepStrictEqual(yield* store.list({}), { sessions: [] })
    })
  )

  it.effect("refuses the second of two writers, and keeps the first one's entries whole", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      const one = yield* openStore(file)
      const other = yield* openStore(file)
      yield* one.create(recordOf("one"), [said("hi")])
      const [here, there] = [yield* one.nextSeq(id), yield* other.nextSeq(id)]
      yield* one.append(id, here, [delta("a"), delta("b")])
      const failure = yield* Effect.flip(other.append(id, there, [delta("x"), delta("y"), delta("z")]))
      assert.isTrue(failure._tag === "StoreFailed" && failure.reason === "conflict")
      assert.include(failure.message, "load it again")
      assert.deepStrictEqual(yield* logOf(other, id), [said("hi"), delta("a"), delta("b")])
      const again = yield* Effect.flip(one.create(recordOf("one")))
      assert.strictEqual(again.reason, "conflict")
    })
  )

  it.effect("forks a log into a session of its own", () =>
    Effect.gen(function* () {
      const store = yield* openStore(yield* temporaryFile)
      yield* store.create(recordOf("one"), [said("hi"), delta("a")])
      const fork = recordOf("two", { parent: id, title: "Fork" })
      yield* store.fork(id, fork)
      yield* store.append(fork.id, yield* store.nextSeq(fork.id), [delta("b")])
      assert.deepStrictEqual(yield* logOf(store, fork.id), [said("hi"), delta("a"), delta("b")])
      assert.deepStrictEqual(yield* logOf(store, id), [said("hi"), delta("a")])
      assert.deepStrictEqual(yield* store.record(fork.id), fork)
      const taken = yield* Effect.flip(store.fork(id, fork))
      assert.isTrue(taken._tag === "StoreFailed" && taken.reason === "conflict")
    })
  )

  it.effect("removes a session with its log, once and again", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      const store = yield* openStore(file)
      yield* store.create(recordOf("one"), [said("hi")])
      yield* store.create(recordOf("two"), [said("hi")])
      yield* store.remove(id)
      yield* store.remove(id)
      yield* tamper(file, (database) => {
        assert.deepStrictEqual({ ...database.prepare("SELECT COUNT(*) AS left FROM entries").get() }, { left: 1 })
      })
      assert.lengthOf((yield* store.list({})).sessions, 1)
    })
  )

  it.effect("walks 300 sessions newest first, each once, while others are written", () =>
    Effect.gen(function* () {
      const store = yield* openStore(yield* temporaryFile)
      for (let index = 0; index < 300; index++) {
        // Every third session shares its time with its neighbour.
        yield* TestClock.adjust(Duration.millis(index % 3 === 0 ? 0 : 1000))
        yield* store.create(recordOf(`s${index}`, { cwd: index % 2 === 0 ? "/even" : "/even/not" }), [said("hi")])
      }
      const pages = yield* walk(store, {})
      assert.deepStrictEqual(
        pages.map((page) => page.length),
        [50, 50, 50, 50, 50, 50]
      )
      const times = pages.flat().map(({ updatedAt }) => updatedAt)
      assert.deepStrictEqual(times, times.toSorted().toReversed())
      assert.strictEqual(new Set(pages.flat().map((record) => record.id)).size, 300)
      assert.strictEqual((yield* walk(store, { cwd: "/even" })).flat().length, 150)
      assert.deepStrictEqual(yield* walk(store, { cwd: "/eve" }), [[]])

      const first = yield* store.list({})
      const moved = pages.flat().at(-1)
      assert.isDefined(moved)
      yield* store.append(moved.id, 1, [delta("new")])
      yield* store.create(recordOf("late"), [said("hi")])
      const rest = yield* walk(store, { cursor: first.nextCursor ?? "" })
      const seen = [...first.sessions, ...rest.flat()].map((record) => record.id)
      assert.strictEqual(new Set(seen).size, seen.length)
    })
  )

  it.effect("refuses a cursor that it did not give", () =>
    Effect.gen(function* () {
      const store = yield* openStore(yield* temporaryFile)
      for (const cursor of ["", "nonsense", "!", Buffer.from("[1,2]").toString("base64url"), "bnVsbA"]) {
        const failure = yield* Effect.flip(store.list({ cursor }))
        assert.isTrue(failure._tag === "InvalidInput" && failure.field === "cursor", cursor)
      }
    })
  )

  it.effect("leaves out entries that it cannot read, and names each", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      const store = yield* openStore(file)
      yield* store.create(recordOf("one"), [said("hi"), delta("a"), delta("b"), delta("c")])
      yield* tamper(file, (database) => {
        database.exec(`UPDATE entries SET json = '{"_tag":"TextDelta","text":"SECRET' WHERE seq = 1`)
        database.exec(`UPDATE entries SET json = '{"_tag":"OfTheFuture","text":"SECRET"}' WHERE seq = 2`)
      })
      const [log, logged] = yield* withLogged(logOf(store, id))
      assert.deepStrictEqual(log, [said("hi"), delta("c")])
      assert.lengthOf(logged, 2)
      assert.match(logged[0] ?? "", /Entry 1 of session one/)
      assert.match(logged[1] ?? "", /Entry 2 of session one/)
      assert.notInclude(logged.join(), "SECRET")
      assert.strictEqual(yield* store.nextSeq(id), 4)
    })
  )

  it.effect("leaves out an entry that it cannot write, and keeps the rest", () =>
    Effect.gen(function* () {
      const store = yield* openStore(yield* temporaryFile)
      const log = [said("hi"), { _tag: "UsageUpdated", used: Number.NaN, size: 1 } as const, delta("a")]
      const [, logged] = yield* withLogged(store.create(recordOf("one"), log))
      assert.lengthOf(logged, 1)
      assert.match(logged[0] ?? "", /Entry 1 \(UsageUpdated\) of session one/)
      assert.deepStrictEqual(yield* logOf(store, id), [said("hi"), delta("a")])
      assert.strictEqual(yield* store.nextSeq(id), 3)
    })
  )

  it.effect("does not list a session whose record it cannot read, and can still remove it", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      const store = yield* openStore(file)
      yield* store.create(recordOf("one"))
      yield* store.create(recordOf("two"))
      yield* tamper(file, (database) => database.exec("UPDATE sessions SET harness = '' WHERE id = 'one'"))
      const [page, logged] = yield* withLogged(store.list({}))
      assert.deepStrictEqual(page.sessions, [recordOf("two")])
      assert.match(logged[0] ?? "", /session one/)
      const failure = yield* Effect.flip(store.record(id))
      assert.isTrue(failure._tag === "StoreFailed" && failure.reason === "damaged")
      yield* store.remove(id)
    })
  )

  it.effect("reads a log that is longer and heavier than a page", () =>
    Effect.gen(function* () {
      const store = yield* openStore(yield* temporaryFile)
      const heavy = "x".repeat(700_000)
      const log = Array.from({ length: 1300 }, (_, index) => delta(index % 100 === 0 ? heavy : `${index} `))
      yield* store.create(recordOf("one"), log)
      assert.deepStrictEqual(yield* logOf(store, id), log)
    })
  )
})

describe("a database that another process holds", () => {
  const hold = (file: string) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const database = new DatabaseSync(file)
        database.exec("BEGIN IMMEDIATE")
        return database
      }),
      (database) => Effect.sync(() => database.close())
    )

  it.live("is waited for as a fiber, and read meanwhile", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      const [store, reader] = [yield* openStore(file), yield* openStore(file)]
      yield* store.create(recordOf("one"), [said("hi")])
      const holder = yield* hold(file)
      const append = yield* Effect.forkChild(store.append(id, 1, [delta("late")]))
      assert.deepStrictEqual(yield* logOf(reader, id), [said("hi")])
      holder.exec("COMMIT")
      yield* Fiber.join(append)
      assert.deepStrictEqual(yield* logOf(reader, id), [said("hi"), delta("late")])
    })
  )

  it.effect("is reported after three seconds", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      const store = yield* openStore(file)
      yield* store.create(recordOf("one"))
      yield* hold(file)
      const append = yield* Effect.forkChild(Effect.flip(store.append(id, 0, [said("hi")])))
      yield* TestClock.adjust("4 seconds")
      const failure = yield* Fiber.join(append)
      assert.isTrue(failure._tag === "StoreFailed" && failure.reason === "unavailable")
      assert.match(failure.message, /another process/)
      assert.deepStrictEqual(yield* logOf(store, id), [])
    })
  )
})

describe("a database that cannot be used", () => {
  it.effect("is reported with its path and the remedy, and used again once it is put right", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      NodeFs.mkdirSync(dirname(file))
      NodeFs.writeFileSync(file, "this is no database, though it is long enough to be one. ".repeat(100))
      const store = yield* openStore(file)
      for (const operation of [store.list({}), store.create(recordOf("one")), store.remove(id)]) {
        const failure = yield* Effect.flip(Effect.asVoid(operation))
        assert.isTrue(failure._tag === "StoreFailed" && failure.reason === "damaged")
        assert.include(failure.message, file)
        assert.include(failure.message, "move the file away")
      }
      assert.deepStrictEqual(
        openFiles().filter((path) => path.startsWith(file)),
        []
      )
      NodeFs.rmSync(file)
      yield* store.create(recordOf("one"))
      assert.lengthOf((yield* store.list({})).sessions, 1)
    })
  )

  it.effect("is damaged only for the session whose pages are hurt", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      const hurt = [said("x".repeat(300_000)), said("THE MARK".repeat(20_000))]
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* openStore(file)
          yield* store.create(recordOf("two"), [said("hi")])
          yield* store.create(recordOf("one"), hurt)
        })
      )
      const bytes = NodeFs.readFileSync(file)
      const page = Math.ceil(bytes.indexOf("THE MARK") / 4096) + 2
      bytes.fill(0xff, page * 4096, (page + 1) * 4096)
      NodeFs.writeFileSync(file, bytes)

      const store = yield* openStore(file)
      const failure = yield* Effect.flip(logOf(store, id))
      assert.isTrue(failure._tag === "StoreFailed" && failure.reason === "damaged", String(failure))
      assert.deepStrictEqual(yield* logOf(store, SessionId.make("two")), [said("hi")])
      yield* store.append(SessionId.make("two"), 1, [delta("goes on")])
      yield* store.create(recordOf("three"), [said("hi")])
      assert.lengthOf((yield* store.list({})).sessions, 3)
    })
  )

  it.effect("says which program is too old for it", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      yield* Effect.scoped(Effect.flatMap(openStore(file), (store) => store.create(recordOf("one"))))
      yield* tamper(file, (database) => {
        database.exec("INSERT INTO migrations (migration_id, name) VALUES (7, 'of_the_future')")
      })
      const store = yield* openStore(file)
      const failure = yield* Effect.flip(store.list({}))
      assert.isTrue(failure._tag === "StoreFailed" && failure.reason === "unavailable")
      assert.match(failure.message, /newer version .*version 7.*Update Super-Pi/)
    })
  )

  it.effect("says why it cannot be opened", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      NodeFs.writeFileSync(dirname(file), "a file where the folder should be")
      const store = yield* openStore(file)
      const failure = yield* Effect.flip(store.list({}))
      assert.isTrue(failure._tag === "StoreFailed" && failure.reason === "unavailable")
      assert.include(failure.message, file)
      assert.include(failure.message, "SUPERCHARGE_HOME")
    })
  )
})
