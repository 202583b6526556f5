import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as PlatformError from "effect/PlatformError"
import { makeFileWriter } from "../../../src/services/files/FileWriter.ts"
import { makeFolder, platform, read, write } from "../../support/toolbox.ts"

const bytes = new TextEncoder().encode("new")

const fails = (tag: "Busy" | "PermissionDenied" | "Unknown") =>
  Effect.fail(
    PlatformError.systemError({ _tag: tag, module: "FileSystem", method: "rename", description: "on purpose" })
  )

/** A disk on which some things do not work. */
const setUp = Effect.fnUntraced(function* (broken: (fs: FileSystem.FileSystem) => Partial<FileSystem.FileSystem>) {
  const { work } = yield* makeFolder
  const fs = yield* FileSystem.FileSystem
  const writer = makeFileWriter({ ...fs, ...broken(fs) }, yield* Path.Path)
  yield* write(`${work}/a.txt`, "old")
  return { fs, writer, work, path: `${work}/a.txt` }
})

describe("a file whose folder takes no new one", () => {
  it.effect("is written in place, and nothing is left beside it", () =>
    Effect.gen(function* () {
      const { fs, path, work, writer } = yield* setUp(() => ({ rename: () => fails("Busy") }))
      const before = yield* fs.stat(path)
      yield* writer.apply([{ path, bytes }])
      assert.strictEqual(yield* read(path), "new")
      assert.deepStrictEqual((yield* fs.stat(path)).ino, before.ino)
      assert.deepStrictEqual(yield* fs.readDirectory(work), ["a.txt"])
      // A new file has no place to be written in.
      assert.strictEqual((yield* Effect.flip(writer.apply([{ path: `${work}/d/b.txt`, bytes }]))).reason, "io")
      assert.deepStrictEqual(yield* fs.readDirectory(work), ["a.txt"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("gets its old text back when that fails", () =>
    Effect.gen(function* () {
      let isFirst = true
      const { path, writer } = yield* setUp((fs) => ({
        rename: () => fails("PermissionDenied"),
        writeFile: (...args) => {
          const half = isFirst
            ? Effect.andThen(fs.writeFile(args[0], args[1].subarray(0, 1)), fails("Unknown"))
            : undefined
          isFirst = false
          return half ?? fs.writeFile(...args)
        }
      }))
      yield* Effect.flip(writer.apply([{ path, bytes }]))
      assert.strictEqual(yield* read(path), "old")
    }).pipe(Effect.provide(platform))
  )

  it.effect("is told to be half of either when its old text cannot be put back", () =>
    Effect.gen(function* () {
      const { path, writer } = yield* setUp((fs) => ({
        rename: () => fails("PermissionDenied"),
        writeFile: (file, data, ...rest) =>
          file.endsWith("a.txt")
            ? Effect.andThen(fs.writeFile(file, data.subarray(0, 1), ...rest), fails("Unknown"))
            : fs.writeFile(file, data, ...rest)
      }))
      const { message, reason } = yield* Effect.flip(writer.apply([{ path, bytes }]))
      assert.strictEqual(reason, "io")
      assert.include(message, `${path} could not be written (`)
      assert.match(message, /nor could its text be put back \(.*\): it may hold only a part of either/)
    }).pipe(Effect.provide(platform))
  )

  it.effect("is refused when it has other names", () =>
    Effect.gen(function* () {
      const { fs, path, work, writer } = yield* setUp(() => ({ rename: () => fails("Busy") }))
      yield* fs.link(path, `${work}/other.txt`)
      assert.include((yield* Effect.flip(writer.apply([{ path, bytes }]))).message, "has other names (hard links)")
      assert.strictEqual(yield* read(`${work}/other.txt`), "old")
    }).pipe(Effect.provide(platform))
  )
})

describe("several files", () => {
  it.effect("are all as they were when any step fails or is interrupted, whichever it is", () =>
    Effect.gen(function* () {
      for (let failing = 1; failing <= 3; failing++) {
        let count = 0
        const { fs, work, writer } = yield* setUp((fs) => ({
          rename: (from, to) => {
            count += 1
            return count === failing ? fails("Unknown") : fs.rename(from, to)
          }
        }))
        yield* fs.chmod(`${work}/a.txt`, 0o640)
        yield* write(`${work}/b.txt`, "b")
        yield* Effect.flip(
          writer.apply([
            { path: `${work}/a.txt`, bytes },
            { path: `${work}/b.txt`, bytes: null },
            { path: `${work}/x/y/c.txt`, bytes },
            { path: `${work}/d.txt`, bytes }
          ])
        )
        assert.deepStrictEqual((yield* fs.readDirectory(work)).toSorted(), ["a.txt", "b.txt"], String(failing))
        assert.strictEqual(yield* read(`${work}/a.txt`), "old")
        assert.strictEqual(yield* read(`${work}/b.txt`), "b")
        assert.strictEqual((yield* fs.stat(`${work}/a.txt`)).mode & 0o777, 0o640)
      }
    }).pipe(Effect.provide(platform))
  )

  it.effect("are named when they cannot become again what they were", () =>
    Effect.gen(function* () {
      let count = 0
      const { path, work, writer } = yield* setUp((fs) => ({
        rename: (from, to) => (++count > 1 ? fails("Unknown") : fs.rename(from, to))
      }))
      const failed = yield* Effect.flip(
        writer.apply([
          { path, bytes },
          { path: `${work}/x/c.txt`, bytes }
        ])
      )
      assert.strictEqual(failed.path, `${work}/x/c.txt`)
      assert.match(failed.message, /Not all could become again what it was; look at .*\/a\.txt \(/)
      assert.notInclude(failed.message.split("look at")[1], "c.txt")
    }).pipe(Effect.provide(platform))
  )

  it.effect("change places with folders of their names", () =>
    Effect.gen(function* () {
      const { path, work, writer } = yield* setUp(() => ({}))
      yield* writer.apply([
        { path: `${path}/deep.txt`, bytes },
        { path, bytes: null },
        { path: `${work}/run`, bytes, executable: true }
      ])
      assert.strictEqual(yield* read(`${path}/deep.txt`), "new")
    }).pipe(Effect.provide(platform))
  )
})
