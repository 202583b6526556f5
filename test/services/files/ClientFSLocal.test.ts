import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { existsSync } from "node:fs"
import { ClientFS } from "../../../src/services/ClientFS.ts"
import { EditorFailed } from "../../../src/services/Editor.ts"
import * as ClientFSLocal from "../../../src/services/files/ClientFSLocal.ts"
import { type FsDelegation, Settings } from "../../../src/services/Settings.ts"
import { bytes, makeEditor, makeFolder, makeWorkspace, platform, read, write } from "../../support/toolbox.ts"

const files = (fsDelegation: FsDelegation = "unsaved_only") =>
  ClientFSLocal.layer.pipe(Layer.provide(Settings.layerValues({ fsDelegation })), Layer.provideMerge(platform))

/** What a call of the official `iconv` program would write, without needing it. */
const wide = (text: string, littleEndian: boolean) =>
  Uint8Array.from(
    Array.from(`\ufeff${text}`, (letter) => letter.charCodeAt(0)).flatMap((unit) =>
      littleEndian ? [unit & 0xff, unit >> 8] : [unit >> 8, unit & 0xff]
    )
  )

describe("reading", () => {
  it.effect("gives text and encoding, line ends as they are", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolder
      const fs = yield* ClientFS
      const workspace = makeWorkspace(work)
      const cases: ReadonlyArray<readonly [string, Uint8Array | string, string, string]> = [
        ["plain.txt", "héllo\r\nx\n", "utf-8", "héllo\r\nx\n"],
        ["bom.txt", "\ufeffhéllo", "utf-8-bom", "héllo"],
        ["le.txt", wide("hé\n", true), "utf-16le", "hé\n"],
        ["be.txt", wide("hé\n", false), "utf-16be", "hé\n"],
        ["bare-le.txt", wide("Größe: 3\r\n", true).subarray(2), "utf-16le-bare", "Größe: 3\r\n"],
        ["bare-be.txt", wide("Größe: 3\r\n", false).subarray(2), "utf-16be-bare", "Größe: 3\r\n"],
        ["latin1.txt", Uint8Array.from([0x68, 0xe9, 0x6c, 0x0a]), "windows-1252", "hél\n"],
        ["mac.txt", "one\rtwo\r", "utf-8", "one\rtwo\r"],
        ["only-mark.txt", "\ufeff", "utf-8-bom", ""],
        ["empty.txt", "", "utf-8", ""]
      ]
      for (const [name, content, encoding, text] of cases) {
        yield* write(`${work}/${name}`, content)
        const file = yield* fs.read(workspace, `${work}/${name}`)
        assert.strictEqual(file.encoding, encoding)
        assert.strictEqual(file.text, text)
        assert.strictEqual(file.source, "disk")
      }
    }).pipe(Effect.provide(files()))
  )

  it.effect.runIf(existsSync("/proc/self/pagemap"))("gives up a file without size that does not end", () =>
    Effect.gen(function* () {
      const fs = yield* ClientFS
      const endless = yield* Effect.flip(fs.read(makeWorkspace("/"), "/proc/self/pagemap"))
      assert.strictEqual(endless.reason, "too_large")
      assert.include((yield* fs.read(makeWorkspace("/"), "/proc/self/status")).text, "Pid:")
    }).pipe(Effect.provide(files()))
  )

  it.effect("refuses what it could not write back, and says what it is", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolder
      const fs = yield* ClientFS
      const reasonOf = (name: string) => Effect.flip(fs.read(makeWorkspace(work), `${work}/${name}`))
      yield* write(`${work}/greek.txt`, Uint8Array.from([0xe3, 0xe5, 0xe9, 0xe1, 0x20, 0xf3, 0xef, 0xf5]))
      yield* write(`${work}/damaged.txt`, Uint8Array.from([0x68, 0xc3, 0xa9, 0x6c, 0xc3, 0xa9, 0x6c, 0x6c, 0x6f, 0xff]))
      yield* write(`${work}/gbk.txt`, Uint8Array.from([0xc4, 0xe3, 0xba, 0xc3]))
      yield* write(`${work}/image.png`, Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]))
      yield* write(`${work}/zero`, Uint8Array.from([1, 0, 2]))
      assert.include((yield* reasonOf("greek.txt")).message, "encoding other than UTF-8")
      assert.include((yield* reasonOf("damaged.txt")).message, "or damaged")
      assert.strictEqual((yield* reasonOf("gbk.txt")).reason, "binary")
      assert.include((yield* reasonOf("image.png")).message, "is a PNG image")
      assert.include((yield* reasonOf("zero")).message, "binary file")
      assert.strictEqual((yield* reasonOf(".")).reason, "is_directory")
      assert.strictEqual((yield* reasonOf("none")).reason, "not_found")
      assert.strictEqual((yield* reasonOf("greek.txt/x")).reason, "not_found")
      assert.include((yield* Effect.flip(fs.read(makeWorkspace(work), "/dev/zero"))).message, "not a regular file")
    }).pipe(Effect.provide(files()))
  )
})

describe("writing", () => {
  it.effect("keeps encoding and mode bits, and makes folders", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolder
      const fs = yield* ClientFS
      const disk = yield* FileSystem.FileSystem
      const workspace = makeWorkspace(work)
      yield* write(`${work}/run.sh`, "\ufeffone\r\n")
      yield* disk.chmod(`${work}/run.sh`, 0o751)
      yield* fs.write(workspace, `${work}/run.sh`, "twö\r\n")
      assert.strictEqual((yield* disk.stat(`${work}/run.sh`)).mode & 0o7777, 0o751)
      assert.deepStrictEqual(yield* bytes(`${work}/run.sh`), [0xef, 0xbb, 0xbf, ...new TextEncoder().encode("twö\r\n")])
      yield* write(`${work}/wide.txt`, wide("old", true))
      yield* fs.write(workspace, `${work}/wide.txt`, "né")
      assert.deepStrictEqual(yield* bytes(`${work}/wide.txt`), [...wide("né", true)])
      yield* fs.write(workspace, `${work}/a/b/new.txt`, "x")
      assert.strictEqual(yield* read(`${work}/a/b/new.txt`), "x")
      assert.deepStrictEqual((yield* disk.readDirectory(work)).toSorted(), ["a", "run.sh", "wide.txt"])
    }).pipe(Effect.provide(files()))
  )

  it.effect("goes through links and leaves them links, also ones that lead to nothing yet (F89)", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolder
      const fs = yield* ClientFS
      const disk = yield* FileSystem.FileSystem
      yield* write(`${work}/AGENTS.md`, "old")
      yield* disk.symlink("AGENTS.md", `${work}/CLAUDE.md`)
      yield* disk.symlink("later.md", `${work}/dangling.md`)
      yield* fs.write(makeWorkspace(work), `${work}/CLAUDE.md`, "new")
      yield* fs.write(makeWorkspace(work), `${work}/dangling.md`, "made")
      assert.strictEqual(yield* disk.readLink(`${work}/CLAUDE.md`), "AGENTS.md")
      assert.strictEqual(yield* read(`${work}/AGENTS.md`), "new")
      assert.strictEqual(yield* disk.readLink(`${work}/dangling.md`), "later.md")
      assert.strictEqual(yield* read(`${work}/later.md`), "made")
    }).pipe(Effect.provide(files()))
  )

  it.effect("notices every change since a read, and no mere touch", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolder
      const fs = yield* ClientFS
      const disk = yield* FileSystem.FileSystem
      const workspace = makeWorkspace(work)
      const path = `${work}/a.txt`
      yield* write(path, "one")
      const file = yield* fs.read(workspace, path)
      yield* disk.utimes(path, 1, 1)
      yield* fs.write(workspace, path, "two", file)
      const error = yield* Effect.flip(fs.write(workspace, path, "three", file))
      assert.strictEqual(error.reason, "changed")
      assert.strictEqual(yield* read(path), "two")
      assert.strictEqual((yield* Effect.flip(fs.write(workspace, path, "x", null))).reason, "changed")
      yield* fs.write(workspace, `${work}/b.txt`, "x", null)
      yield* disk.remove(path)
      assert.strictEqual((yield* Effect.flip(fs.write(workspace, path, "x", file))).reason, "changed")
    }).pipe(Effect.provide(files()))
  )

  it.effect("never replaces what it cannot read", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolder
      const fs = yield* ClientFS
      yield* write(`${work}/gbk.txt`, Uint8Array.from([0xc4, 0xe3]))
      assert.strictEqual((yield* Effect.flip(fs.write(makeWorkspace(work), `${work}/gbk.txt`, "x"))).reason, "binary")
      assert.deepStrictEqual(yield* bytes(`${work}/gbk.txt`), [0xc4, 0xe3])
      assert.strictEqual((yield* Effect.flip(fs.write(makeWorkspace(work), work, "x"))).reason, "is_directory")
    }).pipe(Effect.provide(files()))
  )
})

describe("the editor's buffer", () => {
  const setUp = Effect.fnUntraced(function* (buffer: string | undefined) {
    const { base, work } = yield* makeFolder
    const path = `${work}/a.txt`
    yield* write(path, "DISK\r\n")
    const { asked, editor } = makeEditor(new Map(buffer === undefined ? [] : [[path, buffer]]))
    return { base, work, path, asked, editor, workspace: makeWorkspace(work, { editor }) }
  })

  it.effect("wins when it is unsaved, with the line ends of the file (F82)", () =>
    Effect.gen(function* () {
      const { path, workspace } = yield* setUp("BUFFER\n")
      const file = yield* (yield* ClientFS).read(workspace, path)
      assert.deepInclude(file, { text: "BUFFER\r\n", source: "editor" })
    }).pipe(Effect.provide(files()))
  )

  it.effect("does not count when it only differs in line ends, unless the policy is always", () =>
    Effect.gen(function* () {
      const { path, workspace } = yield* setUp("DISK\n")
      const read = Effect.flatMap(ClientFS, (fs) => fs.read(workspace, path))
      assert.strictEqual((yield* Effect.provide(read, files())).source, "disk")
      assert.deepInclude(yield* Effect.provide(read, files("always")), { source: "editor", text: "DISK\r\n" })
    }).pipe(Effect.provide(platform))
  )

  it.effect("is not asked for under never, without the capability, or for a path that leaves the workspace", () =>
    Effect.gen(function* () {
      const { asked, base, editor, path, work, workspace } = yield* setUp("BUFFER\n")
      const disk = yield* FileSystem.FileSystem
      yield* write(`${base}/outside.txt`, "secret")
      yield* disk.symlink(`${base}/outside.txt`, `${work}/link.txt`)
      const read = (from: typeof workspace, file: string) => Effect.flatMap(ClientFS, (fs) => fs.read(from, file))
      assert.strictEqual((yield* Effect.provide(read(workspace, path), files("never"))).text, "DISK\r\n")
      const unable = { ...editor, capabilities: { ...editor.capabilities, readTextFile: false } }
      yield* Effect.provide(read(makeWorkspace(work, { editor: unable }), path), files("always"))
      yield* Effect.provide(read(workspace, `${work}/link.txt`), files("always"))
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.provide(platform))
  )

  it.effect("is read for a file that is not on the disk yet", () =>
    Effect.gen(function* () {
      const { work } = yield* setUp(undefined)
      const { editor } = makeEditor(
        new Map([
          [`${work}/new.txt`, "only here"],
          [`${work}/none.txt`, ""]
        ])
      )
      const fs = yield* ClientFS
      const workspace = makeWorkspace(work, { editor })
      assert.deepInclude(yield* fs.read(workspace, `${work}/new.txt`), { text: "only here", source: "editor" })
      assert.strictEqual((yield* Effect.flip(fs.read(workspace, `${work}/none.txt`))).reason, "not_found")
    }).pipe(Effect.provide(files()))
  )

  it.effect("is passed over while it shows what the disk held before (F83)", () =>
    Effect.gen(function* () {
      const { path, workspace } = yield* setUp("DISK\n")
      const fs = yield* ClientFS
      yield* fs.read(workspace, path)
      yield* write(path, "CHANGED\r\n")
      assert.deepInclude(yield* fs.read(workspace, path), { text: "CHANGED\r\n", source: "disk" })
      yield* fs.write(workspace, path, "AGAIN\r\n")
      assert.deepInclude(yield* fs.read(workspace, path), { text: "AGAIN\r\n", source: "disk" })
    }).pipe(Effect.provide(files()))
  )

  it.effect("leaves the disk when the editor fails or does not answer for five seconds", () =>
    Effect.gen(function* () {
      const { editor, path, work } = yield* setUp(undefined)
      const fs = yield* ClientFS
      const failing = {
        ...editor,
        readTextFile: () => Effect.fail(new EditorFailed({ notFound: false, message: "boom" }))
      }
      assert.strictEqual((yield* fs.read(makeWorkspace(work, { editor: failing }), path)).text, "DISK\r\n")
      let waiting = false
      const silent = {
        ...editor,
        readTextFile: () =>
          Effect.suspend(() => {
            waiting = true
            return Effect.never
          })
      }
      const fiber = yield* Effect.forkChild(fs.read(makeWorkspace(work, { editor: silent }), path))
      yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => waiting }))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Fiber.join(fiber)).text, "DISK\r\n")
    }).pipe(Effect.provide(files()))
  )
})

describe("an editor that is not to be believed", () => {
  const long = (word: string) => `${word} `.repeat(30)

  /** An editor with an answer of its own, and what it was asked. */
  const answering = (answer: (path: string, range: unknown) => Effect.Effect<string, EditorFailed>) => {
    const { editor } = makeEditor(new Map())
    const asked: Array<unknown> = []
    return {
      asked,
      editor: {
        ...editor,
        readTextFile: (_session: unknown, path: string, range?: unknown) =>
          Effect.suspend(() => {
            asked.push(range)
            return answer(path, range)
          })
      }
    }
  }

  it.effect("is asked for the lines that are wanted, and for the whole only if they differ", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolder
      const fs = yield* ClientFS
      const lines = Array.from({ length: 10 }, (_, at) => `line ${at + 1}\n`)
      yield* write(`${work}/a.txt`, lines.join(""))
      const range = { line: 4, limit: 2 }
      const cases: ReadonlyArray<
        readonly [string, (range: unknown) => string, ReadonlyArray<unknown>, "disk" | "editor"]
      > = [
        ["the same lines", () => "line 4\nline 5\n", [range], "disk"],
        ["the same lines without the last line end", () => "line 4\nline 5", [range], "disk"],
        ["the same whole file, in spite of the range", () => lines.join(""), [range], "disk"],
        [
          "other lines, and then the whole",
          (given) => (given === undefined ? `${lines.join("")}new\n` : "line 4\nnew\n"),
          [range, undefined],
          "editor"
        ],
        [
          "other lines, but the same whole",
          (given) => (given === undefined ? lines.join("") : "?\n"),
          [range, undefined],
          "disk"
        ]
      ]
      for (const [name, answer, questions, source] of cases) {
        const { asked, editor } = answering((_path, given) => Effect.succeed(answer(given)))
        const file = yield* fs.read(makeWorkspace(work, { editor }), `${work}/a.txt`, range)
        assert.strictEqual(file.source, source, name)
        assert.deepStrictEqual(asked, questions, name)
      }
    }).pipe(Effect.provide(files()))
  )

  it.effect("gives way to the disk with a notice when it fails, and is left alone for a minute when it is silent", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolder
      const fs = yield* ClientFS
      const path = `${work}/a.txt`
      yield* write(path, "DISK\n")
      const failing = answering(() => Effect.fail(new EditorFailed({ notFound: false, message: "boom\nbang" })))
      const read = fs.read(makeWorkspace(work, { editor: failing.editor }), path)
      assert.deepInclude(yield* read, { text: "DISK\n", source: "disk" })
      assert.include((yield* read).notice, "could not say what it shows (boom bang)")
      const missing = yield* Effect.flip(fs.read(makeWorkspace(work, { editor: failing.editor }), `${work}/none`))
      assert.include(missing.notice, "could not say")
      const unknown = answering(() => Effect.fail(new EditorFailed({ notFound: true, message: "no" })))
      assert.isUndefined((yield* fs.read(makeWorkspace(work, { editor: unknown.editor }), path)).notice)

      const silent = answering(() => Effect.never)
      const reading = fs.read(makeWorkspace(work, { editor: silent.editor }), path)
      const fiber = yield* Effect.forkChild(reading)
      yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => silent.asked.length === 1 }))
      yield* TestClock.adjust("5 seconds")
      assert.include((yield* Fiber.join(fiber)).notice, "did not say within 5 s")
      assert.include((yield* reading).notice, "did not say within 5 s")
      assert.strictEqual(silent.asked.length, 1)
      yield* TestClock.adjust("1 minute")
      const again = yield* Effect.forkChild(reading)
      yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => silent.asked.length === 2 }))
      yield* Fiber.interrupt(again)
    }).pipe(Effect.provide(files()))
  )

  it.effect("is not believed with the text of another file, of no folder, or with what is no text", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolder
      const fs = yield* ClientFS
      yield* write(`${work}/a.txt`, long("first"))
      yield* write(`${work}/b.txt`, long("second"))
      let answer = long("first")
      const { editor } = answering(() => Effect.succeed(answer))
      const workspace = makeWorkspace(work, { editor })
      assert.strictEqual((yield* fs.read(workspace, `${work}/a.txt`)).source, "disk")
      const wrong = yield* fs.read(workspace, `${work}/b.txt`)
      assert.deepInclude(wrong, { text: long("second"), source: "disk" })
      assert.include(wrong.notice, "belongs to another one")
      const nowhere = yield* Effect.flip(fs.read(workspace, `${work}/no/such/folder.txt`))
      assert.strictEqual(nowhere.reason, "not_found")
      assert.include(nowhere.notice, "belongs to another one, or to no folder")
      for (const senseless of ["a\0b", "\ud800"]) {
        answer = senseless
        assert.include((yield* fs.read(workspace, `${work}/a.txt`)).notice, "no text of a file")
      }
      // A file that the same text was saved to is no lie.
      answer = long("second")
      yield* fs.write(workspace, `${work}/a.txt`, long("second"))
      assert.isUndefined((yield* fs.read(workspace, `${work}/a.txt`)).notice)
    }).pipe(Effect.provide(files()))
  )

  it.effect("shows lines of a file that is too large only where it always counts, and no more than were wanted", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolder
      const path = `${work}/a.log`
      const range = { line: 7, limit: 2 }
      const { asked, editor } = answering((_path, given) =>
        Effect.succeed(asked.length > 1 ? "a\nb\nc\n" : `${given !== undefined}\n`)
      )
      const lines = Effect.flatMap(ClientFS, (fs) =>
        fs.readLines === undefined ? Effect.die("absent") : fs.readLines(makeWorkspace(work, { editor }), path, range)
      )
      assert.deepStrictEqual(yield* Effect.provide(lines, files()), { text: undefined })
      assert.deepStrictEqual(asked, [])
      assert.deepStrictEqual(yield* Effect.provide(lines, files("always")), { text: "true\n" })
      const believed = yield* Effect.provide(lines, files("always"))
      assert.isUndefined(believed.text)
      assert.include(believed.notice, "gives whole files where lines were asked for")
      assert.deepStrictEqual(asked, [range, range])
    }).pipe(Effect.provide(platform))
  )
})

describe("a change of the disk", () => {
  it.effect("never puts in what the encoding of the file has not", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolder
      const fs = yield* ClientFS
      const workspace = makeWorkspace(work)
      const before = Uint8Array.from([...new TextEncoder().encode("price: "), 0x80, 0x0a])
      yield* write(`${work}/latin1.txt`, before)
      const file = yield* fs.read(workspace, `${work}/latin1.txt`)
      assert.strictEqual(file.text, "price: €\n")
      const error = yield* Effect.flip(fs.write(workspace, `${work}/latin1.txt`, "price: €\nnext → 1\n", file))
      assert.strictEqual(error.reason, "encoding")
      assert.include(error.message, 'is written in Windows-1252, which has no "→" (line 2 of the new text)')
      assert.deepStrictEqual(yield* bytes(`${work}/latin1.txt`), [...before])
      yield* fs.write(workspace, `${work}/latin1.txt`, "price: 5 €, café\n", file)
      assert.deepStrictEqual(yield* bytes(`${work}/latin1.txt`), [...Buffer.from("price: 5 \x80, caf\xe9\n", "latin1")])
      for (const text of ["a\ud800", "a\0"]) {
        assert.strictEqual((yield* Effect.flip(fs.write(workspace, `${work}/new.txt`, text))).reason, "encoding")
      }
      assert.isFalse(yield* Effect.flatMap(FileSystem.FileSystem, (disk) => disk.exists(`${work}/new.txt`)))
    }).pipe(Effect.provide(files()))
  )

  it.effect(
    "leaves other names of the file alone, drops rights to run as somebody else, and leaves nothing behind",
    () =>
      Effect.gen(function* () {
        const { base, work } = yield* makeFolder
        const fs = yield* ClientFS
        const disk = yield* FileSystem.FileSystem
        const workspace = makeWorkspace(work)
        yield* write(`${base}/outside.txt`, "old")
        yield* disk.link(`${base}/outside.txt`, `${work}/a.txt`)
        yield* disk.chmod(`${base}/outside.txt`, 0o4755)
        yield* fs.write(workspace, `${work}/a.txt`, "new")
        assert.strictEqual(yield* read(`${base}/outside.txt`), "old")
        assert.strictEqual(yield* read(`${work}/a.txt`), "new")
        assert.strictEqual((yield* disk.stat(`${work}/a.txt`)).mode & 0o7777, 0o755)
        // A folder has the name by the time that the new file is to take it.
        yield* disk.makeDirectory(`${work}/folder`)
        const error = yield* Effect.flip(fs.write(workspace, `${work}/folder`, "x"))
        assert.strictEqual(error.reason, "is_directory")
        yield* write(`${work}/file`, "x")
        assert.strictEqual(
          (yield* Effect.flip(fs.write(workspace, `${work}/file/deep/new.txt`, "x"))).reason,
          "not_found"
        )
        assert.deepStrictEqual((yield* disk.readDirectory(work)).toSorted(), ["a.txt", "file", "folder"])
      }).pipe(Effect.provide(files()))
  )

  it.effect("happens to all files or to none, folders included", () =>
    Effect.gen(function* () {
      const { work } = yield* makeFolder
      const disk = yield* FileSystem.FileSystem
      const fs = yield* ClientFS
      const workspace = makeWorkspace(work)
      yield* write(`${work}/a.txt`, "a")
      yield* write(`${work}/b.txt`, "b")
      const change = (last: string) =>
        fs.change?.(workspace, [
          { path: `${work}/a.txt`, text: "A" },
          { path: `${work}/new/deep/c.txt`, text: "c" },
          { path: `${work}/b.txt`, text: null },
          { path: last, text: "x" }
        ]) ?? Effect.die("absent")
      const error = yield* Effect.flip(change(`${work}/a.txt/x`))
      assert.include(error.message, "a.txt/x")
      assert.deepStrictEqual((yield* disk.readDirectory(work)).toSorted(), ["a.txt", "b.txt"])
      assert.strictEqual(yield* read(`${work}/a.txt`), "a")
      assert.strictEqual(yield* read(`${work}/b.txt`), "b")
      yield* change(`${work}/d.txt`)
      assert.deepStrictEqual((yield* disk.readDirectory(work)).toSorted(), ["a.txt", "d.txt", "new"])
      assert.strictEqual(yield* read(`${work}/a.txt`), "A")
    }).pipe(Effect.provide(files()))
  )
})
