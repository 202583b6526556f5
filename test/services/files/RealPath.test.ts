import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Schema from "effect/Schema"
import { makeRealPaths } from "../../../src/services/files/RealPath.ts"
import { makeFolder, platform, write } from "../../support/toolbox.ts"

const make = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const { base, work } = yield* makeFolder
  return { fs, base, work, realPaths: makeRealPaths(fs, yield* Path.Path) }
})

/** `realpath` of the system, which finds every path, also of what is not there. */
const asked = Effect.fnUntraced(function* (paths: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner
  return yield* spawner.lines(ChildProcess.make("realpath", ["--canonicalize-missing", "--", ...paths]))
})

const name = Arbitrary.schema(Schema.Literals(["a", "b", "c", "d", "..", ".", "new"]))
const names = Arbitrary.array(name, { minLength: 1, maxLength: 5 })
/** Where `c` and `d` of the two folders lead. */
const targets = Arbitrary.array(names, { minLength: 4, maxLength: 4 })

describe("RealPath", () => {
  it.live("leaves the folder that a link led to, also inside the target of another link", () =>
    Effect.gen(function* () {
      const { base, fs, realPaths, work } = yield* make
      yield* fs.makeDirectory(`${base}/outside/deep`, { recursive: true })
      yield* write(`${base}/outside/secret`, "s")
      yield* write(`${work}/secret`, "decoy")
      yield* fs.symlink(`${base}/outside/deep`, `${work}/d`)
      yield* fs.symlink("d/../secret", `${work}/x`)
      assert.strictEqual(yield* realPaths.resolve(`${work}/d/../secret`), `${base}/outside/secret`)
      assert.strictEqual(yield* realPaths.resolve(`${work}/x`), `${base}/outside/secret`)
      assert.strictEqual(yield* realPaths.resolve(`${work}/d/new/../../secret`), `${base}/outside/secret`)
      assert.strictEqual(yield* realPaths.resolve("/"), "/")
      assert.strictEqual(yield* realPaths.resolve("/../.."), "/")
    }).pipe(Effect.provide(platform))
  )

  it.live("gives up on links that lead to themselves", () =>
    Effect.gen(function* () {
      const { fs, realPaths, work } = yield* make
      yield* fs.symlink("b", `${work}/a`)
      yield* fs.symlink("a", `${work}/b`)
      yield* fs.symlink("loop/loop", `${work}/loop`)
      assert.match(yield* realPaths.resolve(`${work}/a/x`), /\/[ab]\/x$/)
      assert.include(yield* realPaths.resolve(`${work}/loop`), work)
    }).pipe(Effect.provide(platform))
  )

  it.effect.prop(
    "finds what the system finds, one by one and all together",
    [targets, Arbitrary.array(names, { minLength: 1, maxLength: 8 })],
    ([targets, paths]) =>
      Effect.gen(function* () {
        const { fs, realPaths, work } = yield* make
        // No link leads through another one, so that none leads to itself.
        yield* fs.makeDirectory(`${work}/a/b`, { recursive: true })
        yield* fs.makeDirectory(`${work}/b/a`, { recursive: true })
        const links = ["a/c", "a/d", "b/c", "b/d"]
        for (const [at, link] of links.entries()) {
          const target = (targets[at] ?? []).map((part) => (part === "c" || part === "d" ? "b" : part)).join("/")
          yield* fs.symlink(at % 2 === 0 ? target : `${work}/${target}`, `${work}/${link}`)
        }
        const written = paths.map((parts) => `${work}/${parts.join("/")}`)
        const expected = yield* asked(written)
        assert.deepStrictEqual(yield* Effect.forEach(written, realPaths.resolve), expected)
        const found = yield* realPaths.resolveAll(written)
        assert.deepStrictEqual(
          written.map((path) => found.get(path)),
          expected
        )
      }).pipe(Effect.scoped, Effect.provide(platform)),
    { arbitrary: { runs: 60 } }
  )
})
