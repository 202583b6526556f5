import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { applyHunks } from "../../src/domain/text/patch/ApplyHunks.ts"
import { parseEnvelope } from "../../src/domain/text/patch/Envelope.ts"
import { parsePatch } from "../../src/domain/text/patch/Patch.ts"
import { call, makeFolder, makeWorkspace, toolbox } from "../support/toolbox.ts"

const pair = <A, B>(one: Arbitrary.Arbitrary<A>, other: Arbitrary.Arbitrary<B>) =>
  Arbitrary.flatMap(one, (first) => Arbitrary.map(other, (second) => [first, second] as const))

/** Lines that a reader of patches could take for something else, too. */
const line = Arbitrary.schema(
  Schema.Literals(["a", "b", "{", "}", "", " x", "\tx", "é", "-- a", "++ b", "@@ -1 +1 @@", "diff --git a/x b/x"])
)
const ending = Arbitrary.schema(Schema.Literals(["\n", "\n", "\n", "\r\n"]))
const lines = Arbitrary.array(pair(line, ending), { maxLength: 12 })

/** A text with or without a line end at its end. */
const text = Arbitrary.map(pair(lines, Arbitrary.schema(Schema.Boolean)), ([parts, isOpen]) => {
  const whole = parts.map((part) => part.join("")).join("")
  return isOpen ? whole.replace(/\r?\n$/, "") : whole
})

/** What happens to a text: some lines go, some come. */
const change = Arbitrary.array(
  Arbitrary.map(
    pair(
      pair(Arbitrary.schema(Schema.Literals([0, 1, 2, 3, 5, 8, 12])), Arbitrary.schema(Schema.Literals([0, 1, 2]))),
      text
    ),
    ([[at, removed], added]) => [at, removed, added] as const
  ),
  { maxLength: 3 }
)

type Change = ReadonlyArray<readonly [at: number, removed: number, added: string]>

const changed = (whole: string, changes: Change): string => {
  const parts = whole.match(/[^\n]*\n|[^\n]+$/g) ?? []
  for (const [at, removed, added] of changes) parts.splice(Math.min(at, parts.length), removed, added)
  return parts.join("")
}

const names = ["a.txt", "sub/b c.txt", 'ü"q.txt', "-dash.txt"]

const put = (folder: string, files: ReadonlyMap<string, string>) => {
  for (const [name, content] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
}

const get = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => !name.startsWith(".git") && statSync(join(folder, name)).isFile())
      .toSorted()
      .map((name) => [name, readFileSync(join(folder, name), "utf8")] as const)
  )

const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-c", "core.autocrlf=false", ...args], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" }
  })

const treeOf = (folder: string, files: ReadonlyMap<string, string>) => {
  for (const name of readdirSync(folder)) if (name !== ".git") rmSync(join(folder, name), { recursive: true })
  put(folder, files)
  git(folder, "add", "-A")
  return git(folder, "write-tree").trim()
}

const noGit = { ...process.env, GIT_CONFIG_NOSYSTEM: "1" }

describe("apply_patch", () => {
  it.live.prop(
    "does what git does with what git writes",
    [
      Arbitrary.array(pair(Arbitrary.schema(Schema.Literals(names)), pair(text, change)), {
        minLength: 1,
        maxLength: 4
      }),
      Arbitrary.schema(Schema.Literals(["none", "create", "delete", "rename"])),
      Arbitrary.schema(Schema.Literals([0, 1, 3]))
    ],
    ([given, more, context]) =>
      Effect.gen(function* () {
        const { base, work } = yield* makeFolder
        const before = new Map(given.map(([name, [whole]]) => [name, whole] as const))
        const after = new Map(given.map(([name, [whole, changes]]) => [name, changed(whole, changes)] as const))
        const [first] = given
        if (first !== undefined && more !== "none") {
          const [name] = first
          if (more === "create") after.set("made/new.txt", first[1][0])
          else {
            const content = after.get(name) ?? ""
            after.delete(name)
            if (more === "rename") after.set("moved/to.txt", content)
          }
        }
        mkdirSync(`${base}/git`)
        git(`${base}/git`, "init", "-q")
        const trees = [treeOf(`${base}/git`, before), treeOf(`${base}/git`, after)]
        const patch = git(`${base}/git`, "diff-tree", "-p", "-M30", `-U${context}`, ...trees)
        put(work, before)
        if (patch === "") return
        const { outcome } = yield* call("apply_patch", { patch }, makeWorkspace(work))
        // Without any context nobody can tell where lines belong, nor in a file of many equal lines.
        const isUnsure = /add (more context|lines around)/.test(outcome.text)
        if (outcome.status === "failed" && isUnsure) {
          assert.isTrue(context < 3 || /fits \d+ places/.test(outcome.text), `${outcome.text}\n${patch}`)
          return assert.deepStrictEqual(get(work), before)
        }
        assert.strictEqual(outcome.status, "completed", `${outcome.text}\n${patch}`)
        assert.deepStrictEqual(get(work), after, patch)
      }).pipe(Effect.scoped, Effect.provide(toolbox())),
    { arbitrary: { runs: 40 }, timeout: 30_000 }
  )

  it.live.prop(
    "goes where git goes when the file has moved on, or says that it does not know",
    [text, change, change],
    ([whole, changes, drift]) =>
      Effect.gen(function* () {
        const { work } = yield* makeFolder
        const fresh = changed(whole, changes)
        const drifted = changed(whole, drift)
        mkdirSync(`${work}/a`)
        mkdirSync(`${work}/b`)
        writeFileSync(`${work}/a/f`, whole)
        writeFileSync(`${work}/b/f`, fresh)
        const diff = spawnSync("git", ["diff", "--no-index", "--no-prefix", "a/f", "b/f"], {
          cwd: work,
          encoding: "utf8",
          env: noGit
        })
          .stdout.replaceAll(/^(---|\+\+\+) [ab]\/f$/gm, "$1 f")
          .replace(/^diff --git .*\nindex .*\n/, "")
        if (diff === "" || !diff.includes("@@")) return
        rmSync(`${work}/a`, { recursive: true })
        rmSync(`${work}/b`, { recursive: true })
        writeFileSync(`${work}/f`, drifted)
        writeFileSync(`${work}/p`, diff)
        const applied = spawnSync("git", ["apply", "-p0", "--whitespace=nowarn", "p"], { cwd: work, env: noGit })
        const parsed = parsePatch(diff)
        if (Result.isFailure(parsed)) return assert.fail(`${parsed.failure.message}\n${diff}`)
        const ours = applyHunks("f", drifted, parsed.success[0]?.hunks ?? [])
        if (applied.status === 0 && existsSync(`${work}/f`)) {
          if (Result.isSuccess(ours)) assert.strictEqual(ours.success.text, readFileSync(`${work}/f`, "utf8"), diff)
          // Git takes the nearest of several places.
          else assert.match(ours.failure.message, /fits \d+ places|adds lines to nothing/)
        } else if (Result.isSuccess(ours)) {
          // Git also wants the ends of the file where a hunk was at one of them; the lines were there all the same.
          const removed = parsed.success.flatMap(({ hunks }) =>
            hunks.map((hunk) => hunk.lines.filter(({ tag }) => tag !== "+").map((each) => each.text.trimEnd()))
          )
          const present = drifted
            .split("\n")
            .map((each) => each.trimEnd())
            .join("\n")
          for (const piece of removed)
            assert.include(`\n${present}\n`, `\n${piece.join("\n")}${piece.length > 0 ? "\n" : ""}`)
        }
      }).pipe(Effect.scoped, Effect.provide(toolbox())),
    { arbitrary: { runs: 60 }, timeout: 30_000 }
  )

  it.prop(
    "takes the form without line numbers for the same change",
    [text, change],
    ([whole, changes]) => {
      const unix = whole.replaceAll("\r\n", "\n")
      const before = unix.endsWith("\n") || unix === "" ? unix : `${unix}\n`
      const fresh = changed(
        before,
        changes.map(([at, removed, added]) => [at, removed, added.replaceAll("\r\n", "\n").replace(/([^\n])$/, "$1\n")])
      )
      if (fresh === before || before === "") return
      // The whole file as one hunk: every old line goes, every new one comes.
      const body = [
        ...before
          .replace(/\n$/, "")
          .split("\n")
          .map((each) => `-${each}`),
        ...(fresh === ""
          ? []
          : fresh
              .replace(/\n$/, "")
              .split("\n")
              .map((each) => `+${each}`))
      ]
      const parsed = parseEnvelope(["*** Begin Patch", "*** Update File: f", "@@", ...body, "*** End Patch"].join("\n"))
      if (Result.isFailure(parsed)) return assert.fail(parsed.failure.message)
      const applied = applyHunks("f", before, parsed.success[0]?.hunks ?? [])
      assert.deepStrictEqual(
        Result.map(applied, (result) => result.text),
        Result.succeed(fresh)
      )
    },
    { arbitrary: { runs: 300 } }
  )

  const noise = Arbitrary.map(
    Arbitrary.array(
      Arbitrary.schema(
        Schema.Literals([
          "--- a/f",
          "+++ b/f",
          "@@ -1,2 +1 @@",
          "@@",
          "diff --git a/f b/f",
          "-x",
          "+y",
          " z",
          "",
          "*** Update File: f",
          "*** Begin Patch",
          "*** End Patch",
          "\\ No newline at end of file",
          "new file mode 100644",
          "rename from a",
          "GIT binary patch"
        ])
      ),
      { maxLength: 12 }
    ),
    (parts) => parts.join("\n")
  )

  it.prop(
    "never throws, whatever it is given",
    [noise, text],
    ([patch, whole]) => {
      const parsed = parsePatch(patch)
      if (Result.isFailure(parsed)) return assert.isNotEmpty(parsed.failure.message)
      for (const { hunks } of parsed.success) applyHunks("f", whole, hunks)
    },
    { arbitrary: { runs: 1000 } }
  )
})
