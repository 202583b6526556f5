import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { systemError } from "effect/PlatformError"
import type * as Scope from "effect/Scope"
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { describeUndo } from "../../../src/domain/session/Undo.ts"
import { Changes } from "../../../src/services/Changes.ts"
import * as ChangesLive from "../../../src/services/changes/ChangesLive.ts"
import { type ChangingSession, changesLayer, inFolder, treeOf } from "../../support/changes.ts"
import { platform } from "../../support/toolbox.ts"

const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof changesLayer>> | Scope.Scope>) =>
  effect.pipe(Effect.provide(changesLayer()), Effect.scoped)

/** What a tool does to the disk. */
const act = (action: () => void) => Effect.sync(action)

const writing = ({ folder, tool }: ChangingSession, path: string, content: string | Uint8Array) =>
  tool(
    [path],
    act(() => {
      mkdirSync(join(folder, path, ".."), { recursive: true })
      writeFileSync(join(folder, path), content)
    })
  )

const read = ({ folder }: ChangingSession, path: string) => readFileSync(join(folder, path), "utf8")

describe("what file tools change", () => {
  it.effect("is taken back turn by turn, to the byte and the permission", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        const { folder } = session
        writeFileSync(join(folder, "utf16.txt"), Buffer.from([0xff, 0xfe, 0x41, 0, 0x0d, 0, 0x0a, 0]))
        writeFileSync(join(folder, "bytes.bin"), Buffer.from([0, 255, 128]), { mode: 0o640 })
        chmodSync(join(folder, "bytes.bin"), 0o4751)
        symlinkSync("bytes.bin", join(folder, "link"))
        const first = treeOf(folder)
        yield* session.turn(
          Effect.gen(function* () {
            yield* writing(session, "utf16.txt", "now UTF-8\n")
            yield* writing(session, "bytes.bin", "text")
            yield* writing(session, "a/b/new.txt", "new\n")
            yield* session.tool(
              ["link"],
              act(() => {
                rmSync(join(folder, "link"))
                symlinkSync("utf16.txt", join(folder, "link"))
              })
            )
          })
        )
        const second = treeOf(folder)
        yield* session.turn(
          Effect.gen(function* () {
            yield* writing(session, "utf16.txt", "again\n")
            yield* writing(session, "utf16.txt", "and again\n")
            yield* session.tool(
              ["bytes.bin"],
              act(() => rmSync(join(folder, "bytes.bin")))
            )
          })
        )
        yield* session.turn(Effect.void)
        const last = yield* session.undo
        assert.deepStrictEqual(last._tag === "Undone" && last.files, [
          { path: join(folder, "utf16.txt"), what: "restored" },
          { path: join(folder, "bytes.bin"), what: "recreated" }
        ])
        assert.deepStrictEqual(treeOf(folder), second)
        const before = yield* session.undo
        assert.deepStrictEqual(before._tag === "Undone" && before.files.map(({ what }) => what), [
          "restored",
          "restored",
          "removed",
          "restored"
        ])
        assert.deepStrictEqual(treeOf(folder), first)
        assert.deepStrictEqual(yield* session.undo, { _tag: "Nothing" })
        assert.deepStrictEqual(session.state().changes, [])
      })
    )
  )

  it.effect("is told to the model, and to a person", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        yield* session.turn(writing(session, "src/new.ts", "x"))
        const result = yield* session.undo
        const told = JSON.stringify(session.state().context)
        assert.match(told, /took back.*removed src\/new\.ts.*Read a file again/)
        assert.match(
          describeUndo(result, session.folder),
          /^The last turn's changes are taken back:\n- removed src\/new\.ts\n/
        )
      })
    )
  )

  it.effect("is kept when the tool fails half-way, dies or is interrupted", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        const { folder } = session
        const half = (path: string, then: Effect.Effect<never, string>) =>
          session.tool(
            [path],
            Effect.andThen(
              act(() => writeFileSync(join(folder, path), "half")),
              then
            )
          )
        const reached = yield* Deferred.make<void>()
        yield* session.turn(
          Effect.gen(function* () {
            assert.isTrue(Exit.isFailure(yield* Effect.exit(half("failed", Effect.fail("no")))))
            assert.isTrue(Exit.isFailure(yield* Effect.exit(half("died", Effect.die("no")))))
            const fiber = yield* Effect.forkChild(
              half("interrupted", Effect.andThen(Deferred.succeed(reached, undefined), Effect.never))
            )
            yield* Deferred.await(reached)
            yield* Fiber.interrupt(fiber)
          })
        )
        assert.lengthOf(readdirSync(folder), 3)
        assert.strictEqual((yield* session.undo)._tag, "Undone")
        assert.deepStrictEqual(treeOf(folder), [])
      })
    )
  )

  it.effect("that comes to nothing is no change", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        writeFileSync(join(session.folder, "same"), "same")
        yield* session.turn(writing(session, "same", "same"))
        assert.deepStrictEqual(session.state().changes, [])
        yield* session.turn(writing(session, "same", "other"))
        yield* session.turn(Effect.andThen(writing(session, "same", "third"), writing(session, "same", "other")))
        yield* session.undo
        assert.strictEqual(read(session, "same"), "same")
      })
    )
  )

  it.effect("through a link is what the link leads to", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        const { folder } = session
        mkdirSync(join(folder, "real"))
        writeFileSync(join(folder, "real/file"), "before")
        symlinkSync("real", join(folder, "way"))
        symlinkSync("real/file", join(folder, "link"))
        const before = treeOf(folder)
        yield* session.turn(Effect.andThen(writing(session, "way/file", "one"), writing(session, "link", "two")))
        yield* session.undo
        assert.deepStrictEqual(treeOf(folder), before)
      })
    )
  )

  it.effect("leaves no file beside, and nobody else may read what is kept", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        yield* session.turn(writing(session, "secret", "one"))
        const kept = join(session.workspace.scratch, "changes")
        assert.strictEqual(lstatSync(kept).mode & 0o777, 0o700)
        for (const name of readdirSync(kept)) {
          assert.match(name, /^[0-9a-f]{64}$/)
          assert.strictEqual(lstatSync(join(kept, name)).mode & 0o777, 0o600)
        }
        yield* session.undo
        assert.deepStrictEqual(readdirSync(session.folder), [])
      })
    )
  )
})

describe("what somebody else changed", () => {
  const refused = Effect.fnUntraced(function* (session: ChangingSession) {
    const before = treeOf(session.folder)
    const context = session.state().context
    const result = yield* session.undo
    assert.strictEqual(result._tag, "Refused")
    assert.deepStrictEqual(treeOf(session.folder), before)
    assert.deepStrictEqual(session.state().context, context)
    return result._tag === "Refused" ? result.reasons.map(({ path, reason }) => `${path}: ${reason}`).join("\n") : ""
  })

  it.effect("since the turn is never lost: all of it is refused, by name and with what to do", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        const { folder } = session
        for (const name of ["changed", "gone", "untouched", "mode"]) writeFileSync(join(folder, name), "before")
        yield* session.turn(
          Effect.gen(function* () {
            for (const name of ["changed", "gone", "untouched", "mode", "new"]) yield* writing(session, name, "turn")
            yield* session.tool(
              ["changed"],
              act(() => rmSync(join(folder, "changed")))
            )
          })
        )
        writeFileSync(join(folder, "changed"), "made by a person")
        writeFileSync(join(folder, "new"), "edited by a person")
        rmSync(join(folder, "gone"))
        chmodSync(join(folder, "mode"), 0o600)
        const text = yield* refused(session)
        assert.match(
          text,
          /changed: Somebody made it since\. What it was before the turn is kept in .*changes\/[0-9a-f]{64}/
        )
        assert.match(
          text,
          /new: It has changed since\. It was not there before the turn: make it that by hand, or put back/
        )
        assert.match(text, /gone: It is gone since\./)
        assert.match(text, /mode: It has changed since\./)
        assert.notMatch(text, /untouched/)
      })
    )
  )

  it.effect("in the middle of a turn is never lost either", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        writeFileSync(join(session.folder, "file"), "before")
        yield* session.turn(
          Effect.gen(function* () {
            yield* writing(session, "file", "turn")
            writeFileSync(join(session.folder, "file"), "a person's")
            yield* writing(session, "file", "turn, from the person's")
          })
        )
        assert.match(yield* refused(session), /file: Somebody else changed it in the middle of the turn/)
        // The way out that the text names.
        writeFileSync(join(session.folder, "file"), "before")
        assert.deepStrictEqual((yield* session.undo)._tag, "Undone")
        assert.deepStrictEqual(session.state().changes, [])
      })
    )
  )

  it.effect("to the very same, before the undo, is no obstacle", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        writeFileSync(join(session.folder, "file"), "before")
        yield* session.turn(Effect.andThen(writing(session, "file", "turn"), writing(session, "new", "turn")))
        writeFileSync(join(session.folder, "file"), "before")
        const result = yield* session.undo
        assert.deepStrictEqual(result._tag === "Undone" && result.files, [
          { path: join(session.folder, "new"), what: "removed" }
        ])
      })
    )
  )

  it.effect("keeps a folder that the turn made, with what is in it", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        yield* session.turn(writing(session, "made/inner/file", "turn"))
        writeFileSync(join(session.folder, "made/mine"), "mine")
        assert.strictEqual((yield* session.undo)._tag, "Undone")
        assert.deepStrictEqual(readdirSync(join(session.folder, "made")), ["mine"])
      })
    )
  )

  it.effect("into a link to elsewhere leads an undo nowhere else", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        const { folder } = session
        const elsewhere = join(folder, "..", "elsewhere")
        yield* session.turn(
          Effect.andThen(writing(session, "made/file", "turn"), writing(session, "made/other", "turn"))
        )
        mkdirSync(elsewhere)
        for (const name of ["file", "other"]) writeFileSync(join(elsewhere, name), "turn")
        rmSync(join(folder, "made"), { recursive: true })
        symlinkSync(elsewhere, join(folder, "made"))
        assert.strictEqual(yield* Effect.map(session.undo, ({ _tag }) => _tag), "Refused")
        assert.deepStrictEqual(readdirSync(elsewhere).toSorted(), ["file", "other"])
      })
    )
  )
})

describe("an undo that cannot go through", () => {
  /** A file system in which one act on files of this name fails. */
  const failing = (act: "rename" | "link", name: string) =>
    Layer.effect(
      FileSystem.FileSystem,
      Effect.map(FileSystem.FileSystem, (fs) => {
        const refuse = (path: string) =>
          Effect.fail(
            systemError({
              _tag: "Unknown",
              module: "FileSystem",
              method: act,
              pathOrDescriptor: path,
              description: "no"
            })
          )
        const guard: FileSystem.FileSystem["rename"] = (from, to) =>
          [from, to].some((path) => path.endsWith(`/${name}`)) ? refuse(from) : fs[act](from, to)
        return FileSystem.make({ ...fs, [act]: guard })
      })
    ).pipe(Layer.provideMerge(platform))

  for (const act of ["rename", "link"] as const) {
    it.effect(`changes nothing: ${act}`, () =>
      Effect.gen(function* () {
        const session = yield* Effect.provide(inFolder, platform)
        const { folder } = session
        writeFileSync(join(folder, "one"), "before")
        writeFileSync(join(folder, "two"), "before")
        yield* Effect.provide(
          session.turn(
            Effect.gen(function* () {
              yield* writing(session, "made/new", "turn")
              yield* writing(session, "one", "turn")
              yield* writing(session, "two", "turn")
              yield* session.tool(
                ["three"],
                Effect.sync(() => writeFileSync(join(folder, "three"), "turn"))
              )
            })
          ),
          changesLayer()
        )
        const after = treeOf(folder)
        const layer = Layer.provideMerge(ChangesLive.layer(process.env), failing(act, "two"))
        const result = yield* Effect.provide(session.undo, layer)
        if (act === "rename") {
          assert.strictEqual(result._tag, "Refused")
          assert.deepStrictEqual(treeOf(folder), after)
          assert.lengthOf(session.state().changes, 1)
        }
        const again = yield* Effect.provide(session.undo, changesLayer())
        assert.include(["Undone", "Nothing"], again._tag)
        assert.deepStrictEqual(readdirSync(folder).toSorted(), ["one", "two"])
        assert.strictEqual(read(session, "two"), "before")
      }).pipe(Effect.scoped)
    )
  }

  it.effect("for want of what was kept says so", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        writeFileSync(join(session.folder, "file"), "before")
        yield* session.turn(writing(session, "file", "turn"))
        rmSync(join(session.workspace.scratch, "changes"), { recursive: true })
        const result = yield* session.undo
        assert.match(describeUndo(result, session.folder), /file: What it was before the turn is not kept any more/)
        assert.strictEqual(read(session, "file"), "turn")
      })
    )
  )

  it.effect("goes on in a session that was forked from it", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        writeFileSync(join(session.folder, "file"), "before")
        yield* session.turn(writing(session, "file", "turn"))
        const scratch = join(session.folder, "..", "scratch-2")
        yield* Changes.use(({ inherit }) => inherit(session.workspace.scratch, scratch))
        rmSync(session.workspace.scratch, { recursive: true })
        const forked = { ...session.workspace, scratch }
        const result = yield* Changes.use(({ undo }) => undo(forked, session.state(), session.log))
        assert.strictEqual(result._tag, "Undone")
        assert.strictEqual(read(session, "file"), "before")
        assert.isFalse(existsSync(session.workspace.scratch))
      })
    )
  )
})
