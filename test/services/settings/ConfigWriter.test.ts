import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { changeConfig } from "../../../src/services/settings/ConfigWriter.ts"
import { makeFolder, platform, read, write } from "../../support/toolbox.ts"

const setUp = Effect.gen(function* () {
  const { work } = yield* makeFolder
  return { fs: yield* FileSystem.FileSystem, home: work, path: `${work}/config.toml` }
})

const becomes = (text: string) => () => Result.succeed(text)

describe("ConfigWriter", () => {
  it.effect("leaves alone what lies where its new version was to be", () =>
    Effect.gen(function* () {
      const { fs, home, path } = yield* setUp
      yield* write(`${home}/precious`, "mine")
      yield* fs.symlink(`${home}/precious`, `${path}.new`)
      yield* changeConfig(home, becomes("new\n"))
      assert.strictEqual(yield* read(path), "new\n")
      assert.strictEqual((yield* fs.stat(path)).mode & 0o777, 0o600)
      assert.deepStrictEqual((yield* fs.readDirectory(home)).toSorted(), ["config.toml", "config.toml.new", "precious"])
      assert.strictEqual(yield* read(`${home}/precious`), "mine")
    }).pipe(Effect.provide(platform))
  )

  it.effect("does not write a text that stays the same", () =>
    Effect.gen(function* () {
      const { fs, home, path } = yield* setUp
      yield* write(path, "same\n")
      const { ino } = yield* fs.stat(path)
      yield* changeConfig(home, Result.succeed)
      assert.deepStrictEqual((yield* fs.stat(path)).ino, ino)
      assert.isTrue(Option.isSome(ino))
    }).pipe(Effect.provide(platform))
  )

  it.effect("says with its path why a change cannot be made, and leaves the file", () =>
    Effect.gen(function* () {
      const { fs, home, path } = yield* setUp
      yield* write(path, "old\n")
      const refused = yield* Effect.flip(changeConfig(home, () => Result.fail("is not what it was to be")))
      assert.strictEqual(refused.message, `${path} is not what it was to be`)
      yield* fs.remove(path)
      yield* fs.makeDirectory(path)
      const misplaced = yield* Effect.flip(changeConfig(home, becomes("new\n")))
      assert.strictEqual(misplaced.message, `${path} is a Directory; make it a plain file`)
      assert.deepStrictEqual(yield* fs.readDirectory(home), ["config.toml"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("follows a link to what is not there yet, and keeps the mark at the beginning of a file", () =>
    Effect.gen(function* () {
      const { fs, home, path } = yield* setUp
      yield* fs.symlink("real.toml", path)
      yield* changeConfig(home, becomes("first\n"))
      assert.strictEqual(yield* fs.readLink(path), "real.toml")
      yield* write(path, "\uFEFFfirst\r\n")
      yield* changeConfig(home, (text) => Result.succeed(`${text}second\r\n`))
      assert.deepStrictEqual(
        new Uint8Array(yield* fs.readFile(`${home}/real.toml`)),
        new TextEncoder().encode("\uFEFFfirst\r\nsecond\r\n")
      )
    }).pipe(Effect.provide(platform))
  )

  it.effect("refuses what could not be read back", () =>
    Effect.gen(function* () {
      const { fs, home, path } = yield* setUp
      const foreign = Uint8Array.of(0x23, 0xe9, 0x0a)
      yield* fs.writeFile(path, foreign)
      const unknown = yield* Effect.flip(changeConfig(home, becomes("new\n")))
      assert.strictEqual(unknown.message, `${path} is not UTF-8, as TOML has to be; save it as that first`)
      assert.deepStrictEqual(new Uint8Array(yield* fs.readFile(path)), foreign)
      yield* fs.remove(path)
      const large = yield* Effect.flip(changeConfig(home, becomes("#".repeat(1024 * 1024 + 1))))
      assert.match(large.message, /would have 1048577 bytes, more than 1048576; shorten it first$/)
      assert.deepStrictEqual(yield* fs.readDirectory(home), [])
    }).pipe(Effect.provide(platform))
  )
})
