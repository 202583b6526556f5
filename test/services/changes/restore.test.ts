/** An undo on a disk that fails it midway, and fails its way back as well: no text is lost, and what is left is named. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { type PlatformError, systemError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describeUndo } from "../../../src/domain/session/Undo.ts"
import * as ChangesLive from "../../../src/services/changes/ChangesLive.ts"
import { changesLayer, type ChangingSession, inFolder, treeOf } from "../../support/changes.ts"
import { platform } from "../../support/toolbox.ts"

type Act = "rename" | "link" | "copyFile" | "makeDirectory" | "chmod"

/** A disk that refuses what it is told to refuse. */
const refusing = (refuses: (act: Act, paths: ReadonlyArray<string>) => boolean) =>
  Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) => {
      const guarded =
        <Args extends readonly [string, ...ReadonlyArray<unknown>], A>(
          method: Act,
          call: (...args: Args) => Effect.Effect<A, PlatformError>
        ) =>
        (...args: Args) =>
          Effect.suspend(() =>
            refuses(
              method,
              args.filter((arg) => typeof arg === "string")
            )
              ? Effect.fail(
                  systemError({
                    _tag: "Unknown",
                    module: "FileSystem",
                    method,
                    pathOrDescriptor: args[0],
                    description: "the disk is gone"
                  })
                )
              : call(...args)
          )
      return FileSystem.make({
        ...fs,
        rename: guarded("rename", fs.rename),
        link: guarded("link", fs.link),
        copyFile: guarded("copyFile", fs.copyFile),
        makeDirectory: guarded("makeDirectory", fs.makeDirectory),
        chmod: guarded("chmod", fs.chmod)
      })
    })
  ).pipe(Layer.provideMerge(platform))

const undoOn = (session: ChangingSession, disk: ReturnType<typeof refusing>) =>
  Effect.provide(session.undo, Layer.provideMerge(ChangesLive.layer(process.env), disk))

/** A turn that makes, changes and removes files. */
const prepared = Effect.gen(function* () {
  const session = yield* Effect.provide(inFolder, platform)
  const { folder } = session
  writeFileSync(join(folder, "changed"), "changed before")
  writeFileSync(join(folder, "gone"), "gone before")
  writeFileSync(join(folder, "kind"), "kind before")
  yield* Effect.provide(
    session.turn(
      session.tool(
        ["changed", "gone", "kind", "made/new", "new"],
        Effect.sync(() => {
          mkdirSync(join(folder, "made"))
          writeFileSync(join(folder, "made/new"), "made/new after")
          writeFileSync(join(folder, "new"), "new after")
          writeFileSync(join(folder, "changed"), "changed after")
          rmSync(join(folder, "gone"))
          rmSync(join(folder, "kind"))
          writeFileSync(join(folder, "kind"), "kind after", { mode: 0o755 })
        })
      )
    ),
    changesLayer()
  )
  return session
})

const litterIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.includes(".super-pi-undo-"))
    .map((name) => join(folder, name))

describe("an undo that fails on its way there and back", () => {
  it.effect("keeps the copy of what could not be put back, names it, and leaves nothing else", () =>
    Effect.gen(function* () {
      const session = yield* prepared
      const { folder } = session
      const before = treeOf(folder)
      const result = yield* undoOn(
        session,
        refusing((act, [, to = ""]) => act === "rename" && /\/work\/(changed|new)$/.test(to))
      )
      const reasons = result._tag === "Refused" ? result.reasons : assert.fail(result._tag)
      // Where the file itself still is what it was, the copy is none that anybody needs.
      assert.deepStrictEqual(
        reasons.map(({ path }) => path),
        [join(folder, "changed"), join(folder, "new")]
      )
      const told = reasons.find(({ path }) => path === join(folder, "new"))?.reason ?? assert.fail("new is not named")
      const copy =
        /could not be put back \(.*\) and is kept in (\S+): move it to its place by hand/.exec(told)?.[1] ?? ""
      assert.strictEqual(readFileSync(copy, "utf8"), "new after")
      assert.deepStrictEqual(litterIn(folder), [copy])
      assert.match(
        describeUndo(result, folder),
        /^The undo failed on its way, and not all of it could be taken back:\n/
      )

      // The next undo goes through, and what was kept is nobody's litter.
      const again = yield* Effect.provide(session.undo, changesLayer())
      assert.strictEqual(again._tag, "Undone", JSON.stringify(again))
      assert.strictEqual(readFileSync(copy, "utf8"), "new after")
      assert.notDeepEqual(treeOf(folder), before)
      assert.strictEqual(readFileSync(join(folder, "changed"), "utf8"), "changed before")
    }).pipe(Effect.scoped)
  )

  it.effect("does not take the copy that another undo kept for a leftover", () =>
    Effect.gen(function* () {
      const session = yield* prepared
      const { folder } = session
      const refused = refusing((act, [, to = ""]) => act === "rename" && /\/work\/(changed|new)$/.test(to))
      yield* undoOn(session, refused)
      const kept = litterIn(folder).find((path) => readFileSync(path, "utf8") === "new after")
      const copy = kept ?? assert.fail("no copy was kept")
      writeFileSync(copy, "precious")
      writeFileSync(join(folder, "new"), "new after")
      assert.strictEqual((yield* Effect.provide(session.undo, changesLayer()))._tag, "Undone")
      assert.deepStrictEqual(
        litterIn(folder).map((path) => readFileSync(path, "utf8")),
        ["precious"]
      )
    }).pipe(Effect.scoped)
  )

  const Refusal = Schema.Struct({
    from: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 })),
    acts: Schema.Array(Schema.Literals(["rename", "link", "copyFile", "makeDirectory", "chmod"])).check(
      Schema.isMinLength(1)
    ),
    length: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))
  })

  it.effect.prop(
    "loses nothing: whatever a file held is there, or in a copy that is named, and nothing else is beside it",
    [Arbitrary.schema(Refusal)],
    ([{ acts, from, length }]) =>
      Effect.gen(function* () {
        const session = yield* prepared
        const { folder } = session
        const before = treeOf(folder)
        let count = 0
        const result = yield* undoOn(
          session,
          refusing((act, paths) => {
            if (paths.some((path) => path.includes("/scratch/"))) return false
            const at = count++
            return acts.includes(act) && at >= from && at < from + length
          })
        )
        if (result._tag === "Undone") {
          assert.deepStrictEqual(readdirSync(folder).toSorted(), ["changed", "gone", "kind"])
          return
        }
        if (result._tag === "Nothing") return assert.fail("nothing to undo")
        const { reasons } = result
        const litter = litterIn(folder)
        for (const path of litter)
          assert.isTrue(
            reasons.some(({ reason }) => reason.includes(path)),
            path
          )
        for (const name of ["changed", "kind", "made/new", "new"]) {
          const held = [join(folder, name), ...litter].some((path) => {
            const stat = lstatSync(path, { throwIfNoEntry: false })
            return stat?.isFile() === true && readFileSync(path, "utf8") === `${name} after`
          })
          assert.isTrue(held, name)
        }
        if (reasons.length === 1) assert.deepStrictEqual(treeOf(folder), before)
        assert.strictEqual(result.isHalf === true, reasons.length > 1)
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 60 }, timeout: 60_000 }
  )
})
