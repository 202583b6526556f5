import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { join } from "node:path"
import { TokenStore } from "../../../src/services/auth/TokenStore.ts"
import { Settings } from "../../../src/services/Settings.ts"
import { settingsHome } from "../../support/SettingsHome.ts"

const layer = () => TokenStore.layer.pipe(Layer.provideMerge(settingsHome()))

const setup = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const store = yield* TokenStore
  const { home } = yield* Settings
  return { fs, store, home, file: join(home, "tokens.json") }
})

/** A second process on the same home: nothing in memory is shared. */
const another = Effect.gen(function* () {
  const services = yield* Effect.context<Settings | FileSystem.FileSystem>()
  return yield* Effect.flatMap(TokenStore, Effect.succeed).pipe(
    Effect.provide(Layer.fresh(TokenStore.layer)),
    Effect.provide(services)
  )
})

const mode = (fs: FileSystem.FileSystem, path: string) => Effect.map(fs.stat(path), (info) => info.mode & 0o777)

describe("TokenStore", () => {
  it.effect("makes a token that is shown once and kept as a hash, for its owner only", () =>
    Effect.gen(function* () {
      const { file, fs, home, store } = yield* setup
      yield* TestClock.setTime(Date.UTC(2030, 0, 2))
      const { token, ...info } = yield* store.create("laptop")
      assert.match(Redacted.value(token), /^spi_[A-Za-z0-9_-]{43}$/)
      assert.notInclude(JSON.stringify({ token, info }), Redacted.value(token))
      assert.deepStrictEqual([info.name, info.createdAt], ["laptop", "2030-01-02T00:00:00.000Z"])
      assert.deepStrictEqual(yield* store.list, [info])

      const text = yield* fs.readFileString(file)
      assert.notInclude(text, Redacted.value(token))
      assert.include(text, createHash("sha256").update(Redacted.value(token)).digest("hex"))
      assert.strictEqual(yield* mode(fs, file), 0o600)
      assert.strictEqual(yield* mode(fs, home), 0o700)
      assert.deepStrictEqual(yield* fs.readDirectory(home), ["tokens.json"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("knows its tokens and no other", () =>
    Effect.gen(function* () {
      const { file, fs, store } = yield* setup
      const unknown = Redacted.make(`spi_${"A".repeat(43)}`)
      assert.isFalse(yield* store.verify(unknown))
      assert.deepStrictEqual(yield* store.list, [])
      assert.isFalse(yield* fs.exists(file), "looking makes no file")
      const one = yield* store.create("one")
      const two = yield* store.create("two")
      assert.isTrue(yield* store.verify(one.token))
      assert.isTrue(yield* store.verify(two.token))
      assert.isTrue(yield* (yield* another).verify(one.token))
      for (const wrong of ["", "spi_", `${Redacted.value(one.token)} `, Redacted.value(one.token).slice(4)]) {
        assert.isFalse(yield* store.verify(Redacted.make(wrong)))
      }
      assert.isFalse(yield* store.verify(unknown))
    }).pipe(Effect.provide(layer()))
  )

  it.effect("revokes one token, here and in other processes", () =>
    Effect.gen(function* () {
      const { fs, home, store } = yield* setup
      const unknown = yield* Effect.flip(store.revoke("00"))
      assert.deepStrictEqual([unknown._tag, "field" in unknown && unknown.field], ["InvalidInput", "id"])
      assert.isFalse(yield* fs.exists(home))
      const one = yield* store.create("same")
      const two = yield* store.create("same")
      const elsewhere = yield* another
      yield* store.revoke(one.id)
      assert.isFalse(yield* elsewhere.verify(one.token))
      assert.isTrue(yield* elsewhere.verify(two.token))
      assert.deepStrictEqual(
        (yield* store.list).map(({ id }) => id),
        [two.id]
      )
      assert.strictEqual((yield* Effect.flip(store.revoke(one.id)))._tag, "InvalidInput")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("notes the last use, at most once a minute", () =>
    Effect.gen(function* () {
      const { fs, file, store } = yield* setup
      const { token } = yield* store.create("laptop")
      const lastUse = Effect.map(store.list, ([info]) => info?.lastUsedAt)
      assert.strictEqual(yield* lastUse, undefined)
      yield* TestClock.setTime(Date.UTC(2030, 0, 1))
      yield* store.verify(token)
      assert.strictEqual(yield* lastUse, "2030-01-01T00:00:00.000Z")
      yield* TestClock.adjust("59 seconds")
      yield* store.verify(token)
      assert.strictEqual(yield* lastUse, "2030-01-01T00:00:00.000Z")
      yield* TestClock.adjust("1 second")
      yield* store.verify(token)
      assert.strictEqual(yield* lastUse, "2030-01-01T00:01:00.000Z")
      yield* TestClock.adjust("1 hour")
      yield* fs.writeFileString(`${file}.lock`, "")
      assert.isTrue(yield* store.verify(token), "a use that cannot be noted is still a use")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("loses nothing when many create at once", () =>
    Effect.gen(function* () {
      const { store } = yield* setup
      const made = yield* Effect.forEach(Array.from({ length: 20 }).keys(), (index) => store.create(`t${index}`), {
        concurrency: "unbounded"
      })
      const kept = yield* store.list
      assert.strictEqual(new Set(kept.map(({ id }) => id)).size, 20)
      assert.isTrue(made.every(({ id }) => kept.some((info) => info.id === id)))
    }).pipe(Effect.provide(layer()))
  )

  it.live("loses nothing when two processes create at once", () =>
    Effect.gen(function* () {
      const { fs, home, store } = yield* setup
      const elsewhere = yield* another
      const create = (from: TokenStore["Service"]) =>
        Effect.forEach(["a", "b", "c"], (name) => from.create(name), { concurrency: "unbounded" })
      yield* Effect.all([create(store), create(elsewhere)], { concurrency: "unbounded" })
      assert.strictEqual((yield* store.list).length, 6)
      assert.deepStrictEqual(yield* fs.readDirectory(home), ["tokens.json"])
    }).pipe(Effect.provide(layer()))
  )

  it.live("takes over the lock of a process that died", () =>
    Effect.gen(function* () {
      const { file, fs, store } = yield* setup
      yield* store.create("one")
      const lock = `${file}.lock`
      yield* fs.writeFileString(lock, "")
      const old = Date.now() / 1000 - 60
      yield* fs.utimes(lock, old, old)
      yield* store.create("two")
      assert.strictEqual((yield* store.list).length, 2)
      assert.isFalse(yield* fs.exists(lock))
    }).pipe(Effect.provide(layer()))
  )

  it.effect("gives up on a lock that stays, and leaves it", () =>
    Effect.gen(function* () {
      const { file, fs, home, store } = yield* setup
      yield* fs.makeDirectory(home)
      yield* fs.writeFileString(`${file}.lock`, "")
      const clock = Effect.forever(Effect.andThen(TestClock.adjust("25 millis"), fs.exists(file)))
      const error = yield* Effect.raceFirst(Effect.flip(store.create("one")), Effect.orDie(clock))
      assert.match(error.message, /tokens\.json is being changed by another process.*delete .*tokens\.json\.lock/)
      assert.deepStrictEqual(yield* fs.readDirectory(home), ["tokens.json.lock"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect.each([
    "",
    "{",
    "[]",
    '{"version":2,"tokens":[]}',
    '{"version":1,"tokens":[{"id":"a","name":"n","hash":"short","createdAt":"x"}]}'
  ])("leaves a damaged file as it is: %s", (text) =>
    Effect.gen(function* () {
      const { file, fs, home, store } = yield* setup
      yield* fs.makeDirectory(home)
      yield* fs.writeFileString(file, text)
      const attempts = [
        Effect.asVoid(store.create("one")),
        Effect.asVoid(store.list),
        store.revoke("a"),
        Effect.asVoid(store.verify(Redacted.make(`spi_${"A".repeat(43)}`)))
      ]
      for (const attempt of attempts) {
        const error = yield* Effect.flip(attempt)
        assert.strictEqual(error._tag, "TokenStoreFailed")
        assert.match(error.message, /tokens\.json is no list of tokens and was left as it is; restore it from a copy/)
      }
      assert.strictEqual(yield* fs.readFileString(file), text)
      assert.deepStrictEqual(yield* fs.readDirectory(home), ["tokens.json"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("says when its folder cannot be used", () =>
    Effect.gen(function* () {
      const { fs, home, store } = yield* setup
      yield* fs.writeFileString(home, "a file in the place of the folder")
      assert.match((yield* Effect.flip(store.create("one"))).message, /tokens\.json cannot be read or written/)
    }).pipe(Effect.provide(layer()))
  )

  it.effect.each(["", "   ", "two\nlines", "x".repeat(65)])("refuses the name %j", (name) =>
    Effect.gen(function* () {
      const { fs, home, store } = yield* setup
      const error = yield* Effect.flip(store.create(name))
      assert.deepStrictEqual([error._tag, "field" in error && error.field], ["InvalidInput", "name"])
      assert.isFalse(yield* fs.exists(home))
    }).pipe(Effect.provide(layer()))
  )
})
