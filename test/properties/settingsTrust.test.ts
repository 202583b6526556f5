/** Trust is in exactly what was shown: nothing that differs from it counts, whatever was trusted before. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { isAsTrusted, makeTrustDecisions, withGone } from "../../src/services/project/TrustDecisions.ts"
import type { TrustContent } from "../../src/services/Projects.ts"

const Marks = Schema.Array(Schema.Literals(["a", "b", "c"])).check(Schema.isMaxLength(3))
const said = Arbitrary.schema(Schema.Struct({ own: Marks, servers: Marks, deep: Marks }))

/** What the files of the root and of one folder say; a file without marks is one that is not there. */
const content = Arbitrary.map(said, ({ deep, own, servers }): TrustContent => {
  const files = { ".supercharge/config.toml": own, ".mcp.json": servers, "deep/.supercharge/hooks/x.json": deep }
  return Object.fromEntries(Object.entries(files).filter(([, found]) => found.length > 0))
})

const folders = new Set(["", "deep"])
const above = new Set([""])

const isInRoot = (file: string) => !file.startsWith("deep/")
const rootOf = (said: TrustContent): TrustContent =>
  Object.fromEntries(Object.entries(said).filter(([file]) => isInRoot(file)))

const same = (one: TrustContent, other: TrustContent) =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].every(
    (file) => JSON.stringify(one[file] ?? []) === JSON.stringify(other[file] ?? [])
  )

const decisions = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const home = yield* fs.makeTempDirectoryScoped()
  return makeTrustDecisions(fs, yield* Path.Path, home)
})

describe("trust", () => {
  it.effect.prop(
    "holds for what was shown last, in the folder and above it, and for nothing else",
    [content, content, content],
    ([first, second, now]) =>
      Effect.gen(function* () {
        const { decision, keep, of } = yield* decisions
        const before = yield* of("/p")
        assert.isTrue(Option.isNone(before))
        yield* keep(yield* decision("/p", true, first))
        yield* keep(yield* decision("/p", true, withGone(first, second, folders)))
        const kept = Option.getOrThrow(yield* of("/p")).content
        assert.strictEqual(isAsTrusted(kept, withGone(kept, now, folders)), same(second, now))
        assert.strictEqual(
          isAsTrusted(kept, withGone(kept, rootOf(now), above)),
          same(rootOf(second), rootOf(now)),
          "from the root the folder does not count"
        )
      }).pipe(Effect.scoped, Effect.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))),
    { arbitrary: { runs: 60 } }
  )

  it.effect.prop(
    "that was given and taken back covers nothing",
    [content, content],
    ([first, now]) =>
      Effect.gen(function* () {
        const { decision, forget, keep, list, of } = yield* decisions
        yield* keep(yield* decision("/p", true, first))
        yield* keep(yield* decision("/p", false, now))
        assert.deepInclude(Option.getOrThrow(yield* of("/p")), { trusted: false, content: {} })
        yield* keep(yield* decision("/p", true, now))
        const { content: kept } = Option.getOrThrow(yield* of("/p"))
        assert.isTrue(same(kept, now), "what was trusted before a no is not trusted after it")
        yield* forget("/p")
        assert.deepStrictEqual(yield* list, [])
      }).pipe(Effect.scoped, Effect.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))),
    { arbitrary: { runs: 30 } }
  )
})
