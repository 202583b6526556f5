/** Undo where a name, a depth or a git is not as usual. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { UndoResult } from "../../../src/domain/session/Undo.ts"
import { makeBlobs } from "../../../src/services/changes/Blobs.ts"
import * as ChangesLive from "../../../src/services/changes/ChangesLive.ts"
import { decodeName, escapeName } from "../../../src/services/changes/OddNames.ts"
import { changesLayer, type ChangingSession, inFolder, inRepository, treeOf } from "../../support/changes.ts"
import { makeFolder, platform } from "../../support/toolbox.ts"

const notesOf = (result: UndoResult): string =>
  result._tag === "Undone" ? result.notes.join("\n") : assert.fail(JSON.stringify(result))

const namesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { encoding: "buffer" })
    .map((name) => name.toString("latin1"))
    .filter((name) => name !== ".git")
    .toSorted()

describe("names that are not UTF-8", () => {
  for (const place of ["a folder", "a repository"]) {
    it.live(`are named by an undo in ${place}, where they are left`, () =>
      Effect.gen(function* () {
        const session = yield* place === "a folder" ? inFolder : inRepository("echo one > base.txt")
        const { folder } = session
        yield* session.turn(
          session.command(
            "echo one > plain.txt; echo mine > \"$(printf 'old\\377')\"; mkdir \"$(printf 'd\\376')\"; echo in > \"$(printf 'd\\376/in')\""
          )
        )
        yield* session.turn(
          session.command(
            "echo two > plain.txt; echo x > \"$(printf 'b\\377d-ü')\"; echo two > \"$(printf 'd\\376/in')\"; mv plain.txt ü.txt"
          )
        )
        const notes = notesOf(yield* session.undo)
        assert.include(
          notes,
          `Only a part of the turn was recorded; the rest stays as it is. ${folder}/b\\xffd-ü: its name`
        )
        assert.include(notes, `${folder}/d\\xfe/in: its name is not UTF-8`)
        assert.notInclude(notes, "old")
        assert.deepStrictEqual(
          namesIn(folder).filter((name) => name !== "base.txt"),
          ["b\xffd-Ã¼", "d\xfe", "old\xff", "plain.txt"]
        )
      }).pipe(Effect.provide(changesLayer()), Effect.scoped)
    )
  }

  it.live("in links are put back as they were", () =>
    Effect.gen(function* () {
      const session = yield* inFolder
      const link = join(session.folder, "link")
      yield* session.turn(session.command("ln -s \"$(printf 'to\\377')\" link"))
      yield* session.turn(session.command("ln -sfn elsewhere link"))
      assert.strictEqual((yield* session.undo)._tag, "Undone")
      assert.strictEqual(readlinkSync(link, { encoding: "buffer" }).toString("latin1"), "to\xff")
    }).pipe(Effect.provide(changesLayer()), Effect.scoped)
  )

  const bytes = Arbitrary.map(
    Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))), {
      maxLength: 12
    }),
    (numbers) => Buffer.from(numbers.filter((byte) => byte !== 0x5c))
  )

  it.effect.prop("are escaped so that each byte can be told", [bytes], ([name]) =>
    Effect.sync(() => {
      const shown = escapeName(name)
      const parts = shown.split(/(\\x[0-9a-f]{2})/)
      const back = Buffer.concat(
        parts.map((part) => (part.startsWith("\\x") ? Buffer.from(part.slice(2), "hex") : Buffer.from(part)))
      )
      assert.deepStrictEqual([...back], [...name])
      assert.strictEqual(shown.includes("\\x"), decodeName(name) === undefined)
    })
  )
})

describe("a file in very many folders", () => {
  /** How often the disk is asked while this runs. */
  const countOf = Effect.fnUntraced(function* (
    levels: number,
    act: (session: ChangingSession, file: string) => Acting
  ) {
    let count = 0
    const counting = Layer.effect(
      FileSystem.FileSystem,
      Effect.map(FileSystem.FileSystem, (fs) => {
        const counted =
          <Args extends ReadonlyArray<unknown>, A, E>(call: (...args: Args) => Effect.Effect<A, E>, cost = 1) =>
          (...args: Args) =>
            Effect.suspend(() => {
              count += cost
              return call(...args)
            })
        return FileSystem.make({
          ...fs,
          lstat: counted(fs.lstat),
          stat: counted(fs.stat),
          access: counted(fs.access),
          // It looks at every folder on the way.
          realPath: counted(fs.realPath, levels),
          readDirectoryEntries: counted(fs.readDirectoryEntries),
          makeDirectory: counted(fs.makeDirectory),
          readLink: counted(fs.readLink)
        })
      })
    ).pipe(Layer.provideMerge(platform))
    const layer = Layer.provideMerge(ChangesLive.layer(process.env), counting)
    yield* Effect.gen(function* () {
      const session = yield* inRepository("echo one > base.txt")
      const before = treeOf(session.folder)
      const file = `${Array.from({ length: levels }, () => "d").join("/")}/f`
      count = 0
      yield* session.turn(act(session, file))
      assert.strictEqual((yield* session.undo)._tag, "Undone")
      assert.deepStrictEqual(treeOf(session.folder), before)
    }).pipe(Effect.provide(layer), Effect.scoped)
    return count
  })

  type Acting = ReturnType<ChangingSession["command"]>

  const acts: Readonly<Record<string, (session: ChangingSession, file: string) => Acting>> = {
    tool: (session, file) =>
      session.tool(
        [file],
        Effect.sync(() => {
          mkdirSync(dirname(join(session.folder, file)), { recursive: true })
          writeFileSync(join(session.folder, file), "deep")
        })
      ),
    command: (session, file) => session.command(`mkdir -p ${dirname(file)}; echo deep > ${file}`)
  }

  for (const [name, act] of Object.entries(acts)) {
    it.live(`made by a ${name} is recorded and taken back at a cost that grows with their number alone`, () =>
      Effect.gen(function* () {
        const few = yield* countOf(100, act)
        const many = yield* countOf(400, act)
        assert.isBelow(many / few, 4.2, `${few} and ${many}`)
      })
    )
  }
})

describe("git", () => {
  /** A session whose git is this script. */
  const withGit = Effect.fnUntraced(function* (script: string) {
    const session = yield* inFolder
    const programs = join(session.folder, "..", "programs")
    mkdirSync(programs)
    writeFileSync(join(programs, "git"), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    const layer = changesLayer({ ...process.env, PATH: `${programs}:${process.env["PATH"]}` })
    return notesOf(
      yield* Effect.provide(Effect.andThen(session.turn(session.command("echo x > file")), session.undo), layer)
    )
  })

  const answering = (names: string) =>
    `case "$*" in *rev-parse*) printf 'sha1\\ntrue\\n/nowhere\\n' ;; *ls-files*) ${names} ;; esac`

  it.live("that names ever more files is not listened to for long", () =>
    Effect.gen(function* () {
      const many = yield* withGit(answering("yes file | tr '\\n' '\\0'"))
      assert.match(many, /work: it is too large to record: it has more than 50000 files\./)
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.live("that gives names without end is not listened to for long", () =>
    Effect.gen(function* () {
      const long = yield* withGit(answering("cat /dev/zero | tr '\\0' x"))
      assert.match(long, /work: it is too large to record: it has more than 16 MB of names of files\./)
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.live("that fails is told with what was asked of it", () =>
    Effect.gen(function* () {
      assert.match(yield* withGit(answering("exit 3")), /work: git ls-files ended with code 3\./)
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.live("of the folder itself is never run, whatever PATH says", () =>
    Effect.gen(function* () {
      const session = yield* inRepository("echo one > file.txt")
      const trace = join(session.folder, "..", "trace")
      writeFileSync(join(session.folder, "git"), `#!/bin/sh\necho run > '${trace}'\nexit 1\n`, { mode: 0o755 })
      const layer = changesLayer({ ...process.env, PATH: `.:./:bin::${process.env["PATH"]}` })
      yield* Effect.provide(session.turn(session.command("echo two > file.txt")), layer)
      assert.lengthOf(session.state().changes, 1)
      assert.isFalse(existsSync(trace))
    }).pipe(Effect.scoped, Effect.provide(platform))
  )
})

describe("what sessions keep", () => {
  it.effect("is counted for as many of them as there are, and remembered for those that work", () =>
    Effect.gen(function* () {
      const { base } = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      let counted = 0
      const blobs = makeBlobs(
        { ...fs, readDirectory: (...args) => Effect.suspend(() => (counted++, fs.readDirectory(...args))) },
        yield* Path.Path
      )
      const scratch = (number: number) => `${base}/${number}`
      for (let number = 0; number < 200; number++) yield* blobs.keep(scratch(number), Buffer.from("kept"))
      assert.strictEqual(counted, 200)
      assert.isTrue(yield* blobs.hasRoom(scratch(199), 1))
      assert.strictEqual(counted, 200)
      // One that was not asked for lately is counted again, and is no larger than it is.
      assert.isTrue(yield* blobs.hasRoom(scratch(0), 512 * 1024 * 1024 - 4))
      assert.isFalse(yield* blobs.hasRoom(scratch(0), 512 * 1024 * 1024 - 3))
      assert.strictEqual(counted, 201)
      rmSync(base, { recursive: true })
    }).pipe(Effect.scoped, Effect.provide(platform))
  )
})
