import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import {
  bytes,
  call,
  makeContext,
  makeEditor,
  makeFolder,
  makeWorkspace,
  prepare,
  read,
  toolbox,
  write
} from "../../support/toolbox.ts"

const setUp = Effect.gen(function* () {
  const { base, work } = yield* makeFolder
  return { base, work, workspace: makeWorkspace(work), fs: yield* FileSystem.FileSystem }
})

const patchOf = (...lines: ReadonlyArray<string>) => `${lines.join("\n")}\n`

const several = patchOf(
  "diff --git a/a.txt b/a.txt",
  "--- a/a.txt",
  "+++ b/a.txt",
  "@@ -1,2 +1,2 @@",
  " one",
  "-two",
  "+TWO",
  "diff --git a/gone.txt b/gone.txt",
  "deleted file mode 100644",
  "--- a/gone.txt",
  "+++ /dev/null",
  "@@ -1 +0,0 @@",
  "-bye",
  "diff --git a/new/run.sh b/new/run.sh",
  "new file mode 100755",
  "--- /dev/null",
  "+++ b/new/run.sh",
  "@@ -0,0 +1 @@",
  "+#!/bin/sh",
  "diff --git a/from.txt b/to.txt",
  "similarity index 50%",
  "rename from from.txt",
  "rename to to.txt",
  "--- a/from.txt",
  "+++ b/to.txt",
  "@@ -1,2 +1,2 @@",
  " x",
  "-y",
  "+z"
)

const plant = Effect.fnUntraced(function* (work: string) {
  yield* write(`${work}/a.txt`, "one\ntwo\n")
  yield* write(`${work}/gone.txt`, "bye\n")
  yield* write(`${work}/from.txt`, "\ufeffx\r\ny\r\n")
})

describe("apply_patch", () => {
  it.effect("changes, deletes, creates and renames, with one true diff for each path", () =>
    Effect.gen(function* () {
      const { fs, work, workspace } = yield* setUp
      yield* plant(work)
      yield* fs.chmod(`${work}/from.txt`, 0o640)
      const { outcome, prepared } = yield* call("apply_patch", { patch: several }, workspace)
      assert.strictEqual(
        outcome.text,
        "Applied the patch: a.txt changed, gone.txt deleted, new/run.sh created, to.txt created, from.txt deleted."
      )
      assert.strictEqual(prepared.title, "Patch a.txt, gone.txt, new/run.sh and 2 more")
      assert.deepStrictEqual(prepared.preview, outcome.content)
      assert.deepStrictEqual(outcome.content, [
        { type: "diff", path: `${work}/a.txt`, oldText: "one\ntwo\n", newText: "one\nTWO\n" },
        { type: "diff", path: `${work}/gone.txt`, oldText: "bye\n", newText: "" },
        { type: "diff", path: `${work}/new/run.sh`, oldText: null, newText: "#!/bin/sh\n" },
        { type: "diff", path: `${work}/to.txt`, oldText: null, newText: "x\r\nz\r\n" },
        { type: "diff", path: `${work}/from.txt`, oldText: "x\r\ny\r\n", newText: "" }
      ])
      assert.deepStrictEqual(outcome.locations?.[0], { path: `${work}/a.txt`, line: 2 })
      assert.deepStrictEqual((yield* fs.readDirectory(work)).toSorted(), ["a.txt", "new", "to.txt"])
      assert.deepStrictEqual(yield* bytes(`${work}/to.txt`), [...new TextEncoder().encode("\ufeffx\r\nz\r\n")])
      assert.strictEqual((yield* fs.stat(`${work}/to.txt`)).mode & 0o777, 0o640)
      assert.strictEqual((yield* fs.stat(`${work}/new/run.sh`)).mode & 0o111, 0o111)
      assert.strictEqual((yield* fs.stat(`${work}/a.txt`)).mode & 0o111, 0)
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("asks for every path, by both of its names, and for what lies outside", () =>
    Effect.gen(function* () {
      const { base, fs, work, workspace } = yield* setUp
      yield* plant(work)
      yield* fs.makeDirectory(`${base}/outside`)
      yield* fs.symlink(`${base}/outside`, `${work}/out`)
      const patch = patchOf("diff --git a/from.txt b/out/to.txt", "rename from from.txt", "rename to out/to.txt")
      const { access, kind } = yield* prepare("apply_patch", { patch }, workspace)
      assert.strictEqual(kind, "move")
      assert.deepStrictEqual(access, {
        _tag: "Edit",
        paths: [`${work}/from.txt`, `${work}/out/to.txt`, `${base}/outside/to.txt`],
        outside: [`${base}/outside/to.txt`],
        reads: [`${work}/from.txt`]
      })
      const up = patchOf("--- /dev/null", "+++ b/../x", "@@ -0,0 +1 @@", "+x")
      assert.deepInclude((yield* prepare("apply_patch", { patch: up }, workspace)).access, { outside: [`${base}/x`] })
      const gone = patchOf("--- a/gone.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-bye")
      assert.strictEqual((yield* prepare("apply_patch", { patch: gone }, workspace)).kind, "delete")
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("changes nothing when one hunk does not fit, and says which", () =>
    Effect.gen(function* () {
      const { fs, work, workspace } = yield* setUp
      yield* plant(work)
      yield* write(`${work}/a.txt`, "one\nother\n")
      const { outcome, prepared } = yield* call("apply_patch", { patch: several }, workspace)
      assert.strictEqual(outcome.status, "failed")
      assert.strictEqual(prepared.access._tag, "Read")
      assert.strictEqual(
        outcome.text,
        'Hunk 1 of a.txt (line 4 of the patch) does not fit: line 2 is "other", not "two". Read the file again and make the patch anew. No file was changed'
      )
      assert.deepStrictEqual((yield* fs.readDirectory(work)).toSorted(), ["a.txt", "from.txt", "gone.txt"])
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("brings everything back when the disk refuses the last file", () =>
    Effect.gen(function* () {
      const { fs, work, workspace } = yield* setUp
      yield* plant(work)
      yield* fs.chmod(`${work}/gone.txt`, 0o600)
      // The folder of the new name is a file by the time that the change runs.
      const prepared = yield* prepare("apply_patch", { patch: several.replaceAll("to.txt", "d/to.txt") }, workspace)
      yield* write(`${work}/d`, "in the way")
      const outcome = yield* prepared.run(makeContext(workspace))
      assert.strictEqual(outcome.status, "failed")
      assert.deepStrictEqual((yield* fs.readDirectory(work)).toSorted(), ["a.txt", "d", "from.txt", "gone.txt"])
      assert.strictEqual(yield* read(`${work}/a.txt`), "one\ntwo\n")
      assert.strictEqual(yield* read(`${work}/gone.txt`), "bye\n")
      assert.strictEqual((yield* fs.stat(`${work}/gone.txt`)).mode & 0o777, 0o600)
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("refuses what it cannot do, and says what to do instead", () =>
    Effect.gen(function* () {
      const { fs, work, workspace } = yield* setUp
      yield* plant(work)
      yield* fs.symlink("a.txt", `${work}/link.txt`)
      yield* write(`${work}/shot.png`, Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0]))
      const failure = Effect.fnUntraced(function* (...lines: ReadonlyArray<string>) {
        const { outcome } = yield* call("apply_patch", { patch: patchOf(...lines) }, workspace)
        assert.strictEqual(outcome.status, "failed")
        return outcome.text
      })
      const hunk = ["@@ -1 +1 @@", "-one", "+1"]
      assert.include(
        yield* failure("--- a/A.TXT", "+++ b/A.TXT", ...hunk),
        "A.TXT does not exist. Similar names there: a.txt"
      )
      assert.include(yield* failure("--- /dev/null", "+++ b/a.txt", "@@ -0,0 +1 @@", "+x"), "exists already")
      assert.include(
        yield* failure("--- a/a.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-one"),
        "does not remove all of its lines"
      )
      assert.include(yield* failure("--- a/a.txt", "+++ b/b.txt", ...hunk), 'lines "rename from" and "rename to"')
      assert.include(yield* failure("--- a/shot.png", "+++ b/shot.png", ...hunk), "is a PNG image")
      assert.include(yield* failure("*** Begin Patch", "*** Delete File: link.txt", "*** End Patch"), "is a link to")
      assert.strictEqual(yield* read(`${work}/a.txt`), "one\ntwo\n")
      const broken = yield* Effect.flip(prepare("apply_patch", { patch: "nothing" }, workspace))
      assert.include(broken.message, "names no file")
      const missing = yield* Effect.flip(prepare("apply_patch", {}, workspace))
      assert.include(missing.message, '"patch" is missing')
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("takes the other form, other names of its field, and parts that build on one another", () =>
    Effect.gen(function* () {
      const { fs, work, workspace } = yield* setUp
      yield* plant(work)
      const patch = patchOf(
        "*** Begin Patch",
        "*** Update File: a.txt",
        "@@ one",
        "-two",
        "+2",
        "*** Update File: a.txt",
        "*** Move to: b.txt",
        "@@",
        "-2",
        "+3",
        "*** Delete File: gone.txt",
        "*** Add File: gone.txt",
        "+back",
        "*** End Patch"
      )
      const { outcome } = yield* call("apply_patch", { input: patch }, workspace)
      assert.strictEqual(outcome.status, "completed", outcome.text)
      assert.strictEqual(yield* read(`${work}/b.txt`), "one\n3\n")
      assert.strictEqual(yield* read(`${work}/gone.txt`), "back\n")
      assert.isFalse(yield* fs.exists(`${work}/a.txt`))
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("goes on beside changes of others, starts from the unsaved buffer, and keeps all of it for undo", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      yield* plant(work)
      yield* call("read", { path: "a.txt" }, workspace)
      yield* write(`${work}/a.txt`, "zero\none\ntwo\n")
      const prepared = yield* prepare("apply_patch", { patch: several }, workspace)
      const recorded: Array<ReadonlyArray<string>> = []
      const outcome = yield* prepared.run(
        makeContext(workspace, {
          recording: (paths, change) => {
            recorded.push(paths)
            return change
          }
        })
      )
      assert.strictEqual(outcome.status, "completed", outcome.text)
      assert.strictEqual(yield* read(`${work}/a.txt`), "zero\none\nTWO\n")
      assert.deepStrictEqual(recorded, [
        ["a.txt", "gone.txt", "new/run.sh", "to.txt", "from.txt"].map((name) => `${work}/${name}`)
      ])
      // The model has not seen the line of the others.
      assert.strictEqual((yield* call("write", { path: "a.txt", content: "x" }, workspace)).outcome.status, "failed")
      yield* write(`${work}/c.txt`, "DISK\n")
      const { editor } = makeEditor(new Map([[`${work}/c.txt`, "BUFFER\n"]]))
      const patch = patchOf("--- a/c.txt", "+++ b/c.txt", "@@ -1 +1 @@", "-BUFFER", "+X")
      const buffered = yield* call("apply_patch", { patch }, makeWorkspace(work, { editor }))
      assert.include(buffered.outcome.text, "the editor had not saved")
      assert.strictEqual(yield* read(`${work}/c.txt`), "X\n")
    }).pipe(Effect.provide(toolbox()))
  )
})
