import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { type FileLock, withFileLock } from "../../../src/services/files/FileLock.ts"
import { makeOwnFile } from "../../../src/services/files/OwnFile.ts"
import { makeOwnText, OwnFileFailed } from "../../../src/services/files/OwnText.ts"
import { makeFolder, platform, read, write } from "../../support/toolbox.ts"

const setUp = Effect.gen(function* () {
  const { work } = yield* makeFolder
  const fs = yield* FileSystem.FileSystem
  const lock: FileLock<string> = { fs, path: `${work}/list.lock`, retries: 200, failed: ({ reason }) => reason._tag }
  return { fs, work, lock }
})

/** A file of numbers that belongs to nobody else's memory. */
const numbers = Effect.fnUntraced(function* (work: string, broken: Partial<FileSystem.FileSystem> = {}) {
  return makeOwnFile({
    fs: { ...(yield* FileSystem.FileSystem), ...broken },
    paths: yield* Path.Path,
    path: `${work}/list`,
    schema: Schema.fromJsonString(Schema.Array(Schema.Int)),
    empty: [],
    what: "list of numbers"
  })
})

/** Makes a file look a minute old. */
const age = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const old = Date.now() / 1000 - 60
  yield* fs.utimes(path, old, old)
})

describe("a lock on a file", () => {
  it.live("that another process holds is not waited for by whoever is interrupted", () =>
    Effect.gen(function* () {
      const { fs, lock, work } = yield* setUp
      yield* write(lock.path, "another")
      const tried = yield* Deferred.make<void>()
      let tries = 0
      const watched: FileSystem.FileSystem = {
        ...fs,
        writeFileString: (...args) => {
          tries += 1
          return Effect.ensuring(fs.writeFileString(...args), Deferred.succeed(tried, undefined))
        }
      }
      const fiber = yield* Effect.forkChild(Effect.void.pipe(withFileLock({ ...lock, fs: watched, retries: 60 })))
      yield* Deferred.await(tried)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      assert.isBelow(tries, 30)
      assert.deepStrictEqual(yield* fs.readDirectory(work), ["list.lock"])
      assert.strictEqual(yield* read(lock.path), "another")
    }).pipe(Effect.provide(platform))
  )

  it.effect("goes with an interruption while it is held", () =>
    Effect.gen(function* () {
      const { fs, lock, work } = yield* setUp
      const held = yield* Deferred.make<void>()
      const use = Effect.andThen(Deferred.succeed(held, undefined), Effect.never)
      const fiber = yield* Effect.forkChild(use.pipe(withFileLock(lock)))
      yield* Deferred.await(held)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* fs.readDirectory(work), [])
    }).pipe(Effect.provide(platform))
  )

  it.live("is not given back by one that was taken for dead: it belongs to somebody else by then", () =>
    Effect.gen(function* () {
      const { fs, lock } = yield* setUp
      const late = Effect.gen(function* () {
        yield* age(lock.path)
        yield* Effect.gen(function* () {
          const holder = yield* read(lock.path)
          yield* Deferred.succeed(held, holder)
          yield* Deferred.await(over)
        }).pipe(withFileLock(lock), Effect.forkChild)
        yield* Deferred.await(held)
      })
      const held = yield* Deferred.make<string>()
      const over = yield* Deferred.make<void>()
      yield* late.pipe(withFileLock(lock))
      assert.strictEqual(yield* read(lock.path), yield* Deferred.await(held))
      yield* Deferred.succeed(over, undefined)
      while (yield* fs.exists(lock.path)) yield* Effect.sleep("5 millis")
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.live("that was abandoned is removed once, also when several find it at the same moment", () =>
    Effect.gen(function* () {
      const { fs, lock, work } = yield* setUp
      yield* write(lock.path, "dead")
      yield* age(lock.path)
      let inside = 0
      let most = 0
      /** What one of them saw is old by the time at which it acts on it, and of each by another time. */
      const slow = (index: number): FileSystem.FileSystem => ({
        ...fs,
        stat: (path) => Effect.tap(fs.stat(path), () => Effect.sleep(index * 15))
      })
      const enter = Effect.gen(function* () {
        most = Math.max(most, ++inside)
        yield* Effect.sleep("60 millis")
        inside -= 1
      })
      yield* Effect.forEach([0, 1, 2, 3], (index) => enter.pipe(withFileLock({ ...lock, fs: slow(index) })), {
        concurrency: "unbounded",
        discard: true
      })
      assert.strictEqual(most, 1)
      assert.deepStrictEqual(yield* fs.readDirectory(work), [])
    }).pipe(Effect.provide(platform))
  )
})

describe("a file of the agent's own", () => {
  it.effect("is not changed by what lies where its new version was to be", () =>
    Effect.gen(function* () {
      const { fs, work } = yield* setUp
      yield* write(`${work}/precious`, "mine")
      yield* fs.symlink(`${work}/precious`, `${work}/list.new`)
      const file = yield* numbers(work)
      yield* file.change((list) => [undefined, [...list, 1]])
      assert.deepStrictEqual(yield* file.read, [1])
      assert.strictEqual(yield* read(`${work}/precious`), "mine")
      assert.strictEqual((yield* fs.stat(`${work}/list`)).mode & 0o777, 0o600)
      assert.deepStrictEqual((yield* fs.readDirectory(work)).toSorted(), ["list", "list.new", "precious"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("stays as it was, with nothing beside it, when a change turns out to be none or cannot be kept", () =>
    Effect.gen(function* () {
      const { fs, work } = yield* setUp
      const file = yield* numbers(work)
      yield* file.change(() => [undefined, [1]])
      assert.strictEqual(yield* Effect.flip(file.attempt<void, string>(() => Effect.fail("no"))), "no")
      const full = yield* numbers(work, { rename: () => fs.readFileString(`${work}/absent`).pipe(Effect.asVoid) })
      assert.strictEqual((yield* Effect.flip(full.change(() => [undefined, [2]]))).reason, "unavailable")
      assert.deepStrictEqual(yield* file.read, [1])
      assert.deepStrictEqual(yield* fs.readDirectory(work), ["list"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("that could not be written back as it is stays so, whatever it is", () =>
    Effect.gen(function* () {
      const { fs, work } = yield* setUp
      const file = yield* numbers(work)
      const refuses = Effect.map(Effect.flip(file.change(() => [undefined, [1]])), ({ reason }) => reason)
      const foreign = Uint8Array.of(0x5b, 0x5d, 0xe9)
      yield* fs.writeFile(`${work}/list`, foreign)
      assert.strictEqual(yield* refuses, "damaged")
      assert.deepStrictEqual(new Uint8Array(yield* fs.readFile(`${work}/list`)), foreign)
      yield* fs.remove(`${work}/list`)
      yield* fs.makeDirectory(`${work}/list`)
      assert.strictEqual(yield* refuses, "damaged")
      yield* fs.remove(`${work}/list`, { recursive: true })
      yield* write(`${work}/list`, "\uFEFF[2]")
      assert.deepStrictEqual(yield* file.read, [2])
      assert.deepStrictEqual(yield* fs.readDirectory(work), ["list"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("is not made larger than it may be read", () =>
    Effect.gen(function* () {
      const { work } = yield* setUp
      const file = makeOwnText({
        fs: yield* FileSystem.FileSystem,
        paths: yield* Path.Path,
        path: `${work}/list`,
        largest: 4,
        damaged: () => new OwnFileFailed({ reason: "damaged", message: "damaged" })
      })
      const becomes = (text: string) => file.attempt(() => Effect.succeed([undefined, text] as const))
      yield* becomes("1234")
      const { message } = yield* Effect.flip(becomes("123é"))
      assert.match(message, /list was left as it is: it would have more than 4 bytes/)
      assert.strictEqual(yield* file.read, "1234")
    }).pipe(Effect.provide(platform))
  )

  it.live.prop(
    "loses no change, whoever makes it and whoever is interrupted",
    [
      Arbitrary.array(Arbitrary.schema(Schema.Struct({ by: Schema.Literals([0, 1, 2]), isCut: Schema.Boolean })), {
        maxLength: 12
      })
    ],
    ([changes]) =>
      Effect.gen(function* () {
        const { fs, work } = yield* setUp
        const processes = yield* Effect.forEach([0, 1, 2], () => numbers(work))
        const exits = yield* Effect.forEach(
          changes,
          Effect.fnUntraced(function* ({ by, isCut }, index) {
            const fiber = yield* Effect.forkChild(
              processes[by]?.change((list) => [undefined, [...list, index]]) ?? Effect.void
            )
            if (isCut) yield* Effect.andThen(Effect.yieldNow, Fiber.interrupt(fiber))
            return yield* Fiber.await(fiber)
          }),
          { concurrency: "unbounded" }
        )
        const list = yield* (yield* numbers(work)).read
        const kept = [...exits.entries()].filter(([, exit]) => Exit.isSuccess(exit)).map(([index]) => index)
        assert.isTrue(kept.every((index) => list.includes(index)))
        assert.strictEqual(new Set(list).size, list.length)
        assert.deepStrictEqual(yield* fs.readDirectory(work), changes.length === 0 || list.length === 0 ? [] : ["list"])
      }).pipe(Effect.scoped, Effect.provide(platform)),
    { arbitrary: { runs: 15 } }
  )
})
