/** `super-pi -p` as people and scripts use it. */
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ScriptStep } from "../../src/services/models/script/Script.ts"
import { bin, ended, folder, node, start } from "../support/Program.ts"
import { gone, isAlive, until } from "../support/Processes.ts"
import { root } from "../support/Sources.ts"
import { hasPython, inTerminal } from "../support/PseudoTerminal.ts"

const isLine = new Ajv2020({ strict: false }).compile(
  JSON.parse(readFileSync(join(root, "docs/stream-json.schema.json"), "utf8"))
)

const say = (text: string): ScriptStep => ({ parts: [{ text }] })
const bash = (command: string): ScriptStep => ({
  parts: [{ text: "Let me see." }, { tool: { name: "bash", input: { command } } }]
})

/** A folder with a script in it, and the flags that play it. */
const scene = Effect.fnUntraced(function* (...steps: ReadonlyArray<ScriptStep>) {
  const cwd = yield* folder
  const script = join(cwd, "script.json")
  writeFileSync(script, JSON.stringify({ steps }))
  const env = { SUPERCHARGE_HOME: join(cwd, "home") }
  const flags = ["--model", `scripted/${script}`, "--cwd", cwd]
  const run = Effect.fnUntraced(function* (args: ReadonlyArray<string>, input = "") {
    const child = yield* start([...args, ...flags], { env })
    child.stdin.end(input)
    return yield* ended(child)
  })
  return { cwd, env, flags, run }
})

const linesOf = (stdout: string): ReadonlyArray<Record<string, unknown>> => {
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line): Record<string, unknown> => JSON.parse(line))
  for (const line of lines) assert.isTrue(isLine(line), JSON.stringify([line, isLine.errors]))
  return lines
}

describe("a single task", () => {
  it.live("prints the answer and nothing else; the next one goes on, also by a piece of the id and from a pipe", () =>
    Effect.gen(function* () {
      const { cwd, run } = yield* scene(bash("touch made"), say("Made."))
      const first = yield* run(["-p", "make it", "--allow", "Bash(touch *)"])
      assert.deepStrictEqual(first, { end: 0, stdout: "Made.\n", stderr: "" })
      assert.isTrue(existsSync(join(cwd, "made")))
      const next = yield* run(["-p", "--continue", "--output-format", "json"], "and now?\n")
      const [result] = linesOf(next.stdout)
      assert.deepInclude(result, { type: "result", outcome: "refused", exitCode: 3, text: "Made." })
      assert.strictEqual(next.end, 3)
      const sessionId = String(result?.["sessionId"])
      const third = yield* run(
        ["-p", "/diff", "--resume", sessionId.slice(0, 20), "--output-format", "stream-json"],
        ""
      )
      const lines = linesOf(third.stdout)
      assert.deepInclude(lines[0], { type: "session", sessionId, resumed: true })
      assert.include(String(lines.at(-1)?.["text"]), "added made")
      assert.strictEqual(third.end, 0)
    })
  )

  it.live("adds a pipe to the task, and tells a call that nobody could allow", () =>
    Effect.gen(function* () {
      const { run } = yield* scene(bash("touch made"), say("I may not."))
      const { end, stderr, stdout } = yield* run(["-p", "look at this", "--output-format", "stream-json"], "the log")
      const lines = linesOf(stdout)
      assert.strictEqual(end, 3)
      assert.match(stderr, /^warning: Not allowed, since nobody is there to answer\. .*: touch made\n$/)
      assert.deepInclude(
        lines.find(({ type }) => type === "permission"),
        { title: "touch made", allowed: false }
      )
      const refused = lines.at(-1)?.["refused"]
      assert.include(JSON.stringify(refused), '"title":"touch made"')
    })
  )

  it.live("uses nothing of a folder that needs trust, says so, and does the task all the same", () =>
    Effect.gen(function* () {
      const { cwd, run } = yield* scene(say("Done."))
      mkdirSync(join(cwd, ".supercharge"))
      writeFileSync(join(cwd, ".supercharge", "config.toml"), '[permission]\nallow = ["Bash"]\n')
      const { end, stderr, stdout } = yield* run(["-p", "go"])
      assert.deepStrictEqual([end, stdout], [0, "Done.\n"])
      assert.include(stderr, "are not used: run super-pi trust, or give --trust")
    })
  )

  it.live("fails with a sentence: no model, an unknown one, too many requests, no such session, no task", () =>
    Effect.gen(function* () {
      const { cwd, env, run } = yield* scene(bash("true"), bash("true"), say("Never."))
      const bare = (args: ReadonlyArray<string>) =>
        Effect.flatMap(start(args, { env }), (child) => {
          child.stdin.end()
          return ended(child)
        })
      const many = yield* run(["-p", "go", "--max-turns", "1", "--always-approve"])
      assert.deepStrictEqual([many.end, many.stdout], [1, "Let me see.\n"])
      assert.include(many.stderr, "error: The task was not finished within the allowed number of requests")
      const none = yield* bare(["-p", "go", "--cwd", cwd, "--output-format", "json"])
      assert.strictEqual(none.end, 1)
      assert.include(String(linesOf(none.stdout)[0]?.["text"]), "")
      assert.include(none.stderr, "No model provider is configured")
      const lost = yield* run(["-p", "go", "--resume", "nope"])
      assert.deepStrictEqual([lost.end, lost.stdout], [1, ""])
      assert.include(lost.stderr, 'There is no session "nope"; super-pi sessions list shows')
      const gone = yield* run(["-p", "go", "--continue"])
      assert.strictEqual(gone.end, 0, "the session of the first run is there")
      for (const [args, complaint] of [
        [["-p"], "There is no task"],
        [["-p", "go", "--max-turns", "0"], "at least 1"],
        [["-p", "go", "--output-format", "xml"], "stream-json"],
        [["-p", "go", "--resume", "a", "--continue"], "give one of them"],
        [["--continue"], "there is no task"],
        [["-p", "fix", "it"], "it"]
      ] as const) {
        const { end, stderr, stdout } = yield* bare(args)
        assert.deepStrictEqual([end, stdout], [2, ""], args.join(" "))
        assert.include(stderr, complaint)
      }
    })
  )

  it.live.each([
    ["is cancelled by a signal, with all that it started", "exec sleep 60", ["SIGINT"], 130, true],
    ["is ended by another signal with its own code", "exec sleep 60", ["SIGTERM"], 143, true],
    ["is ended at once by a second one", "trap '' TERM; while :; do sleep 1; done", ["SIGINT", "SIGINT"], 130, false]
  ] as const)("%s", ([, command, signals, code, isTold]) =>
    Effect.gen(function* () {
      const { cwd, env, flags } = yield* scene(bash(`echo $$ > started; ${command}`), say("Never."))
      const args = ["-p", "wait", "--always-approve", "--sandbox", "off", "--output-format", "stream-json", ...flags]
      const child = yield* start(args, { env })
      child.stdin.end()
      const ending = yield* Effect.forkChild(ended(child), { startImmediately: true })
      const started = join(cwd, "started")
      yield* until(() => existsSync(started) && readFileSync(started, "utf8").trim() !== "")
      const pid = Number(readFileSync(started, "utf8"))
      for (const signal of signals) {
        child.kill(signal)
        yield* Effect.sleep("100 millis")
      }
      const { end, stdout } = yield* Fiber.join(ending)
      assert.strictEqual(end, code)
      const last = linesOf(stdout).at(-1)
      if (isTold) assert.deepInclude(last, { type: "result", outcome: "cancelled", exitCode: code })
      else assert.notStrictEqual(last?.["type"], "result")
      if (isTold) yield* gone(pid)
      else if (isAlive(pid)) process.kill(pid, "SIGKILL")
    })
  )

  it.live("ends when its reader has gone", () =>
    Effect.gen(function* () {
      const { cwd, env, flags } = yield* scene(bash("seq 1 200000"), say("Done."))
      const args = [bin, "-p", "go", "--always-approve", "--output-format", "stream-json", ...flags]
      const child = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn("bash", ["-c", '"$@" | head -n 1; echo "${PIPESTATUS[0]}"', "x", node, ...args], {
            cwd,
            env: { ...process.env, ...env }
          })
        ),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      child.stdin.end()
      const { stderr, stdout } = yield* ended(child)
      const [first = "", code] = stdout.trim().split("\n")
      assert.strictEqual(JSON.parse(first)["type"], "session")
      assert.strictEqual(code, "1")
      assert.notInclude(stderr, "EPIPE")
    })
  )

  it.live.skipIf(!hasPython)("asks at a terminal, shows what goes on there, and keeps standard output clean", () =>
    Effect.gen(function* () {
      const { cwd, env, flags } = yield* scene(bash("touch made"), bash("touch other"), say("Made.\u001b[2J"))
      const seen = yield* inTerminal(["-p", "make it", ...flags], {
        env,
        redirected: true,
        typing: [
          ["Answer 1-4: ", "9\n"],
          ["Answer 1-4: ", "2\n"],
          ["Answer 1-4: ", "3\n"]
        ]
      })
      assert.deepStrictEqual([seen.end, seen.stdout], [3, "Made.\u001b[2J\n"], seen.screen)
      assert.include(seen.screen, "2) Allow once")
      assert.deepStrictEqual([existsSync(join(cwd, "made")), existsSync(join(cwd, "other"))], [true, false])
    })
  )

  it.live.skipIf(!hasPython)("is cancelled at a question by Ctrl+C, code 130", () =>
    Effect.gen(function* () {
      const { cwd, env, flags } = yield* scene(bash("touch made"), say("Made.\u001b[2J"))
      const shown = yield* inTerminal(["-p", "make it", "--deny", "Bash(*)", ...flags], { env })
      // What a model writes does not command the terminal.
      assert.match(shown.screen, /Let me see\.\n✗ touch made\n.*Made\.\\u\{1b\}\[2J\n$/s)
      const seen = yield* inTerminal(["-p", "make it", ...flags], { env, typing: [["Answer 1-4: ", "\u0003"]] })
      assert.strictEqual(seen.end, 130, seen.screen)
      assert.include(seen.screen, "Cancelled")
      assert.isFalse(existsSync(join(cwd, "made")))
    })
  )
})
