import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Spill from "../../../../src/services/mcp/tool/Spill.ts"

const MEGABYTE = 1024 * 1024

/** A folder of a session, and what each connection of it keeps with. */
const session = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(yield* fs.makeTempDirectoryScoped(), "mcp")
  return { folder, fs, path, connect: () => Spill.make(fs, path, folder) }
})

describe("results that are kept", () => {
  it.live("have the room of one session together, however often its servers are connected", () =>
    Effect.gen(function* () {
      const { connect, folder, fs, path } = yield* session
      yield* fs.makeDirectory(folder, { recursive: true })
      const early = path.join(folder, "early.bin")
      yield* fs.writeFile(early, new Uint8Array())
      yield* fs.truncate(early, 255 * MEGABYTE)
      const first = yield* connect().of("a")("bin", new Uint8Array(MEGABYTE))
      assert.deepStrictEqual(first, Result.succeed(path.join(folder, "a-1.bin")))
      for (const spill of [connect(), connect()]) {
        assert.deepStrictEqual(
          yield* spill.of("b")("txt", "x"),
          Result.fail(
            `this session keeps at most 256 MB of results, and that is full; the user can delete some of them in ${folder}`
          )
        )
      }
      assert.deepStrictEqual((yield* fs.readDirectory(folder)).toSorted(), ["a-1.bin", "early.bin"])
      yield* fs.remove(early)
      assert.isTrue(Result.isSuccess(yield* connect().of("b")("txt", "x")), "there is room again")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("count as what they take on a disk, and several at once have names of their own", () =>
    Effect.gen(function* () {
      const { connect, folder, fs } = yield* session
      const keep = connect().of("../call 1")
      const kept = yield* Effect.forEach(["a", "b", "c"], (text) => keep("txt", text), { concurrency: "unbounded" })
      assert.isTrue(kept.every(Result.isSuccess))
      assert.deepStrictEqual((yield* fs.readDirectory(folder)).toSorted(), [
        "___call_1-1.txt",
        "___call_1-2.txt",
        "___call_1-3.txt"
      ])
      assert.strictEqual((yield* fs.stat(folder)).mode & 0o777, 0o700)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
