import { assert, describe, it } from "@effect/vitest"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { foldersOf, makeInnermost } from "../../../src/services/changes/Folders.ts"

const file = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Literals(["a", "b", "a!"])), { minLength: 1, maxLength: 6 }),
  (names) => `/root/${names.join("/")}/f`
)
const files = Arbitrary.array(file, { maxLength: 12 })

/** The folders on the way from a file to the root, without it, the innermost first. */
const above = (path: string): ReadonlyArray<string> =>
  path
    .split("/")
    .slice(2, -1)
    .map((_, index, names) => ["/root", ...names.slice(0, names.length - index)].join("/"))

describe("folders of files", () => {
  it.effect.prop("are all on the way to the root, and the root", [files], ([all]) =>
    Effect.gen(function* () {
      const paths = yield* Path.Path
      assert.deepStrictEqual(
        [...foldersOf(paths, "/root", all)].toSorted(),
        [...new Set(["/root", ...all.flatMap(above)])].toSorted()
      )
    }).pipe(Effect.provide(NodePath.layer))
  )

  it.effect.prop(
    "of which something holds are found from the inside, whatever was asked before",
    [files, files],
    ([all, some]) =>
      Effect.gen(function* () {
        const paths = yield* Path.Path
        const marked = new Set(some.map((path) => paths.dirname(path)))
        const find = makeInnermost(paths, "/root", (folder) => marked.has(folder))
        for (const path of [...all, ...all])
          assert.strictEqual(
            find(path),
            above(path).find((at) => marked.has(at))
          )
      }).pipe(Effect.provide(NodePath.layer))
  )
})
