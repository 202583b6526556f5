/** Keys and the agent's own folder inside of a workspace, against the real tools: nothing of them shows unasked. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { ExecutionMode } from "../../../src/domain/permission/ExecutionMode.ts"
import { type Call, type Given, use } from "../../support/judged.ts"
import { call, makeFolder, makeWorkspace, platform, prepare, read, toolbox, write } from "../../support/toolbox.ts"

/** A home with keys, the agent's own folder and a project in it. Every private file holds the word KEY. */
const makeHome = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const { base, work: person } = yield* makeFolder
  const home = `${person}/.supercharge`
  for (const folder of [".ssh/project", ".config/gh", ".supercharge/sessions/s", "notes"]) {
    yield* fs.makeDirectory(`${person}/${folder}`, { recursive: true })
  }
  const secrets = [".ssh/id", ".ssh/project/a", ".config/gh/hosts.yml", ".netrc", ".supercharge/config.toml"]
  for (const name of secrets) yield* write(`${person}/${name}`, `KEY of ${name}\n`)
  yield* write(`${person}/notes/a`, "KEY is a word\n")
  yield* write(`${person}/.config/settings`, "KEY is a word\n")
  yield* fs.symlink(".ssh", `${person}/keys`)
  yield* fs.symlink("../.netrc", `${person}/notes/net`)
  const given: Given = { cwd: person, person, home, mode: "ask" }
  return { base, fs, given, home, person, secrets }
})

const statusOf = (given: Given, ...call: Call) => Effect.map(use(given, call), ([outcome]) => outcome?.status)

const textOf = (given: Given, ...call: Call) => Effect.map(use(given, call), ([outcome]) => outcome?.text ?? "")

describe("a workspace that holds the home of the person", { concurrent: true }, () => {
  for (const mode of ["plan", "ask", "accept-edits", "auto"] as const satisfies ReadonlyArray<ExecutionMode>) {
    it.live(`${mode}: what is private is neither read nor listed unasked, under any name`, () =>
      Effect.gen(function* () {
        const { base, given, person, secrets } = yield* makeHome
        const names = [
          ...secrets,
          "keys/id",
          "notes/net",
          "notes/../.ssh/id",
          "~/.netrc",
          `${person}/.ssh/id`,
          ".SSH/id"
        ]
        const calls = [
          ...names.flatMap((path): ReadonlyArray<Call> => [
            ["read", { path }],
            ["grep", { pattern: "KEY", path }]
          ]),
          ...[".ssh", "keys", ".supercharge", ".config/gh", ".ssh/project"].flatMap((path): ReadonlyArray<Call> => [
            ["list", { path }],
            ["glob", { pattern: "*", path }]
          ])
        ]
        for (const cwd of [person, base]) {
          const where = (input: Record<string, unknown>) =>
            cwd === base && /^[^~/]/.test(String(input["path"])) ? { ...input, path: `work/${input["path"]}` } : input
          const outcomes = yield* use(
            { ...given, cwd, mode },
            ...calls.map(([name, input]): Call => [name, where(input)])
          )
          for (const [at, { status, text }] of outcomes.entries()) {
            assert.strictEqual(status, "failed", JSON.stringify(calls[at]))
            assert.notInclude(text, "KEY of")
          }
          const open = yield* use({ ...given, cwd, mode }, ["read", { path: `${person}/notes/a` }])
          assert.include(open[0]?.text, "KEY is a word")
        }
      }).pipe(Effect.scoped, Effect.provide(platform))
    )
  }

  it.live("nothing private is written unasked, there or not yet", () =>
    Effect.gen(function* () {
      const { fs, given, person } = yield* makeHome
      const paths = [
        ".ssh/authorized_keys",
        "keys/new",
        ".supercharge/config.toml",
        ".supercharge/new",
        ".aws/x",
        ".pgpass"
      ]
      for (const path of paths) {
        for (const mode of ["accept-edits", "auto"] as const) {
          assert.strictEqual(yield* statusOf({ ...given, mode }, "write", { path, content: "x" }), "failed", path)
        }
      }
      for (const path of [".ssh/authorized_keys", ".supercharge/new", ".aws/x", ".pgpass"]) {
        assert.isFalse(yield* fs.exists(`${person}/${path}`), path)
      }
      const patch = "--- a/.ssh/id\n+++ b/.ssh/id\n@@ -1 +1 @@\n-KEY of .ssh/id\n+x\n"
      assert.strictEqual(yield* statusOf({ ...given, mode: "auto" }, "apply_patch", { patch }), "failed")
      const edit = { path: ".ssh/id", old_string: "KEY", new_string: "x" }
      assert.strictEqual(yield* statusOf({ ...given, mode: "auto" }, "edit", edit), "failed")
      assert.strictEqual(yield* read(`${person}/.ssh/id`), "KEY of .ssh/id\n")
      const ordinary = { path: "notes/new", content: "x" }
      assert.strictEqual(yield* statusOf({ ...given, mode: "accept-edits" }, "write", ordinary), "result")
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  for (const [name, programs] of [
    ["with ripgrep", process.env["PATH"]],
    ["without ripgrep", "/nonexistent"]
  ] as const) {
    it.live(`${name}: searches and listings leave it out in every mode, and say so`, () =>
      Effect.gen(function* () {
        const { base, given, person } = yield* makeHome
        const left = [".supercharge", ".ssh", ".config/gh", ".netrc"].map((place) => `${person}/${place}`).join(", ")
        const note = `(left out as private: ${left}; a call that names one as its path asks the user)`
        for (const mode of ["ask", "always-approve"] as const) {
          for (const cwd of [person, base, "/"]) {
            if (cwd === "/" && programs === "/nonexistent") continue
            const path = cwd === "/" ? { path: base } : {}
            const grep = yield* textOf({ ...given, cwd, mode, programs }, "grep", {
              pattern: "KEY",
              include_ignored: true,
              ...path
            })
            assert.notInclude(grep, "KEY of", cwd)
            assert.include(grep, "notes/a:1: KEY is a word")
            assert.include(grep, ".config/settings:1: KEY is a word")
            assert.include(grep, note)
            const glob = yield* textOf({ ...given, cwd, mode, programs }, "glob", { pattern: "*", ...path })
            const files = glob.split("\n").filter((line) => !line.startsWith("("))
            assert.deepStrictEqual(
              files.map((line) => line.replace(/^.*?(?=\.config|notes)/, "")),
              [".config/settings", "notes/a"]
            )
            assert.include(glob, note)
          }
          const list = yield* textOf({ ...given, mode }, "list", {})
          assert.strictEqual(
            list,
            ".config/\nnotes/\n(left out as private: .netrc, .ssh, .supercharge, keys; a call that names one as its path asks the user)"
          )
          assert.include(
            yield* textOf({ ...given, mode }, "list", { path: ".config" }),
            "settings\n(left out as private: gh;"
          )
        }
        const deny = ["Read(**/.netrc)", "Read(notes/**)"]
        const both = yield* textOf({ ...given, programs, rules: { deny } }, "grep", { pattern: "KEY" })
        assert.include(both, "(1 file is hidden by a deny rule)")
      }).pipe(Effect.scoped, Effect.provide(platform))
    )
  }

  it.live("commands that nothing confines ask for it, also where they go through a folder", () =>
    Effect.gen(function* () {
      const { given } = yield* makeHome
      const asks = [
        "cat .ssh/id",
        "cat keys/id",
        "cat < .netrc",
        "cd .ssh && cat id",
        "cat */id",
        "head notes/net",
        "ls .supercharge",
        "grep -r KEY",
        "grep -rn KEY .",
        "rg KEY",
        "find . -name id",
        "ls -R",
        "du -a .",
        "cd notes && grep -r KEY .."
      ]
      for (const command of asks) assert.strictEqual(yield* statusOf(given, "bash", { command }), "failed", command)
      for (const command of ["cat notes/a", "ls -la", "wc -l notes/a"]) {
        assert.strictEqual(yield* statusOf(given, "bash", { command }), "result", command)
      }
      assert.strictEqual(yield* statusOf(given, "bash", { command: "pwd", cwd: ".ssh" }), "failed")
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.live("a folder of it that is a root itself is open, and no more than that", () =>
    Effect.gen(function* () {
      const { given, person } = yield* makeHome
      const project = `${person}/.ssh/project`
      for (const one of [
        { ...given, cwd: project },
        { ...given, roots: [project] }
      ]) {
        assert.include(yield* textOf(one, "read", { path: `${project}/a` }), "KEY of .ssh/project/a")
        assert.include(yield* textOf(one, "grep", { pattern: "KEY", path: project }), "KEY of .ssh/project/a")
        assert.include(yield* textOf(one, "list", { path: project }), "a")
        assert.strictEqual(yield* statusOf(one, "read", { path: `${person}/.ssh/id` }), "failed")
        assert.strictEqual(yield* statusOf(one, "read", { path: `${person}/.netrc` }), "failed")
      }
      const own = { ...given, cwd: `${person}/.supercharge` }
      assert.include(yield* textOf(own, "read", { path: "config.toml" }), "KEY")
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.live("where a private folder is a link, what it leads to is private", () =>
    Effect.gen(function* () {
      const { fs, given, person } = yield* makeHome
      yield* fs.makeDirectory(`${person}/dotfiles`)
      yield* fs.rename(`${person}/.ssh`, `${person}/dotfiles/ssh`)
      yield* fs.symlink("dotfiles/ssh", `${person}/.ssh`)
      for (const path of [".ssh/id", "dotfiles/ssh/id", "keys/id"]) {
        assert.strictEqual(yield* statusOf(given, "read", { path }), "failed", path)
      }
      assert.notInclude(yield* textOf(given, "grep", { pattern: "KEY" }), "KEY of")
      const dotfiles = { ...given, cwd: `${person}/dotfiles` }
      assert.strictEqual(yield* statusOf(dotfiles, "read", { path: "ssh/id" }), "failed")
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.live("of the session's own folder only output is readable, and a question names the real path", () =>
    Effect.gen(function* () {
      const { fs, home, person } = yield* makeHome
      const scratch = `${home}/sessions/s`
      const output = `${scratch}/output/output-1-1.txt`
      for (const folder of ["output", "changes"]) yield* fs.makeDirectory(`${scratch}/${folder}`)
      yield* write(output, "output\n")
      yield* write(`${scratch}/changes/0a`, "KEY of .ssh/id\n")
      const workspace = makeWorkspace(person, { scratch })
      yield* Effect.gen(function* () {
        const spill = yield* prepare("read", { path: output }, workspace)
        assert.deepStrictEqual(spill.access, { _tag: "Read", paths: [output], outside: [] })
        const found = yield* call("grep", { pattern: "out", path: `${scratch}/output` }, workspace)
        assert.include(found.outcome.text, "output-1-1.txt:1: output")
        for (const path of [scratch, `${scratch}/changes`, `${scratch}/output/../changes/0a`]) {
          const { access } = yield* prepare("grep", { pattern: "KEY", path }, workspace)
          assert.notDeepEqual(access._tag === "Read" ? access.outside : [], [], path)
        }
        const key = yield* prepare("read", { path: "keys/id" }, workspace)
        assert.deepInclude(key.access, { outside: [`${person}/.ssh/id`] })
      }).pipe(Effect.provide(toolbox({ environment: { HOME: person }, settings: { home } })))
    }).pipe(Effect.scoped, Effect.provide(platform))
  )
})
