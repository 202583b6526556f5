import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as AiTool from "effect/ai/Tool"
import { SessionId } from "../../../src/domain/Ids.ts"
import { Tools } from "../../../src/services/Tools.ts"
import {
  call,
  makeFolder,
  makeContext,
  makeWorkspace,
  prepare,
  read,
  textOf,
  toolbox,
  write
} from "../../support/toolbox.ts"

const names: ReadonlyArray<string> = ["read", "write", "edit", "apply_patch", "grep", "glob", "list", "bash", "todo"]

const setUp = Effect.gen(function* () {
  const { base, work } = yield* makeFolder
  return { base, work, workspace: makeWorkspace(work), fs: yield* FileSystem.FileSystem }
})

describe("the tools", () => {
  it.effect("cost the model little", () =>
    Effect.gen(function* () {
      const tools = (yield* Tools).get(names)
      const sent = tools.map(({ tool }) => ({
        name: tool.name,
        description: AiTool.getDescription(tool),
        parameters: AiTool.getJsonSchema(tool)
      }))
      assert.strictEqual(sent.length, names.length)
      assert.isBelow(JSON.stringify(sent).length, 4_500)
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("change things alone and look at things side by side", () =>
    Effect.gen(function* () {
      const tools = (yield* Tools).get(names)
      const alone = tools.filter(({ concurrency }) => concurrency === "exclusive").map(({ tool }) => tool.name)
      assert.deepStrictEqual(alone, ["write", "edit", "apply_patch", "bash"])
    }).pipe(Effect.provide(toolbox()))
  )

  it.effect("name no path for a glob, and a telling title for every call (F72, F74)", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      const inputs: ReadonlyArray<readonly [string, object, string, ReadonlyArray<string>]> = [
        ["read", { path: "src/a.ts", offset: 10, limit: 31 }, "Read src/a.ts (lines 10-40)", [`${work}/src/a.ts`]],
        ["write", { path: "src/../b.ts", content: "" }, "Write b.ts", [`${work}/b.ts`]],
        ["edit", { path: "b.ts", old_string: "", new_string: "x" }, "Edit b.ts", [`${work}/b.ts`]],
        ["grep", { pattern: 'a"b', path: "src", glob: "*.ts" }, 'Search "a\\"b" in src (*.ts)', [`${work}/src`]],
        ["grep", { pattern: "x" }, 'Search "x" in .', []],
        ["glob", { pattern: "**/*.ts" }, "Find **/*.ts in .", []],
        ["list", {}, "List .", [work]],
        ["bash", { command: "npm test\necho done" }, "npm test ⏎ echo done", []],
        ["todo", { entries: [] }, "Update plan", []]
      ]
      for (const [name, input, title, paths] of inputs) {
        const prepared = yield* prepare(name, input, workspace)
        assert.strictEqual(prepared.title, title)
        assert.deepStrictEqual(
          prepared.locations.map(({ path }) => path),
          paths
        )
      }
    }).pipe(Effect.provide(toolbox()))
  )
})

describe("two sessions", () => {
  it.live("each work in their own folder, wherever the process is (F61, F91)", () =>
    Effect.gen(function* () {
      const { base, fs } = yield* setUp
      for (const [at, name] of ["one", "t w o/ü"].entries()) {
        const cwd = `${base}/${name}`
        yield* fs.makeDirectory(cwd, { recursive: true })
        const workspace = makeWorkspace(cwd, { sessionId: SessionId.make(`session-${at}`) })
        const text = (tool: string, input: object) =>
          Effect.map(call(tool, input, workspace), ({ outcome }) => outcome.text)
        assert.match(yield* text("bash", { command: "pwd" }), new RegExp(`^${cwd}\n`))
        yield* text("write", { path: "rel.txt", content: `in ${name}` })
        assert.strictEqual(yield* read(`${cwd}/rel.txt`), `in ${name}`)
        assert.include(yield* text("read", { path: "rel.txt" }), `in ${name}`)
        yield* text("edit", { path: "./rel.txt", old_string: "in", new_string: "IN" })
        assert.include(yield* text("grep", { pattern: "IN" }), `rel.txt:1: IN ${name}`)
        assert.match(yield* text("glob", { pattern: "*" }), /^rel\.txt\n/)
        assert.strictEqual(yield* text("list", {}), "rel.txt")
      }
    }).pipe(Effect.provide(toolbox()))
  )
})

describe("grep, glob and list", () => {
  it.live("find, count, leave ignored files out and say so (F92)", () =>
    Effect.gen(function* () {
      const { fs, work, workspace } = yield* setUp
      yield* fs.makeDirectory(`${work}/notes`)
      yield* write(`${work}/.gitignore`, "notes/\n")
      yield* write(`${work}/notes/info.md`, "needle\n")
      yield* write(`${work}/b.md`, "needle # x\n# needle\n")
      yield* write(`${work}/many.txt`, "hit\n".repeat(300))
      const text = (name: string, input: object) =>
        Effect.map(call(name, input, workspace), ({ outcome }) => outcome.text)
      const note = "(git-ignored files were not searched; include_ignored searches them)"
      assert.strictEqual(yield* text("grep", { pattern: "needle" }), `b.md:1: needle # x\nb.md:2: # needle\n${note}`)
      assert.strictEqual(
        yield* text("grep", { pattern: "needle", path: "notes/info.md" }),
        `notes/info.md:1: needle\n${note}`
      )
      assert.include(yield* text("grep", { pattern: "needle", include_ignored: true }), "notes/info.md:1: needle")
      assert.strictEqual(yield* text("grep", { pattern: "absent" }), `No matches.\n${note}`)
      assert.include(
        yield* text("grep", { pattern: "hit" }),
        "(there are more than 200 matches: narrow pattern, path or glob)"
      )
      const broken = yield* call("grep", { pattern: "(" }, workspace)
      assert.strictEqual(broken.outcome.status, "failed")
      assert.include(broken.outcome.text, "unclosed group")
      assert.include(yield* text("grep", { pattern: "x", path: "nowhere" }), "does not exist")
      assert.strictEqual(yield* text("glob", { pattern: "**/*.md" }), `b.md\n${note}`)
      assert.strictEqual(yield* text("glob", { pattern: "*.md", include_ignored: true }), "b.md\nnotes/info.md")
      assert.include(yield* text("read", { path: "notes/info.md" }), "needle")
      const shownNames = ".gitignore\nb.md\nmany.txt"
      assert.strictEqual(
        yield* text("list", {}),
        `${shownNames}\n(1 git-ignored name is not shown; include_ignored shows it)`
      )
      assert.strictEqual(yield* text("list", { include_ignored: true }), `${shownNames}\nnotes/`)
      // A folder that is named is looked into, even if it is ignored itself.
      assert.strictEqual(yield* text("list", { path: "notes" }), "info.md")
      assert.strictEqual(yield* text("grep", { pattern: "needle", path: "notes" }), `notes/info.md:1: needle\n${note}`)
      assert.include(yield* text("list", { path: "b.md" }), "is a file")
      assert.include(yield* text("list", { path: "note" }), "Similar names there: notes")
      const shown = yield* call("grep", { pattern: "needle" }, workspace)
      assert.match(textOf(shown.outcome.content), /^```\n[^]*\n```$/)
    }).pipe(Effect.provide(toolbox()))
  )
})

describe("a workspace of several folders", () => {
  it.live("is searched as a whole, and ignored files by default where the settings say so", () =>
    Effect.gen(function* () {
      const { base, fs, work } = yield* setUp
      yield* fs.makeDirectory(`${base}/more`)
      yield* write(`${work}/a.md`, "needle\n")
      yield* write(`${base}/more/b.md`, "needle\n".repeat(3))
      yield* write(`${base}/more/.gitignore`, "*.log\n")
      yield* write(`${base}/more/c.log`, "needle\n")
      const workspace = makeWorkspace(work, { roots: [work, `${base}/more`] })
      const text = (name: string, input: object) =>
        Effect.map(call(name, input, workspace), ({ outcome }) => outcome.text)
      const { access, title } = yield* prepare("grep", { pattern: "needle" }, workspace)
      assert.strictEqual(title, 'Search "needle" in . and 1 more folder')
      assert.deepStrictEqual(access, { _tag: "Read", paths: [work, `${base}/more`], outside: [] })
      assert.include(yield* text("grep", { pattern: "needle" }), `a.md:1: needle\n${base}/more/b.md:1: needle\n`)
      assert.notInclude(yield* text("grep", { pattern: "needle", path: work }), "b.md")
      assert.match(yield* text("glob", { pattern: "*.md" }), new RegExp(`^a\\.md\n${base}/more/b\\.md\n`))
      yield* Effect.gen(function* () {
        const all = `a.md\n${base}/more/b.md\n${base}/more/c.log`
        assert.strictEqual(yield* text("glob", { pattern: "*.{md,log}" }), all)
        assert.strictEqual(yield* text("list", { path: "../more" }), ".gitignore\nb.md\nc.log")
        assert.notInclude(yield* text("glob", { pattern: "*.log", include_ignored: false }), "c.log")
      }).pipe(Effect.provide(toolbox({ settings: { respectGitignore: false } })))
    }).pipe(Effect.provide(toolbox()))
  )
})

describe("todo", () => {
  it.effect("gives the whole list every time, without cancelled entries (F81)", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const entries = [
        { content: "a", status: "completed", priority: null },
        { content: "b", status: "in_progress", priority: "high" },
        { content: "c", status: "cancelled" }
      ]
      const { outcome, plans } = yield* call("todo", { entries }, workspace)
      assert.deepStrictEqual(plans, [
        [
          { content: "a", priority: "medium", status: "completed" },
          { content: "b", priority: "high", status: "in_progress" }
        ]
      ])
      assert.strictEqual(outcome.text, "The plan has 1 completed, 1 in progress, 0 pending.")
      assert.deepStrictEqual((yield* call("todo", { todos: JSON.stringify([]) }, workspace)).plans, [[]])
      const error = yield* Effect.flip(prepare("todo", { entries: [{ content: "x", status: "done" }] }, workspace))
      assert.include(error.message, `"entries.0.status" expected "pending" | "in_progress" | "completed" | "cancelled"`)
    }).pipe(Effect.provide(toolbox()))
  )
})

const RawOutput = Schema.Struct({
  exitCode: Schema.optionalKey(Schema.Int),
  signal: Schema.optionalKey(Schema.String),
  timedOut: Schema.Boolean,
  durationMs: Schema.Int,
  truncated: Schema.Boolean,
  spilled: Schema.optionalKey(Schema.String)
})

describe("bash", { concurrent: true }, () => {
  it.live("gives output, ending and raw values; what does not exit with 0 has failed", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      const good = yield* call("bash", { command: "pwd; printf '\\033[31m```red\\033[0m'" }, workspace)
      assert.strictEqual(good.outcome.status, "completed")
      assert.match(good.outcome.text, new RegExp(`^${work}\n\`\`\`red\n\\[exit code 0, \\d+\\.\\d s\\]$`))
      assert.isTrue(textOf(good.outcome.content).startsWith("````\n"))
      const raw = yield* Schema.decodeUnknownEffect(RawOutput)(good.outcome.rawOutput)
      assert.deepInclude(raw, { exitCode: 0, timedOut: false, truncated: false })
      const bad = yield* call("bash", { command: "exit 3" }, workspace)
      assert.strictEqual(bad.outcome.status, "failed")
      assert.match(bad.outcome.text, /^\(no output\)\n\[exit code 3, /)
      const killed = yield* call("bash", { command: "kill -9 $$" }, workspace)
      assert.strictEqual(killed.outcome.status, "failed")
      assert.include(killed.outcome.text, "[ended by SIGKILL, ")
      assert.deepInclude(yield* Schema.decodeUnknownEffect(RawOutput)(killed.outcome.rawOutput), { signal: "SIGKILL" })
    }).pipe(Effect.provide(toolbox()))
  )

  it.live("asks with the whole command", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      const command = `echo ${"x".repeat(500)}; rm -rf important`
      const { access, kind, preview, title } = yield* prepare("bash", { command, description: "Prints" }, workspace)
      assert.strictEqual(kind, "execute")
      assert.isBelow(title.length, 210)
      assert.deepStrictEqual(access, { _tag: "Execute", command, cwd: work })
      assert.strictEqual(textOf(preview), `Prints\n\`\`\`sh\n${command}\n\`\`\``)
      assert.include((yield* Effect.flip(prepare("bash", { command: " " }, workspace))).message, `"command" is empty`)
    }).pipe(Effect.provide(toolbox()))
  )

  it.live("stops at the time-out that was asked for", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const { outcome } = yield* call("bash", { command: "echo a; sleep 30", timeout: 10 }, workspace)
      assert.strictEqual(outcome.status, "failed")
      assert.match(outcome.text, /^a\n\[timed out after 1\.\d s/)
    }).pipe(Effect.provide(toolbox()))
  )

  it.live("shows the first output at once, while the command runs (F77)", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      const prepared = yield* prepare(
        "bash",
        { command: "date +%s%N > started; echo first; sleep 30; echo second" },
        workspace
      )
      const seen = yield* Deferred.make<string>()
      const fiber = yield* Effect.forkChild(
        prepared.run(makeContext(workspace, { progress: ({ content }) => Deferred.succeed(seen, textOf(content)) }))
      )
      assert.strictEqual(yield* Deferred.await(seen), "```\nfirst\n```")
      const now = yield* Clock.currentTimeMillis
      // Not at its end, 30 seconds later.
      assert.isBelow(now - Number(yield* read(`${work}/started`)) / 1e6, 20_000)
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(toolbox()))
  )

  it.live("sends no more than a small multiple of the output (F76)", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const chatty = yield* call("bash", { command: "seq 1 1000000" }, workspace)
      for (const { content } of chatty.progress) assert.isAtMost(textOf(content).length, 16_400)
      assert.isBelow(chatty.outcome.text.length, 25_000)
      assert.include(chatty.outcome.text, "the whole output is in")
      const slow = yield* call(
        "bash",
        { command: "for i in $(seq 1 150); do echo line $i of a slow command; sleep 0.01; done" },
        workspace
      )
      const sent = slow.progress.reduce((sum, { content }) => sum + textOf(content).length, 0)
      assert.isAtLeast(slow.progress.length, 4)
      assert.isBelow(sent, 3 * slow.outcome.text.length + 33_000)
      const bar = yield* call(
        "bash",
        { command: "for i in $(seq 1 100); do printf 'progress %s%%\\r' $i; sleep 0.01; done; echo done" },
        workspace
      )
      for (const { content } of bar.progress) assert.match(textOf(content), /^```\n(progress \d+%|done)\n```$/)
      assert.match(bar.outcome.text, /^done\n\[/)
    }).pipe(Effect.provide(toolbox()))
  )

  it.live("works on a real repository without waiting for anybody", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const command =
        "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && git log && git status --short"
      const { outcome } = yield* call("bash", { command }, workspace)
      assert.strictEqual(outcome.status, "completed")
      assert.include(outcome.text, "    first")
    }).pipe(Effect.provide(toolbox()))
  )
})
