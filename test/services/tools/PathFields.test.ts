/** Paths that no file can have, in every field that takes one: the answer names the field and what to write. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, makeFolder, makeWorkspace, toolbox, write } from "../../support/toolbox.ts"

const setUp = Effect.gen(function* () {
  const { base, work } = yield* makeFolder
  yield* write(`${work}/file`, "x\n")
  return makeWorkspace(work, { scratch: `${base}/scratch` })
})

type Workspace = Effect.Success<typeof setUp>

const answer = (workspace: Workspace, name: string, input: object) =>
  call(name, input, workspace).pipe(
    Effect.map(({ outcome }) => outcome.text),
    Effect.catch(({ message }) => Effect.succeed(message))
  )

const created = (name: string) => ({ patch: `--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+x\n` })

/** A field of a tool, the rest of a call around it, and how a complaint calls it. */
const fields: ReadonlyArray<readonly [tool: string, named: string, input: (path: string) => object]> = [
  ["bash", '"cwd"', (cwd) => ({ command: "true", cwd })],
  ["read", '"path"', (path) => ({ path })],
  ["write", '"path"', (path) => ({ path, content: "x" })],
  ["edit", '"path"', (path) => ({ path, old_string: "x", new_string: "y" })],
  ["grep", '"path"', (path) => ({ pattern: "x", path })],
  ["glob", '"path"', (path) => ({ pattern: "x", path })],
  ["list", '"path"', (path) => ({ path })],
  ["apply_patch", 'A file name in "patch"', created]
]

const rows: ReadonlyArray<readonly [what: string, path: string, problem: string]> = [
  ["nothing", "", "is empty: name a file or folder"],
  ["a blank", " ", "is empty: name a file or folder"],
  ["a NUL", "a\0b", "holds a NUL character, which no name of a file can: write it without"],
  ["a NUL in an address", "file:///a%00b", "holds a NUL character, which no name of a file can: write it without"],
  ["a long name", "x".repeat(256), "is too long: a name has at most 255 characters, a path 4095"],
  ["a long path", "a/".repeat(2_100), "is too long: a name has at most 255 characters, a path 4095"]
]

describe("a path that no file can have", () => {
  for (const [what, path, problem] of rows) {
    it.live(`${what}: the field is named, and what to do`, () =>
      Effect.gen(function* () {
        const workspace = yield* setUp
        for (const [tool, named, input] of fields) {
          assert.strictEqual(yield* answer(workspace, tool, input(path)), `${named} ${problem}`, tool)
        }
      }).pipe(Effect.scoped, Effect.provide(toolbox()))
    )
  }

  it.live("a name of too many bytes is told by the file system, shortened", () =>
    Effect.gen(function* () {
      const workspace = yield* setUp
      for (const [tool, , input] of fields) {
        const text = yield* answer(workspace, tool, input("漢".repeat(200)))
        assert.match(text, /漢… is too long for the name of a file: shorten it/, tool)
        assert.isBelow(text.length, 300, tool)
      }
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("what lies below a file is said to do so", () =>
    Effect.gen(function* () {
      const workspace = yield* setUp
      for (const [tool, , input] of fields.filter(([name]) => name !== "edit")) {
        const text = yield* answer(workspace, tool, input("file/x"))
        assert.include(text, "file/x does not exist: a part of its path is a file and no folder", tool)
      }
      const edited = yield* answer(workspace, "edit", { path: "file/x", old_string: "x", new_string: "y" })
      assert.match(edited, /^file\/x does not exist; its folder \S+\/work\/file is no folder that can be listed$/)
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("the folder of a command is one, and is named as its field", () =>
    Effect.gen(function* () {
      const workspace = yield* setUp
      const remedy = "name a folder, or leave it out for the working folder"
      const told = (cwd: string) => answer(workspace, "bash", { command: "true", cwd })
      assert.strictEqual(yield* told("file"), `"cwd" names file, which is no folder: ${remedy}`)
      assert.strictEqual(yield* told("none"), `"cwd": none does not exist; ${remedy}`)
      // Outside nothing is looked at before that is allowed, and what is said is the same.
      assert.strictEqual(yield* told("/etc/passwd"), `"cwd" names /etc/passwd, which is no folder: ${remedy}`)
      assert.strictEqual(yield* told("../none"), `"cwd": ${workspace.cwd.slice(0, -5)}/none does not exist; ${remedy}`)
      const gone = { ...workspace, cwd: `${workspace.cwd}/file` }
      const elsewhere = yield* answer(gone, "bash", { command: "true" })
      assert.strictEqual(elsewhere, `${workspace.cwd}/file is no folder: commands run in one`)
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("no pattern and no command is given to a program that cannot take it", () =>
    Effect.gen(function* () {
      const workspace = yield* setUp
      const nul = "holds a NUL character: "
      for (const [tool, input, expected] of [
        ["bash", { command: "a\0b" }, `"command" ${nul}`],
        ["grep", { pattern: "a\0b" }, `"pattern" ${nul}`],
        ["grep", { pattern: "a", glob: "\0" }, `"glob" ${nul}`],
        ["grep", { pattern: "a", glob: " " }, '"glob" is empty: '],
        ["glob", { pattern: "a\0b" }, `"pattern" ${nul}`],
        ["glob", { pattern: "" }, '"pattern" is empty: '],
        ["grep", { pattern: "x".repeat(200_000) }, '"pattern" or "glob" is too long']
      ] as const) {
        const text = yield* answer(workspace, tool, input)
        assert.isTrue(text.startsWith(expected), `${tool}: ${text}`)
        assert.notMatch(text, /spawn|argument|Error/)
      }
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )
})
