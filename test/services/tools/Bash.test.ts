/** What the `bash` tool makes of a call, and what it tells of the command. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { SandboxProfile } from "../../../src/domain/sandbox/Profile.ts"
import { SandboxRunner } from "../../../src/services/SandboxRunner.ts"
import { makeSpillFiles } from "../../../src/services/tools/support/SpillFiles.ts"
import { call, makeContext, makeFolder, makeWorkspace, prepare, toolbox, write } from "../../support/toolbox.ts"

const setUp = Effect.map(makeFolder, ({ base, work }) => ({
  work,
  workspace: makeWorkspace(work, { scratch: `${base}/scratch` })
}))

describe("the bash tool", { concurrent: true }, () => {
  it.live("runs in the folder that was named, and says so", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      yield* call("bash", { command: "mkdir sub" }, workspace)
      const { outcome, prepared } = yield* call("bash", { command: "pwd", cwd: "sub" }, workspace)
      assert.match(outcome.text, new RegExp(`^${work}/sub\\n`))
      assert.deepInclude(outcome.rawOutput, { cwd: `${work}/sub`, exitCode: 0 })
      assert.deepInclude(prepared.access, { cwd: `${work}/sub` })
      assert.include(JSON.stringify(prepared.preview), `In ${work}/sub`)
      assert.strictEqual(prepared.title, "pwd (in sub)")
      const outside = yield* prepare("bash", { command: "pwd", cwd: ".." }, workspace)
      assert.property(outside.access, "outside")
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("a timeout beyond the longest is shortened, which is told", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const { outcome } = yield* call("bash", { command: "echo x", timeout: 9e9 }, workspace)
      assert.match(outcome.text, /^\[the timeout was shortened to 30 minutes, the longest there is\]\nx\n/)
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("the timeout of the settings holds for a command that names none", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const { outcome } = yield* call("bash", { command: "sleep 60" }, workspace)
      assert.match(outcome.text, /timed out after 1\.\d s/)
    }).pipe(Effect.scoped, Effect.provide(toolbox({ settings: { commandTimeout: Duration.seconds(1) } })))
  )

  it.live("refuses a trailing & and an exception from the sandbox without a reason", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const refusal = (input: object) =>
        Effect.map(Effect.flip(prepare("bash", input, workspace)), ({ message }) => message)
      assert.include(yield* refusal({ command: "sleep 5 &" }), 'set "background"')
      assert.include(yield* refusal({ command: "ls", unsandboxed: true }), '"unsandboxed" needs a "reason"')
      yield* prepare("bash", { command: "true && echo x" }, workspace)
      const asked = yield* prepare("bash", { command: "ls", unsandboxed: true, reason: "needs the port" }, workspace)
      assert.deepInclude(asked.access, { unsandboxed: true })
      assert.include(JSON.stringify(asked.preview), "Outside of the sandbox: needs the port")
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("tells a trailing & from one that means something else", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      for (const command of ["sleep 5 &", "sleep 5 > log 2>&1 &  ", "a\nsleep 5 &\n"]) {
        const { message } = yield* Effect.flip(prepare("bash", { command }, workspace))
        assert.include(message, 'set "background"')
        yield* prepare("bash", { command, background: true }, workspace)
      }
      for (const command of ["true & wait", "echo a \\&", "echo '&'", "true && true"]) {
        yield* prepare("bash", { command }, workspace)
      }
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("keeps what a command changed, and looks at nothing for one that only reads", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      const recorded: Array<string> = []
      const run = Effect.fnUntraced(function* (input: object) {
        const prepared = yield* prepare("bash", input, workspace)
        yield* prepared.run(
          makeContext(workspace, {
            recordingAll: (change) =>
              Effect.andThen(
                Effect.sync(() => void recorded.push(prepared.title)),
                change
              )
          })
        )
      })
      yield* run({ command: "touch a" })
      yield* run({ command: "ls | wc -l" })
      yield* run({ command: "cat a && rm a", description: "Reads and removes" })
      assert.deepStrictEqual(recorded, ["touch a", "cat a && rm a"])
      assert.isFalse(yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.exists(`${work}/a`)))
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("shows all that is new once, in order, before it ends", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const prepared = yield* prepare(
        "bash",
        { command: "for i in $(seq 1 60); do echo line $i; sleep 0.01; done; printf end" },
        workspace
      )
      let text = ""
      let views = 0
      const outcome = yield* prepared.run(
        makeContext(workspace, {
          progress: ({ content }, fresh = "") =>
            Effect.sync(() => {
              text += fresh
              if (content !== undefined) views += 1
            })
        })
      )
      assert.strictEqual(text, `${Array.from({ length: 60 }, (_, at) => `line ${at + 1}\n`).join("")}end`)
      assert.isAtMost(views, 6)
      assert.match(outcome.text, /\nline 60\nend\n\[exit code 0/)
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("names the sandbox and the way out when it looks like the reason, and only then", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const told = Effect.fnUntraced(function* (command: string, profile: SandboxProfile) {
        const prepared = yield* prepare("bash", { command }, workspace)
        const runner = { sandbox: Effect.succeed(profile) }
        return (yield* prepared.run(makeContext(workspace, runner))).text
      })
      const says = (text: string) => `echo '${text}' >&2; exit 1`
      const way = "run it again with unsandboxed: true and a reason"
      const readOnly = says("touch: cannot touch /x: Read-only file system")
      const offline = says("curl: (6) Could not resolve host: example.com")
      const rows: ReadonlyArray<readonly [string, SandboxProfile, string | undefined]> = [
        [readOnly, "workspace", "its profile workspace keeps commands from writing there"],
        [readOnly, "off", undefined],
        [offline, "workspace", undefined],
        [offline, "strict", "its profile strict keeps commands off the network"],
        ["echo 'Read-only file system'", "strict", undefined],
        [says("no such thing"), "strict", undefined]
      ]
      for (const [command, profile, expected] of rows) {
        const text = yield* told(command, profile)
        if (expected === undefined) assert.notInclude(text, way, `${command} ${profile}`)
        else {
          assert.include(text, expected)
          assert.include(text, way)
        }
      }
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("lets the model read all of long output: with tools, and with commands inside of the sandbox", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const { outcome } = yield* call("bash", { command: "seq 1 50000" }, workspace)
      const file = /the whole output is in (\S+) …/.exec(outcome.text)?.[1] ?? assert.fail(outcome.text)
      const found = yield* call("read", { path: file, offset: 40_000, limit: 1 }, workspace)
      assert.include(found.outcome.text, "40000")
      assert.deepInclude(found.prepared.access, { outside: [] })
      assert.include((yield* call("grep", { pattern: "^43210$", path: file }, workspace)).outcome.text, "43210")
      const runner = yield* SandboxRunner
      if ((yield* runner.status("strict"))._tag !== "Ready") return
      const prepared = yield* prepare("bash", { command: `tail -n 1 ${file}` }, workspace)
      const { text } = yield* prepared.run(makeContext(workspace, { sandbox: Effect.succeed("strict") }))
      assert.match(text, /^50000\n\[exit code 0/)
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("removes the oldest files of long output when there are too many bytes of them", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const paths = yield* Path.Path
      const { base } = yield* makeFolder
      const files = makeSpillFiles(fs, paths, 100)
      assert.match(yield* files.next(`${base}/none`), /\/none\/output\/output-\w+-\w+\.txt$/)
      const names = ["output-a1-x.txt", "output-a2-x.txt", "output-a3-x.txt", "notes.txt"]
      yield* fs.makeDirectory(`${base}/output`)
      for (const name of names) yield* write(`${base}/output/${name}`, "x".repeat(50))
      yield* files.next(base)
      assert.deepStrictEqual((yield* fs.readDirectory(`${base}/output`)).toSorted(), [
        "notes.txt",
        ...names.slice(1, 3)
      ])
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )
})
