import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { always, newSession, open, type OpenOptions, questions, turn } from "../support/Probe.ts"
import { folder } from "../support/Program.ts"
import type { JsonObject } from "../support/RawAgent.ts"
import { at } from "../support/Schema.ts"
import { callsOf, shownBy, updatesOf } from "../support/Updates.ts"

const call = (name: string, input: JsonObject) => ({ tool: { name, input } })
const done = { parts: [{ text: "done" }] }

const run = Effect.fnUntraced(function* (place: string, options: OpenOptions, more: JsonObject = {}) {
  const agent = yield* open(options)
  const session = yield* newSession(agent, place, more)
  assert.strictEqual(yield* turn(agent, session, "go"), "end_turn")
  const calls = callsOf(updatesOf(agent, session)).map(({ latest }) => latest)
  return { agent, calls, statuses: calls.map(({ status }) => status) }
})

const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, encoding: "utf8" })

describe("files, over stdio", () => {
  it.live("a patch that git wrote changes a repository as git would, after one question about all of it", () =>
    Effect.gen(function* () {
      const place = yield* folder
      git(place, "init", "-q")
      mkdirSync(join(place, "src"))
      writeFileSync(join(place, "src", "a.ts"), "one\r\ntwo\r\nthree\r\n")
      writeFileSync(join(place, "old name.txt"), "x\n".repeat(20))
      writeFileSync(join(place, "gone.txt"), "bye")
      git(place, "add", "-A")
      git(place, "commit", "-qm", "before")
      writeFileSync(join(place, "src", "a.ts"), "one\r\n2\r\nthree\r\n")
      git(place, "mv", "old name.txt", "ñew.txt")
      git(place, "rm", "-q", "gone.txt")
      writeFileSync(join(place, "made.sh"), "#!/bin/sh\n", { mode: 0o755 })
      git(place, "add", "-A")
      const patch = git(place, "diff", "--cached", "-M")
      const tree = git(place, "write-tree")
      git(place, "reset", "-q", "--hard")
      const { agent, calls, statuses } = yield* run(place, {
        onRequest: always("allow_once"),
        steps: [{ parts: [call("apply_patch", { patch })] }, done]
      })
      assert.deepStrictEqual(statuses, ["completed"])
      git(place, "add", "-A")
      assert.strictEqual(git(place, "write-tree"), tree)
      assert.lengthOf(questions(agent), 1)
      assert.deepStrictEqual(at(questions(agent)[0]?.params, "toolCall", "content"), calls[0]?.["content"])
      const [{ content }] = calls as unknown as readonly [{ content: ReadonlyArray<JsonObject> }]
      const paths = content.map((diff) => diff["path"])
      assert.deepStrictEqual(
        paths,
        ["gone.txt", "made.sh", "src/a.ts", "ñew.txt", "old name.txt"].map((name) => join(place, name))
      )
    })
  )

  it.live("a patch that leaves the workspace asks with the real path, and a no leaves everything as it was", () =>
    Effect.gen(function* () {
      const outer = yield* folder
      const place = join(outer, "w")
      for (const name of [place, join(outer, "outside")]) mkdirSync(name)
      symlinkSync(join(outer, "outside"), join(place, "out"))
      writeFileSync(join(place, "a.txt"), "one\n")
      const patch = "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\n--- /dev/null\n+++ out/x\n@@ -0,0 +1 @@\n+x\n"
      const { agent, statuses } = yield* run(place, {
        onRequest: always("reject_once"),
        args: [],
        steps: [{ parts: [call("apply_patch", { patch })] }, done]
      })
      assert.deepStrictEqual(statuses, ["failed"])
      assert.include(JSON.stringify(questions(agent)[0]?.params), "outside/x")
      assert.strictEqual(readFileSync(join(place, "a.txt"), "utf8"), "one\n")
      assert.deepStrictEqual(readdirSync(join(outer, "outside")), [])
    })
  )

  it.live("an editor that fails is passed over with a notice, and one edit call changes several places or none", () =>
    Effect.gen(function* () {
      const place = yield* folder
      writeFileSync(join(place, "a.py"), "def a():\n    b()\n    c()\n")
      const edits = [
        { old_string: "\tb()", new_string: "\tif x:\n\t\tb()" },
        { old_string: "c()", new_string: "d()" }
      ]
      const { calls, statuses } = yield* run(place, {
        capabilities: { fs: { readTextFile: true } },
        onRequest: (method) =>
          method === "fs/read_text_file" ? { error: { code: -32603, message: "busy" } } : undefined,
        args: ["--yolo"],
        steps: [
          { parts: [call("read", { path: "a.py", offset: 2, limit: 1 }), call("read", { path: "a.py" })] },
          { parts: [call("edit", { path: "a.py", edits: [...edits, { old_string: "nothing", new_string: "x" }] })] },
          { parts: [call("edit", { path: "a.py", edits })] },
          done
        ]
      })
      assert.deepStrictEqual(statuses, ["completed", "completed", "failed", "completed"])
      const notices = calls.filter((each) => shownBy(each).includes("could not say what it shows (busy)"))
      assert.lengthOf(notices, 1)
      assert.include(shownBy(calls[2] ?? {}), "edits.2")
      assert.strictEqual(readFileSync(join(place, "a.py"), "utf8"), "def a():\n    if x:\n        b()\n    d()\n")
    })
  )

  it.live("additional folders are searched, ignored files only on request, and no new file lies about", () =>
    Effect.gen(function* () {
      const outer = yield* folder
      const [place, other] = [join(outer, "w"), join(outer, "other")]
      for (const name of [place, other]) mkdirSync(name)
      writeFileSync(join(other, "b.txt"), "needle\n")
      writeFileSync(join(other, ".gitignore"), "*.log\n")
      writeFileSync(join(other, "c.log"), "needle\n")
      const { calls, statuses } = yield* run(
        place,
        {
          args: ["--yolo"],
          steps: [
            {
              parts: [
                call("grep", { pattern: "needle" }),
                call("grep", { pattern: "needle", include_ignored: true }),
                call("write", { path: join(other, "new.txt"), content: "x" }),
                call("list", { path: other })
              ]
            },
            done
          ]
        },
        { additionalDirectories: [other] }
      )
      assert.deepStrictEqual(statuses, ["completed", "completed", "completed", "completed"])
      const [first = "", second = "", , list = ""] = calls.map(shownBy)
      assert.include(first, `${other}/b.txt:1: needle`)
      assert.notInclude(first, "c.log")
      assert.include(second, `${other}/c.log:1: needle`)
      assert.include(list, ".gitignore\nb.txt\nnew.txt\n(1 git-ignored name is not shown")
      assert.isTrue(existsSync(join(other, "new.txt")))
      assert.deepStrictEqual(readdirSync(other).length, 4)
    })
  )
})
