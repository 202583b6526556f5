import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { SessionId } from "../../../src/domain/Ids.ts"
import { EditorFailed } from "../../../src/services/Editor.ts"
import {
  bytes,
  call,
  makeEditor,
  makeFolder,
  makeContext,
  makeWorkspace,
  platform,
  prepare,
  read,
  toolbox,
  write
} from "../../support/toolbox.ts"

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join("\n")

const setUp = Effect.gen(function* () {
  const { base, work } = yield* makeFolder
  return { base, work, workspace: makeWorkspace(work), fs: yield* FileSystem.FileSystem }
})

describe("read", () => {
  it.effect("numbers lines, and tells how to go on", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      yield* write(`${work}/a.txt`, "one\r\ntwo\n")
      const { outcome, prepared } = yield* call("read", { path: "a.txt" }, workspace)
      assert.strictEqual(outcome.text, "     1\tone\n     2\ttwo")
      assert.strictEqual(prepared.title, "Read a.txt")
      assert.deepStrictEqual(prepared.locations, [{ path: `${work}/a.txt` }])
      yield* write(`${work}/long.txt`, lines(5000))
      const first = yield* call("read", { path: "long.txt" }, workspace)
      assert.match(first.outcome.text, /\n {2}2000\tline 2000\n\(lines 1-2000 of 5000; go on with offset=2001\)$/)
      const part = yield* call("read", { path: "long.txt", offset: "4999", limit: 5 }, workspace)
      assert.strictEqual(part.outcome.text, "  4999\tline 4999\n  5000\tline 5000")
      assert.strictEqual(part.prepared.title, "Read long.txt (lines 4999-5003)")
      assert.deepStrictEqual(part.prepared.locations, [{ path: `${work}/long.txt`, line: 4999 }])
      const last = yield* call("read", { path: "long.txt", offset: -2 }, workspace)
      assert.strictEqual(last.outcome.text, "  4999\tline 4999\n  5000\tline 5000")
      const behind = yield* call("read", { path: "long.txt", offset: 5001 }, workspace)
      assert.strictEqual(behind.outcome.status, "failed")
      assert.include(behind.outcome.text, "long.txt has 5000 lines")
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("understands every way to name a file (F61, F74, F94)", () =>
    Effect.gen(function* () {
      const { base, fs, work, workspace } = yield* setUp
      yield* fs.makeDirectory(`${work}/a b`)
      yield* write(`${work}/a b/ü.txt`, lines(5))
      const path = `${work}/a b/ü.txt`
      yield* Effect.gen(function* () {
        for (const written of ["a b/ü.txt", "./a b/../a b/ü.txt", path, "~/work/a b/ü.txt"]) {
          const { outcome, prepared } = yield* call("read", { path: written }, workspace)
          assert.strictEqual(outcome.status, "completed", written)
          assert.deepStrictEqual(prepared.locations, [{ path }])
        }
        const link = yield* call("read", { path: `file://${work}/a%20b/%C3%BC.txt#L2:3` }, workspace)
        assert.strictEqual(link.outcome.text, "     2\tline 2\n     3\tline 3\n(lines 2-3 of 5; go on with offset=4)")
        assert.deepStrictEqual(link.prepared.locations, [{ path, line: 2 }])
      }).pipe(Effect.provide(toolbox({ environment: { HOME: base } })))
    }).pipe(Effect.provide(platform))
  )

  it.effect("explains what it cannot read", () =>
    Effect.gen(function* () {
      const { fs, work, workspace } = yield* setUp
      yield* write(`${work}/README.md`, "x")
      yield* write(`${work}/empty.txt`, "")
      yield* write(`${work}/shot.png`, Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0]))
      yield* fs.makeDirectory(`${work}/src`)
      const textOf = (path: string) => Effect.map(call("read", { path }, workspace), ({ outcome }) => outcome.text)
      assert.include(yield* textOf("readme.MD"), "does not exist. Similar names there: README.md")
      assert.include(yield* textOf("nowhere/x.ts"), "its folder")
      assert.include(yield* textOf("src"), "is a folder, not a file: use the list tool")
      assert.include(yield* textOf("shot.png"), "is a PNG image")
      assert.strictEqual(yield* textOf("empty.txt"), "(the file is empty)")
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("names the field of an input that does not fit (F73)", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const messageOf = (input: unknown) =>
        Effect.map(Effect.flip(prepare("read", input, workspace)), ({ message }) => message)
      for (const input of [{}, { path: null }, undefined, "{}"]) {
        assert.include(yield* messageOf(input), `The input of read does not fit: "path" is missing`)
      }
      assert.include(yield* messageOf({ path: "" }), `"path" is empty`)
      assert.include(yield* messageOf({ path: 3, limit: "many" }), `"path" expected string; "limit" expected number`)
      assert.include(yield* messageOf("not json"), "expected an object")
      assert.include(yield* messageOf({ path: "a\0b" }), "NUL")
      const { title } = yield* prepare("read", { file_path: "x", limit: "7", offset: null, more: 1 }, workspace)
      assert.strictEqual(title, "Read x (lines 1-7)")
    }).pipe(Effect.provide(toolbox()))
  )

  it.live(
    "reads huge files and lines in little memory (F93)",
    () =>
      Effect.gen(function* () {
        const { work, workspace } = yield* setUp
        yield* call(
          "bash",
          {
            command:
              "yes 'a line of some length' | head -c 150M > big.log; head -c 50M /dev/zero | tr '\\0' x >> big.log; printf '\\nlast line\\n' >> big.log"
          },
          workspace
        )
        const before = process.memoryUsage().rss
        const start = yield* call("read", { path: "big.log", limit: 2 }, workspace)
        assert.strictEqual(
          start.outcome.text,
          "     1\ta line of some length\n     2\ta line of some length\n(lines 1-2; go on with offset=3)"
        )
        const total = Math.floor((150 * 1024 * 1024) / 22)
        const end = yield* call("read", { path: "big.log", offset: total + 1 }, workspace)
        assert.match(end.outcome.text, /x \[… \d+ characters of this line left out\]\n *\d+\tlast line$/)
        assert.isBelow((process.memoryUsage().rss - before) / 1e6, 100)
        assert.include(
          (yield* call("edit", { path: "big.log", old_string: "a", new_string: "b" }, workspace)).outcome.text,
          "more than the"
        )
        return work
      }).pipe(Effect.provide(toolbox())),
    20_000
  )
})

describe("large files without lines", () => {
  it.live("are given up at the first bytes that are no text", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      yield* call("bash", { command: "truncate -s 1T sparse" }, workspace)
      const { outcome } = yield* call("read", { path: "sparse" }, workspace)
      assert.include(outcome.text, "is a binary file")
    }).pipe(Effect.provide(toolbox()))
  )
})

describe("grep", () => {
  it.live("reads nothing that never ends", () =>
    Effect.gen(function* () {
      const { fs, work, workspace } = yield* setUp
      yield* call("bash", { command: "mkfifo pipe" }, workspace)
      yield* fs.symlink("/dev/zero", `${work}/zero`)
      yield* fs.symlink("self", `${work}/self`)
      for (const [path, problem] of [
        ["pipe", "neither a file nor a folder but a FIFO"],
        ["zero", "neither a file nor a folder but a CharacterDevice"],
        ["self", "ELOOP"],
        ["missing", "does not exist"]
      ] as const) {
        const { outcome } = yield* call("grep", { pattern: "x", path }, workspace)
        assert.strictEqual(outcome.status, "failed")
        assert.include(outcome.text, `${path} `)
        assert.include(outcome.text, problem)
      }
    }).pipe(Effect.provide(toolbox()))
  )
})

describe("write", () => {
  it.effect("shows the true old and new text, null for a file that was not there (TOL-07)", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      const made = yield* call("write", { path: "new/a.txt", content: "one\n" }, workspace)
      const path = `${work}/new/a.txt`
      const created = { type: "diff", path, oldText: null, newText: "one\n" } as const
      assert.deepStrictEqual(made.prepared.preview, [created])
      assert.deepStrictEqual(made.outcome.content, [created])
      assert.deepStrictEqual(made.outcome.locations, [{ path, line: 1 }])
      assert.deepStrictEqual(made.prepared.access, { _tag: "Edit", paths: [path], outside: [] })
      const replaced = yield* call("write", { path: "new/a.txt", content: "" }, workspace)
      assert.deepStrictEqual(replaced.outcome.content, [{ type: "diff", path, oldText: "one\n", newText: "" }])
      assert.strictEqual(yield* read(path), "")
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("keeps BOM and CRLF of a file that it replaces (F88)", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      yield* write(`${work}/a.txt`, "\ufeffone\r\ntwo\r\n")
      yield* call("write", { path: "a.txt", content: "1\n2\n" }, workspace)
      assert.deepStrictEqual(yield* bytes(`${work}/a.txt`), [...new TextEncoder().encode("\ufeff1\r\n2\r\n")])
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("refuses a file that changed since this session read it; an edit that still fits goes through (F87)", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      const path = `${work}/a.txt`
      yield* write(path, "one\ntwo\n")
      yield* call("read", { path }, workspace)
      yield* write(path, "one\ntwo\nappended\n")
      const refused = yield* call("write", { path, content: "ONE\n" }, workspace)
      assert.strictEqual(refused.outcome.status, "failed")
      assert.include(refused.outcome.text, "changed since you read it: read it again")
      assert.strictEqual(refused.prepared.access._tag, "Read")
      const edited = yield* call("edit", { path, old_string: "one", new_string: "ONE" }, workspace)
      assert.include(edited.outcome.text, "those changes were kept")
      assert.strictEqual(yield* read(path), "ONE\ntwo\nappended\n")
      // The model still has not seen the appended line.
      assert.strictEqual((yield* call("write", { path, content: "x" }, workspace)).outcome.status, "failed")
      const missing = yield* call("edit", { path, old_string: "one", new_string: "1" }, workspace)
      assert.include(missing.outcome.text, "changed since you read it: read it again")
      yield* call("read", { path }, workspace)
      assert.strictEqual((yield* call("write", { path, content: "x" }, workspace)).outcome.status, "completed")
      const other = makeWorkspace(work, { sessionId: SessionId.make("session-2") })
      yield* write(path, "y")
      assert.strictEqual((yield* call("write", { path, content: "z" }, other)).outcome.status, "completed")
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("plans again when it runs, on what is there then", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      yield* write(`${work}/a.txt`, "before")
      const prepared = yield* prepare("edit", { path: "a.txt", old_string: "before", new_string: "after" }, workspace)
      yield* write(`${work}/a.txt`, "before and more")
      const outcome = yield* prepared.run(makeContext(workspace))
      assert.deepStrictEqual(outcome.content, [
        { type: "diff", path: `${work}/a.txt`, oldText: "before and more", newText: "after and more" }
      ])
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("leaves alone what it could not write back", () =>
    Effect.gen(function* () {
      const { fs, work, workspace } = yield* setUp
      yield* write(`${work}/gbk.txt`, Uint8Array.from([0xc4, 0xe3]))
      yield* fs.makeDirectory(`${work}/folder`)
      for (const path of ["gbk.txt", "folder"]) {
        assert.strictEqual((yield* call("write", { path, content: "x" }, workspace)).outcome.status, "failed")
      }
      assert.deepStrictEqual(yield* bytes(`${work}/gbk.txt`), [0xc4, 0xe3])
    }).pipe(Effect.provide(toolbox()))
  )
})

describe("edit", () => {
  it.effect("replaces once, keeps bytes around it and line ends (F88)", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      yield* write(`${work}/a.txt`, "\ufeffhéllo\r\nword\r\nend")
      const { outcome, prepared } = yield* call(
        "edit",
        { path: "a.txt", old_string: "word\n", new_string: "WORD\nmore\n" },
        workspace
      )
      assert.strictEqual(outcome.status, "completed")
      assert.deepStrictEqual(yield* bytes(`${work}/a.txt`), [
        ...new TextEncoder().encode("\ufeffhéllo\r\nWORD\r\nmore\r\nend")
      ])
      assert.deepStrictEqual(outcome.content, prepared.preview)
      assert.deepStrictEqual(outcome.content, [
        {
          type: "diff",
          path: `${work}/a.txt`,
          oldText: "héllo\r\nword\r\nend",
          newText: "héllo\r\nWORD\r\nmore\r\nend"
        }
      ])
      assert.deepStrictEqual(outcome.locations, [{ path: `${work}/a.txt`, line: 2 }])
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("fails without asking anybody, and says why", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      yield* write(`${work}/a.ts`, "if (x) {\n  call()\n}\ncall()\ncall()\n")
      const failure = Effect.fnUntraced(function* (input: object) {
        const { outcome, prepared } = yield* call("edit", { path: "a.ts", ...input }, workspace)
        assert.strictEqual(outcome.status, "failed")
        assert.strictEqual(prepared.access._tag, "Read")
        assert.deepStrictEqual(prepared.preview, [])
        return outcome.text
      })
      assert.include(
        yield* failure({ old_string: "call()", new_string: "x" }),
        "occurs 3 times in a.ts, at lines 2, 4, 5"
      )
      assert.include(
        yield* failure({ old_string: "if (x) {\ncall()", new_string: "x" }),
        "Lines 1-2 differ from it in white space only"
      )
      assert.include(yield* failure({ old_string: "     1\tif (x) {", new_string: "x" }), "leave them out")
      assert.include(yield* failure({ old_string: "nothing", new_string: "x" }), "copy the text exactly")
      assert.include(yield* failure({ old_string: "call()", new_string: "call()" }), "nothing would change")
      assert.include(yield* failure({ old_string: "", new_string: "x" }), `"old_string" is empty`)
      assert.include(yield* failure({ path: "b.ts", old_string: "x", new_string: "y" }), "Similar names there: a.ts")
      const all = yield* call(
        "edit",
        { path: "a.ts", old_string: "call()", new_string: "f()", replace_all: "true" },
        workspace
      )
      assert.include(all.outcome.text, "3 replacements, the first at line 2")
      const made = yield* call("edit", { path: "c.ts", old_string: "", new_string: "new\n" }, workspace)
      assert.deepInclude(made.outcome.content[0], { oldText: null, newText: "new\n" })
    }).pipe(Effect.provide(toolbox()))
  )

  const piece = Arbitrary.map(
    Arbitrary.array(Arbitrary.schema(Schema.Literals(["a", "é", "\n", "\r\n", "b c"])), { minLength: 1, maxLength: 8 }),
    (parts) => parts.join("")
  )

  it.effect.prop(
    "shows the texts that were and are on the disk",
    [piece, piece, piece],
    ([before, after, newText]) =>
      Effect.gen(function* () {
        const { work, workspace } = yield* setUp
        const path = `${work}/a.txt`
        const oldText = `${before}THIS${after}`
        yield* write(path, oldText)
        const { outcome, prepared } = yield* call("edit", { path, old_string: "THIS", new_string: newText }, workspace)
        const [shown] = outcome.content
        assert.deepStrictEqual(prepared.preview, outcome.content)
        assert.deepInclude(shown, { type: "diff", path, oldText, newText: yield* read(path) })
        assert.notStrictEqual(yield* read(path), oldText)
      }).pipe(Effect.scoped, Effect.provide(toolbox())),
    { arbitrary: { runs: 40 } }
  )

  it.effect("starts from the unsaved buffer, and says so (F82, FS-05)", () =>
    Effect.gen(function* () {
      const { work } = yield* setUp
      yield* write(`${work}/a.txt`, "DISK\n")
      const { editor } = makeEditor(new Map([[`${work}/a.txt`, "BUFFER\n"]]))
      const workspace = makeWorkspace(work, { editor })
      assert.include((yield* call("read", { path: "a.txt" }, workspace)).outcome.text, "BUFFER")
      const { outcome } = yield* call("edit", { path: "a.txt", old_string: "BUFFER", new_string: "X" }, workspace)
      assert.include(outcome.text, "the editor had not saved")
      assert.strictEqual(yield* read(`${work}/a.txt`), "X\n")
    }).pipe(Effect.provide(toolbox()))
  )
})

describe("what lies outside of the workspace", () => {
  it.effect("is judged by the real path, in every tool that takes one (F89)", () =>
    Effect.gen(function* () {
      const { base, fs, work, workspace } = yield* setUp
      yield* fs.makeDirectory(`${base}/outside`)
      yield* write(`${base}/outside/secret`, "s")
      yield* fs.symlink(`${base}/outside`, `${work}/out`)
      yield* fs.symlink("dangling-target", `${base}/outside/dangling`)
      const outsideOf = Effect.fnUntraced(function* (...args: Parameters<typeof prepare>) {
        const { access } = yield* prepare(...args)
        return access._tag === "Read" || access._tag === "Edit" ? access : yield* Effect.die(access._tag)
      })
      assert.deepStrictEqual(yield* outsideOf("write", { path: "out/x", content: "" }, workspace), {
        _tag: "Edit",
        paths: [`${work}/out/x`, `${base}/outside/x`],
        outside: [`${base}/outside/x`]
      })
      for (const path of ["out/secret", "../outside/secret", `${base}/outside/secret`, `${work}/../outside/./secret`]) {
        assert.deepStrictEqual(
          (yield* outsideOf("read", { path }, workspace)).outside,
          [`${base}/outside/secret`],
          path
        )
      }
      assert.deepStrictEqual((yield* outsideOf("write", { path: "out/dangling", content: "" }, workspace)).outside, [
        `${base}/outside/dangling-target`
      ])
      assert.deepStrictEqual((yield* outsideOf("grep", { pattern: "s", path: "out" }, workspace)).outside, [
        `${base}/outside`
      ])
      assert.deepStrictEqual((yield* outsideOf("glob", { pattern: "*", path: ".." }, workspace)).outside, [base])
      assert.deepStrictEqual((yield* outsideOf("list", { path: "/" }, workspace)).outside, ["/"])
      assert.deepStrictEqual((yield* outsideOf("read", { path: "../scratch/output/x.txt" }, workspace)).outside, [])
      yield* fs.symlink(work, `${base}/alias`)
      const alias = makeWorkspace(`${base}/alias`)
      assert.deepStrictEqual((yield* outsideOf("read", { path: "a.txt" }, alias)).outside, [])
      assert.deepStrictEqual((yield* outsideOf("read", { path: `${work}/a.txt` }, alias)).outside, [])
    }).pipe(Effect.provide(toolbox()))
  )
})

describe("several edits in one call", () => {
  it.effect("are made one after another, all or none", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      yield* write(`${work}/a.ts`, "one\ntwo\nthree\n")
      const edits = [
        { old_string: "two", new_string: "2\nmore" },
        { oldText: "more", newText: "MORE" },
        { old_string: "e", new_string: "E", replace_all: "true" }
      ]
      const done = yield* call("edit", { path: "a.ts", edits: JSON.stringify(edits.slice(0, 2)) }, workspace)
      assert.include(done.outcome.text, "2 replacements, the first at line 2.")
      assert.deepStrictEqual(done.outcome.content, [
        { type: "diff", path: `${work}/a.ts`, oldText: "one\ntwo\nthree\n", newText: "one\n2\nMORE\nthree\n" }
      ])
      const failing = [
        { old_string: "one", new_string: "1" },
        { old_string: "nothing", new_string: "x" }
      ]
      const { outcome, prepared } = yield* call("edit", { path: "a.ts", edits: failing }, workspace)
      assert.strictEqual(prepared.access._tag, "Read")
      assert.match(
        outcome.text,
        /^"old_string" of edits\.1 does not occur in a\.ts.*Nothing was changed; the 1 edits before it would fit/
      )
      assert.strictEqual(yield* read(`${work}/a.ts`), "one\n2\nMORE\nthree\n")
      yield* call("edit", { path: "a.ts", old_string: "", edits: [edits[2]] }, workspace)
      assert.strictEqual(yield* read(`${work}/a.ts`), "onE\n2\nMORE\nthrEE\n")
      const messageOf = (input: object) =>
        Effect.map(Effect.flip(prepare("edit", { path: "a.ts", ...input }, workspace)), ({ message }) => message)
      assert.include(yield* messageOf({}), '"old_string" is missing')
      assert.include(yield* messageOf({ old_string: "x" }), '"new_string" is missing')
      assert.include(yield* messageOf({ old_string: "x", new_string: "y", edits }), 'both "old_string" and "edits"')
      assert.include(yield* messageOf({ edits: [{ old_string: "x" }] }), '"edits.0.new_string" is missing')
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("may differ in white space, which is said, and never where that could mean two places", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      yield* write(`${work}/a.go`, "func a() {\n\tb()\n}\n\tc()\n  c()\n")
      const input = { path: "a.go", old_string: "func a() {\n    b()\n}", new_string: "func a() {\n    x()\n}" }
      const { outcome } = yield* call("edit", input, workspace)
      assert.include(outcome.text, "It matches but for white space; what was put in has the indentation of the file.")
      assert.strictEqual(yield* read(`${work}/a.go`), "func a() {\n\tx()\n}\n\tc()\n  c()\n")
      const unsure = yield* call("edit", { path: "a.go", old_string: "      c()", new_string: "d()" }, workspace)
      assert.include(unsure.outcome.text, "but for white space 2 times, at lines 4, 5: copy the one you mean exactly")
    }).pipe(Effect.provide(toolbox()))
  )
})

describe("odd files", () => {
  it.live("are named for what they are, and never wait or fill the memory", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      yield* call(
        "bash",
        { command: "mkfifo pipe; truncate -s 20G sparse; printf '\\357\\273\\277' > mark" },
        workspace
      )
      yield* write(`${work}/mac.txt`, "one\rtwo\r")
      yield* write(`${work}/wide.txt`, Buffer.from("\ufeffö\r\nb\r\n", "utf16le"))
      yield* write(`${work}/late.txt`, `${"a\n".repeat(50_000)}\0\n`)
      const textOf = (path: string, more: object = {}) =>
        Effect.map(call("read", { path, ...more }, workspace), ({ outcome }) => outcome.text)
      const start = performance.now()
      const before = process.memoryUsage().rss
      assert.include(yield* textOf("sparse", { offset: 50_000_000 }), "is a binary file (21475 MB)")
      assert.include(yield* textOf("pipe"), "is not a regular file but a FIFO")
      assert.include(yield* textOf("/dev/zero"), "is not a regular file but a CharacterDevice")
      assert.include(yield* textOf("late.txt", { limit: 1 }), "is a binary file (100 kB)")
      assert.isBelow(performance.now() - start, 3_000)
      assert.isBelow((process.memoryUsage().rss - before) / 1e6, 50)
      assert.strictEqual(yield* textOf("mark"), "(the file is empty)")
      assert.strictEqual(yield* textOf("mac.txt"), "     1\tone\n     2\ttwo")
      assert.strictEqual(yield* textOf("wide.txt"), "     1\tö\n     2\tb")
      assert.include(yield* textOf("/proc/self/status"), "Pid:")
      for (const path of ["pipe", "sparse", "/dev/null"]) {
        for (const [tool, input] of [
          ["write", { content: "x" }],
          ["edit", { old_string: "a", new_string: "b" }],
          ["apply_patch", { patch: `--- ${path}\n+++ ${path}\n@@ -1 +1 @@\n-a\n+b\n` }]
        ] as const) {
          // To a patch that name is no file at all.
          if (tool === "apply_patch" && path === "/dev/null") continue
          const { outcome } = yield* call(tool, { path, ...input }, workspace)
          assert.strictEqual(outcome.status, "failed", `${tool} ${path}`)
        }
      }
    }).pipe(Effect.provide(toolbox()))
  )
})

describe("a path that leads elsewhere than where it was judged", () => {
  it.effect("is neither read nor written", () =>
    Effect.gen(function* () {
      const { base, fs, work, workspace } = yield* setUp
      yield* write(`${base}/secret`, "SECRET")
      yield* write(`${work}/a.txt`, "one")
      for (const [tool, input] of [
        ["read", {}],
        ["write", { content: "x" }],
        ["edit", { old_string: "one", new_string: "x" }],
        ["apply_patch", { patch: "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+x\n" }]
      ] as const) {
        const prepared = yield* prepare(tool, { path: "a.txt", ...input }, workspace)
        yield* fs.remove(`${work}/a.txt`)
        yield* fs.symlink("../secret", `${work}/a.txt`)
        const outcome = yield* prepared.run(makeContext(workspace))
        assert.strictEqual(outcome.status, "failed", tool)
        assert.notInclude(outcome.text, "SECRET")
        assert.strictEqual(yield* read(`${base}/secret`), "SECRET")
        yield* fs.remove(`${work}/a.txt`)
        yield* write(`${work}/a.txt`, "one")
      }
    }).pipe(Effect.provide(toolbox()))
  )
})

describe("notices", () => {
  it.effect("about the editor are told once in a session", () =>
    Effect.gen(function* () {
      const { work } = yield* setUp
      yield* write(`${work}/a.txt`, "one\n")
      const { editor } = makeEditor(new Map())
      const failing = {
        ...editor,
        readTextFile: () => Effect.fail(new EditorFailed({ notFound: false, message: "boom" }))
      }
      const textOf = (name: string, input: object, session = "session-1") =>
        Effect.map(
          call(name, input, makeWorkspace(work, { editor: failing, sessionId: SessionId.make(session) })),
          ({ outcome }) => outcome.text
        )
      assert.match(
        yield* textOf("edit", { path: "a.txt", old_string: "one", new_string: "two" }),
        /^Edited .*\n\(The editor could not say what it shows \(boom\)\. Files are read from the disk/
      )
      assert.strictEqual(yield* textOf("read", { path: "a.txt" }), "     1\ttwo")
      assert.include(yield* textOf("read", { path: "a.txt" }, "session-2"), "could not say")
    }).pipe(Effect.provide(toolbox()))
  )
})
