/** Deny rules against the real tools, through the turn that joins them: whatever the name, nothing of a denied file shows. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import type { ExecutionMode } from "../../../src/domain/permission/ExecutionMode.ts"
import { makeFolder, platform, read, write } from "../../support/toolbox.ts"
import { type Call, type Given, use } from "../../support/judged.ts"

/** Without `rg` in sight, searches walk by themselves. */
const WITHOUT_RIPGREP = "/nonexistent"

const text = (given: Given, ...call: Call) => Effect.map(use(given, call), ([outcome]) => outcome?.text ?? "")

const isDenied = ({ status, text }: { readonly status: string; readonly text: string }) =>
  status === "failed" && text.startsWith("Denied")

/** Every file holds the word, and a name of its own. */
const makeTree = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const { base, work } = yield* makeFolder
  for (const folder of ["secret/deep", "src"]) yield* fs.makeDirectory(`${work}/${folder}`, { recursive: true })
  yield* write(`${work}/secret/a`, "needle in secret/a\n")
  yield* write(`${work}/secret/deep/b`, "needle in secret/deep/b\n")
  yield* write(`${work}/.env`, "needle in .env\n")
  yield* write(`${work}/src/.env`, "needle in src/.env\n")
  yield* write(`${work}/src/c.ts`, "needle in src/c.ts\n")
  yield* fs.symlink("secret/a", `${work}/x`)
  yield* fs.symlink("secret", `${work}/d`)
  yield* fs.symlink(".", `${work}/self`)
  return { base, fs, work }
})

const ignored = "(git-ignored files were not searched; include_ignored searches them)"
const deny = ["Read(secret/**)", "Read(**/.env)"]

describe("what deny rules hide below a folder", () => {
  for (const [name, programs] of [
    ["with ripgrep", undefined],
    ["without ripgrep", WITHOUT_RIPGREP]
  ] as const) {
    it.live(`${name}: no line and no name of it, only how much there is`, () =>
      Effect.gen(function* () {
        const { work } = yield* makeTree
        const given: Given = { cwd: work, rules: { deny }, programs }
        const note = "(4 files are hidden by a deny rule)"
        assert.strictEqual(
          yield* text(given, "grep", { pattern: "needle" }),
          `src/c.ts:1: needle in src/c.ts\n${ignored}\n${note}`
        )
        assert.strictEqual(
          yield* text(given, "grep", { pattern: "needle", include_ignored: true, glob: "!*.md" }),
          `src/c.ts:1: needle in src/c.ts\n${note}`
        )
        assert.strictEqual(yield* text(given, "glob", { pattern: "*" }), `src/c.ts\n${ignored}\n${note}`)
        assert.strictEqual(
          yield* text(given, "grep", { pattern: "needle", path: "src" }),
          `src/c.ts:1: needle in src/c.ts\n${ignored}\n(1 file is hidden by a deny rule)`
        )
        assert.strictEqual(
          yield* text(given, "grep", { pattern: "needle", path: "src/c.ts" }),
          `src/c.ts:1: needle in src/c.ts\n${ignored}`
        )
        assert.strictEqual(yield* text(given, "list", {}), "self/\nsrc/\n(4 files are hidden by a deny rule)")
        assert.strictEqual(yield* text(given, "list", { path: "src" }), "c.ts\n(1 file is hidden by a deny rule)")
      }).pipe(Effect.provide(platform))
    )

    it.live(`${name}: the number says nothing about what is in a hidden file, or about its name`, () =>
      Effect.gen(function* () {
        const { work } = yield* makeTree
        const given: Given = { cwd: work, rules: { deny }, programs }
        const answers = yield* Effect.forEach(
          ["needle in secret", "needle in secret/deep/b", "nothing of the kind", "^needle in [.]env$"],
          (pattern) => text(given, "grep", { pattern })
        )
        assert.deepStrictEqual([...new Set(answers)], [`No matches.\n${ignored}\n(4 files are hidden by a deny rule)`])
        const names = yield* Effect.forEach(["secret/a", "secret/z", "*.env", "**/deep/*"], (pattern) =>
          text(given, "glob", { pattern })
        )
        assert.deepStrictEqual(
          [...new Set(names)],
          [`No files match.\n${ignored}\n(4 files are hidden by a deny rule)`]
        )
      }).pipe(Effect.provide(platform))
    )

    it.live(`${name}: also where a link is looked into, or the workspace is one itself`, () =>
      Effect.gen(function* () {
        const { base, fs, work } = yield* makeTree
        yield* fs.symlink(work, `${base}/alias`)
        for (const cwd of [work, `${base}/alias`]) {
          for (const path of [".", "self", "self/self", `${base}/alias`, work]) {
            const answer = yield* text({ cwd, rules: { deny }, programs }, "grep", { pattern: "needle", path })
            assert.include(answer, "src/c.ts:1: needle in src/c.ts", `${cwd} ${path}`)
            assert.notMatch(answer, /in (secret|\.env|src\/\.env)/, `${cwd} ${path}`)
            assert.include(answer, "(4 files are hidden by a deny rule)")
          }
        }
        const written: Given = { cwd: work, rules: { deny: ["Read(*/secret/**)"] }, programs }
        assert.include(yield* text(written, "grep", { pattern: "needle" }), "in secret/a")
        assert.notInclude(yield* text(written, "grep", { pattern: "needle", path: "self" }), "in secret")
        assert.notInclude(yield* text(written, "glob", { pattern: "*", path: "self" }), "secret")
        assert.notInclude(yield* text(written, "list", { path: "self" }), "secret")
      }).pipe(Effect.provide(platform))
    )
  }

  it.live("without a rule about reading, everything shows and no note is made", () =>
    Effect.gen(function* () {
      const { work } = yield* makeTree
      for (const deny of [[], ["Edit(secret/**)", "Bash(rm *)"]]) {
        const given: Given = { cwd: work, rules: { deny } }
        const [grep, glob, list] = yield* use(
          given,
          ["grep", { pattern: "needle" }],
          ["glob", { pattern: "*" }],
          ["list", {}]
        )
        assert.strictEqual(grep?.text.split("\n").length, 6)
        assert.strictEqual(glob?.text.split("\n").length, 6)
        assert.strictEqual(list?.text, ".env\nd/\nsecret/\nself/\nsrc/\nx")
      }
    }).pipe(Effect.provide(platform))
  )

  it.live("rules for searches bind searches only", () =>
    Effect.gen(function* () {
      const { work } = yield* makeTree
      const given: Given = { cwd: work, rules: { deny: ["Grep(secret/**)"] } }
      assert.notInclude(yield* text(given, "grep", { pattern: "needle" }), "in secret")
      assert.notInclude(yield* text(given, "glob", { pattern: "*" }), "secret")
      assert.include(yield* text(given, "list", {}), "secret/")
      assert.strictEqual(yield* text(given, "list", { path: "secret" }), "a\ndeep/")
    }).pipe(Effect.provide(platform))
  )

  it.live("a folder of nothing else is not called empty", () =>
    Effect.gen(function* () {
      const { fs, work } = yield* makeTree
      yield* fs.makeDirectory(`${work}/only`)
      yield* write(`${work}/only/.env`, "needle")
      yield* fs.makeDirectory(`${work}/none`)
      const given: Given = { cwd: work, rules: { deny } }
      assert.strictEqual(yield* text(given, "list", { path: "only" }), "(1 file is hidden by a deny rule)")
      assert.strictEqual(yield* text(given, "list", { path: "none" }), "(the folder is empty)")
    }).pipe(Effect.provide(platform))
  )

  it.live("what may have been meant is no hidden name", () =>
    Effect.gen(function* () {
      const { work } = yield* makeTree
      yield* write(`${work}/src/private.key`, "needle")
      const calls: ReadonlyArray<Call> = [
        ["read", { path: "src/private.kez" }],
        ["edit", { path: "src/private.kez", old_string: "a", new_string: "b" }],
        ["list", { path: "src/private.kez" }]
      ]
      for (const { text } of yield* use({ cwd: work }, ...calls)) assert.include(text, "private.key")
      for (const { text } of yield* use({ cwd: work, rules: { deny: ["Read(**/*.key)"] } }, ...calls)) {
        assert.notInclude(text, "private.key")
      }
    }).pipe(Effect.provide(platform))
  )
})

describe("rules and links (F89)", () => {
  it.live("a deny rule holds for every name of a file, in every tool", () =>
    Effect.gen(function* () {
      const { base, fs, work } = yield* makeTree
      yield* fs.symlink(work, `${base}/alias`)
      yield* fs.symlink("d/../secret/a", `${work}/detour`)
      const edits: ReadonlyArray<Call> = ["x", "d/a", "self/secret/a", "detour", `${base}/alias/x`].flatMap(
        (path): ReadonlyArray<Call> => [
          ["write", { path, content: "overwritten" }],
          ["edit", { path, old_string: "needle", new_string: "overwritten" }]
        ]
      )
      const reads: ReadonlyArray<Call> = ["x", "d/a", "self/secret/a", "detour", `${base}/alias/x`].flatMap(
        (path): ReadonlyArray<Call> => [
          ["read", { path }],
          ["grep", { pattern: "needle", path }]
        ]
      )
      const commands = [
        "cat x",
        "cat d/a",
        "cat detour",
        "cat < ./x",
        "cat self/self/x",
        `cat ${base}/alias/x`,
        "cd d && cat a",
        "cd self; cd d; cat deep/b",
        "cat src/../d/a",
        "cat d/deep/../a",
        "cat secret/*",
        "head -c 100 -- 'x'",
        "bash -c 'cat x'",
        "tool --input=x",
        "git show HEAD:x",
        "cat $PWD/x",
        "echo gone > x",
        "echo gone > d/new"
      ]
      const shell = commands.map((command): Call => ["bash", { command }])
      for (const cwd of [work, `${base}/alias`]) {
        const rules = { deny: ["Read(secret/**)", "Edit(secret/**)"] }
        const calls = [...edits, ...reads, ["write", { path: "d/new", content: "x" }], ...shell] satisfies Array<Call>
        const outcomes = yield* use({ cwd, rules }, ...calls)
        assert.strictEqual(outcomes.length, calls.length)
        for (const [at, outcome] of outcomes.entries()) assert.isTrue(isDenied(outcome), JSON.stringify(calls[at]))
      }
      assert.strictEqual(yield* read(`${work}/secret/a`), "needle in secret/a\n")
      assert.isFalse(yield* fs.exists(`${work}/secret/new`))
    }).pipe(Effect.provide(platform))
  )

  it.live("a deny rule that names a link holds for what it leads to", () =>
    Effect.gen(function* () {
      const { base, fs, work } = yield* makeTree
      yield* fs.makeDirectory(`${base}/vault`)
      yield* write(`${base}/vault/key`, "needle in vault")
      yield* fs.symlink(`${base}/vault`, `${work}/keys`)
      for (const rule of ["Read(keys/**)", "Read(keys)", "Read(keys/*)", `Read(${base}/vault/**)`]) {
        const outcomes = yield* use(
          { cwd: work, rules: { deny: [rule] } },
          ["read", { path: "keys/key" }],
          ["read", { path: `${base}/vault/key` }],
          ["bash", { command: `cat ${base}/vault/key` }]
        )
        assert.deepStrictEqual(outcomes.map(isDenied), [true, true, true], rule)
      }
    }).pipe(Effect.provide(platform))
  )

  it.live("an allow rule needs both names, and follows no link of the workspace", () =>
    Effect.gen(function* () {
      const { base, fs, work } = yield* makeTree
      yield* fs.makeDirectory(`${base}/elsewhere`)
      yield* fs.symlink(`${base}/elsewhere`, `${work}/out`)
      yield* fs.symlink("../secret/a", `${work}/src/link`)
      yield* fs.symlink(work, `${base}/alias`)
      const allowed = Effect.fnUntraced(function* (allow: ReadonlyArray<string>, path: string, cwd = work) {
        const [outcome] = yield* use({ cwd, mode: "ask", rules: { allow } }, ["write", { path, content: "changed" }])
        return outcome?.status === "result"
      })
      assert.isFalse(yield* allowed(["Edit(out/**)"], "out/new"))
      assert.isFalse(yield* allowed([`Edit(${base}/elsewhere/**)`], "out/new"))
      assert.isFalse(yield* allowed(["Edit(src/**)"], "src/link"))
      assert.isFalse(yield* allowed(["Edit(secret/**)"], "src/link"))
      assert.strictEqual(yield* read(`${work}/secret/a`), "needle in secret/a\n")
      assert.isTrue(yield* allowed(["Edit(out/**)", `Edit(${base}/elsewhere/**)`], "out/new"))
      assert.isTrue(yield* allowed(["Edit(src/**)", "Edit(secret/**)"], "src/link"))
      for (const path of ["src/new", `${work}/src/new`, `${base}/alias/src/new`]) {
        assert.isTrue(yield* allowed(["Edit(src/**)"], path, `${base}/alias`), path)
      }
    }).pipe(Effect.provide(platform))
  )
})

describe("additional directories", () => {
  it.live("are read and edited like the working folder, by tools and by commands", () =>
    Effect.gen(function* () {
      const { base, fs, work } = yield* makeTree
      yield* fs.makeDirectory(`${base}/lib/.git`, { recursive: true })
      yield* fs.makeDirectory(`${base}/other`)
      yield* write(`${base}/lib/a`, "in lib\n")
      yield* write(`${base}/other/a`, "in other\n")
      yield* fs.symlink(`${base}/other/a`, `${base}/lib/way-out`)
      yield* fs.symlink(`${base}/lib`, `${base}/lib-link`)
      const status = (mode: ExecutionMode, lib: string, ...call: Call) =>
        Effect.map(use({ cwd: work, roots: [lib], mode }, call), ([outcome]) => outcome?.status)
      for (const lib of [`${base}/lib`, `${base}/lib-link`]) {
        for (const command of [`cat ${lib}/a`, `cd ${lib} && cat a`, `grep -rn lib ${lib}`]) {
          assert.strictEqual(yield* status("ask", lib, "bash", { command }), "result", command)
        }
        for (const command of [
          `cat ${base}/other/a`,
          `cat ${lib}/way-out`,
          `cat ${lib}/*`,
          `cat ${lib}/../other/a`,
          `cd ${lib} && git status`,
          `echo > ${lib}/b`
        ]) {
          assert.strictEqual(yield* status("ask", lib, "bash", { command }), "failed", command)
        }
        const change = { content: "changed" }
        assert.strictEqual(yield* status("ask", lib, "read", { path: `${lib}/a` }), "result")
        assert.strictEqual(yield* status("ask", lib, "write", { ...change, path: `${lib}/b` }), "failed")
        assert.strictEqual(yield* status("accept-edits", lib, "write", { ...change, path: `${lib}/b` }), "result")
        assert.strictEqual(yield* status("accept-edits", lib, "write", { ...change, path: `${lib}/way-out` }), "failed")
        assert.strictEqual(
          yield* status("accept-edits", lib, "write", { ...change, path: `${lib}/.git/config` }),
          "failed"
        )
      }
      assert.strictEqual(yield* read(`${base}/other/a`), "in other\n")
    }).pipe(Effect.provide(platform))
  )
})

const part = Arbitrary.schema(Schema.Literals(["a", "b", "c", "l", "m", ".."]))
const path = Arbitrary.map(Arbitrary.array(part, { minLength: 1, maxLength: 4 }), (parts) => parts.join("/"))
const target = Arbitrary.schema(Schema.Literals([".", "..", "a", "b", "../a", "../b", "../a/c", "a/b", "../c"]))
const denied = Arbitrary.schema(Schema.Literals(["a", "b", "a/b", "b/c", "c"]))

describe("any file, under any name", () => {
  it.effect.prop(
    "shows nothing of itself once it is denied, and nothing else is lost",
    [
      denied,
      Arbitrary.array(target, { minLength: 6, maxLength: 6 }),
      Arbitrary.array(path, { minLength: 1, maxLength: 4 })
    ],
    ([denied, targets, paths]) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { work } = yield* makeFolder
        const folders = ["a", "a/b", "a/c", "b", "b/c", "c"]
        for (const folder of folders) yield* fs.makeDirectory(`${work}/${folder}`, { recursive: true })
        for (const folder of folders) yield* write(`${work}/${folder}/f`, `token of ${folder}/f\n`)
        for (const [at, folder] of folders.entries()) {
          yield* fs.symlink(targets[at] ?? ".", `${work}/${folder}/l`)
          yield* fs.symlink(`${targets[at] ?? "."}/f`, `${work}/${folder}/m`)
        }
        const calls = paths.flatMap((path): ReadonlyArray<Call> => [
          ["grep", { pattern: "token", path }],
          ["glob", { pattern: "*", path }],
          ["list", { path }],
          ["read", { path }],
          ["read", { path: `${path}/f` }],
          ["bash", { command: `cat ${path}; cat ${path}/f; cd ${path} && cat f m` }]
        ])
        for (const programs of [process.env["PATH"], WITHOUT_RIPGREP]) {
          const given: Given = { cwd: work, rules: { deny: [`Read(${denied}/**)`] }, programs }
          const [whole, ...outcomes] = yield* use(given, ["grep", { pattern: "token" }], ...calls)
          for (const [at, { text }] of outcomes.entries()) {
            for (const line of text.split("\n").filter((line) => line.includes("token of"))) {
              assert.isFalse(
                line.split("token of ")[1]?.startsWith(`${denied}/`),
                JSON.stringify([denied, calls[at], text])
              )
            }
          }
          for (const folder of folders) {
            const isShown = whole?.text.includes(`token of ${folder}/f`) ?? false
            assert.strictEqual(isShown, !`${folder}/`.startsWith(`${denied}/`), folder)
          }
        }
      }).pipe(Effect.scoped, Effect.provide(platform)),
    { arbitrary: { runs: 8 }, timeout: 20_000 }
  )
})
