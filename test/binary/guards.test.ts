/** What stands between a model and the machine, on the real program: hooks, folder trust, the sandbox and its absence. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gone, isAlive, until } from "../support/Processes.ts"
import { bin, folder, node } from "../support/Program.ts"
import * as RawAgent from "../support/RawAgent.ts"

type Json = Schema.Json

const hasBubblewrap = existsSync("/usr/bin/bwrap")

const bash = (command: string, more: Schema.JsonObject = {}) => ({
  parts: [{ tool: { name: "bash", input: { command, ...more } as never } }]
})
const done = { parts: [{ text: "Done." }] }

/** How a permission question is answered: by the kind of the option. */
const choosing = (kind: string, asked: Array<Json>) => (method: string, params: Schema.JsonObject) => {
  if (method !== "session/request_permission") return { error: { code: -32601, message: "no" } }
  asked.push(params)
  const options = params["options"]
  const option = (Array.isArray(options) ? options : []).find(
    (one) => typeof one === "object" && one !== null && "kind" in one && one["kind"] === kind
  )
  const optionId = typeof option === "object" && option !== null && "optionId" in option ? option["optionId"] : null
  return { result: { outcome: { outcome: "selected", optionId: optionId ?? null } } }
}

interface Played {
  readonly said: string
  readonly asked: ReadonlyArray<Json>
  readonly agent: RawAgent.RawAgent
  readonly stopReason: Json | undefined
}

const play = Effect.fnUntraced(function* (
  work: string,
  steps: ReadonlyArray<RawAgent.Options["steps"] extends ReadonlyArray<infer S> | undefined ? S : never>,
  options: RawAgent.Options & { readonly answer?: string } = {}
): Effect.fn.Return<Played, never, import("effect/Scope").Scope> {
  const asked: Array<Json> = []
  const agent = yield* RawAgent.start({
    cwd: work,
    steps: [...steps, done],
    onRequest: choosing(options.answer ?? "reject_once", asked),
    ...options
  })
  yield* agent.ok("initialize", { protocolVersion: 1, clientCapabilities: { session: { notices: {} } } })
  const { sessionId = null } = yield* agent.ok("session/new", { cwd: work, mcpServers: [] })
  const { result } = yield* agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "Go" }] })
  return { said: JSON.stringify(agent.seen), asked, agent, stopReason: result["stopReason"] }
})

const script = (path: string, text: string) => {
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
}

const repository = Effect.map(folder, (base) => {
  const work = join(base, "work")
  mkdirSync(join(work, ".supercharge", "hooks"), { recursive: true })
  execFileSync("git", ["init", "-q"], { cwd: work })
  return { base, work }
})

describe("hooks", () => {
  it.live("forbid a call, a prompt and an end, and hear of the rest, in every mode", () =>
    Effect.gen(function* () {
      const { base, work } = yield* repository
      script(
        join(base, "hook"),
        `tee -a ${base}/heard >/dev/null; case "$1" in no) echo "not today" >&2; exit 2;; esac`
      )
      const hook = (event: string, more = "", how = "") =>
        `[[hooks.${event}]]\n${more}\ncommand = "${base}/hook ${how}"\n`
      const config =
        hook("PreToolUse", 'matcher = "Write"', "no") +
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"]
          .map((event) => hook(event))
          .join("")
      const steps = [
        { parts: [{ tool: { name: "write", input: { path: "new", content: "x" } as never } }] },
        bash("echo ran")
      ]
      const { agent, said, stopReason } = yield* play(work, steps, { config, args: ["--always-approve"] })
      assert.strictEqual(stopReason, "end_turn")
      assert.include(said, "not today")
      assert.isFalse(existsSync(join(work, "new")))
      yield* agent.closeInput
      assert.strictEqual(yield* agent.ended, 0)
      const heard = readFileSync(join(base, "heard"), "utf8")
        .trim()
        .split(/(?<=\})(?=\{)/)
        .map((line) => JSON.parse(line))
      const names = heard.map(
        ({ hookEventName, toolName }) => `${hookEventName}${toolName === undefined ? "" : ` ${toolName}`}`
      )
      assert.sameMembers(
        [...new Set(names)],
        [
          "session_start",
          "user_prompt_submit",
          "pre_tool_use write",
          "pre_tool_use bash",
          "post_tool_use bash",
          "stop",
          "session_end"
        ]
      )
      assert.strictEqual(heard.at(-1).hookEventName, "session_end")
    })
  )

  it.live("that crash forbid the call, and say how to go on without them", () =>
    Effect.gen(function* () {
      const { work } = yield* repository
      const config = '[[hooks.PreToolUse]]\ncommand = "exit 7"\n'
      const { said } = yield* play(work, [bash("touch made")], { config, args: ["--always-approve"] })
      assert.include(said, "it ended with exit code 7")
      assert.include(said, "mark it advisory")
      assert.isFalse(existsSync(join(work, "made")))
    })
  )

  it.live("a prompt that one refuses is answered as a refusal with its reason", () =>
    Effect.gen(function* () {
      const { work } = yield* repository
      const config = `[[hooks.UserPromptSubmit]]\ncommand = "echo '{\\"decision\\":\\"deny\\",\\"reason\\":\\"no secrets\\"}'"\n`
      const { said, stopReason } = yield* play(work, [], { config })
      assert.strictEqual(stopReason, "refusal")
      assert.include(said, "no secrets")
    })
  )
})

/** A session whose first call waits for a hook of this command, which has written down the numbers of `names`. */
const hooked = Effect.fnUntraced(function* (command: string, names: ReadonlyArray<string>) {
  const { work } = yield* repository
  script(join(work, "hook"), command)
  const agent = yield* RawAgent.start({
    cwd: work,
    steps: [bash("true"), done],
    config: `[[hooks.PreToolUse]]\ncommand = "./hook"\ntimeout = 60\n`,
    args: ["--always-approve"]
  })
  yield* agent.ok("initialize", { protocolVersion: 1, clientCapabilities: {} })
  const { sessionId = null } = yield* agent.ok("session/new", { cwd: work, mcpServers: [] })
  yield* agent.ask("session/prompt", { sessionId, prompt: [{ type: "text", text: "Go" }] })
  const read = (name: string) => (existsSync(join(work, name)) ? Number(readFileSync(join(work, name), "utf8")) : 0)
  yield* Effect.timeout(
    until(() => names.every((name) => read(name) > 0)),
    "10 seconds"
  )
  return { agent, pids: names.map(read) }
})

describe("a hook that runs", () => {
  it.live("ends with the agent when that is killed, with all that it started", () =>
    Effect.gen(function* () {
      const { agent, pids } = yield* hooked("echo $$ > plain; setsid sleep 1000 & echo $! > apart; sleep 1000", [
        "plain",
        "apart"
      ])
      yield* agent.kill("SIGKILL")
      yield* gone(...pids)
    })
  )

  it.live("does not hold up the end of the agent, however deaf it is", () =>
    Effect.gen(function* () {
      const { agent, pids } = yield* hooked('trap "" TERM; echo $$ > deaf; while :; do sleep 1; done', ["deaf"])
      yield* agent.closeInput
      assert.strictEqual(yield* agent.ended, 0)
      assert.deepStrictEqual(pids.filter(isAlive), [])
      assert.notInclude(agent.stderr(), "did not end")
    })
  )
})

describe("folder trust", () => {
  const project =
    '[permission]\nallow = ["Bash(touch made)"]\ndeny = ["Bash(touch never)"]\n[[hooks.PostToolUse]]\ncommand = "touch hooked"\n'

  const setUp = Effect.map(repository, ({ work }) => {
    writeFileSync(join(work, ".supercharge", "config.toml"), project)
    return work
  })

  it.live("is asked for once, and what the project brings holds from then on", () =>
    Effect.gen(function* () {
      const work = yield* setUp
      const { agent, asked, said } = yield* play(work, [bash("touch made"), bash("touch never")], {
        answer: "allow_always"
      })
      assert.strictEqual(asked.length, 1)
      const question = JSON.stringify(asked[0])
      for (const part of [`Trust ${work}?`, "the hook PostToolUse: touch hooked", "the rule allow Bash(touch made)"]) {
        assert.include(question, part)
      }
      assert.isTrue(existsSync(join(work, "made")))
      assert.isTrue(existsSync(join(work, "hooked")))
      assert.isFalse(existsSync(join(work, "never")))
      assert.include(said, "Denied by the permission rule Bash(touch never)")
      const again = yield* play(work, [bash("touch made")], { home: agent.home })
      assert.deepStrictEqual(again.asked, [])
    })
  )

  it.live("without it, deny rules hold, and allow rules and hooks do not", () =>
    Effect.gen(function* () {
      const work = yield* setUp
      const { asked, said } = yield* play(work, [bash("touch made"), bash("touch never")])
      assert.strictEqual(asked.length, 2)
      assert.include(said, "Denied by the permission rule Bash(touch never)")
      for (const name of ["made", "never", "hooked"]) assert.isFalse(existsSync(join(work, name)))
    })
  )

  it.live("is given, shown and taken back on the command line", () =>
    Effect.gen(function* () {
      const work = yield* setUp
      const home = yield* folder
      const run = (...args: ReadonlyArray<string>) =>
        execFileSync(node, [bin, "trust", ...args], {
          encoding: "utf8",
          env: { ...process.env, SUPERCHARGE_HOME: home }
        })
      assert.include(run(work), "- the hook PostToolUse: touch hooked")
      assert.match(run("list"), new RegExp(`^trusted\t${work}\tsince \\d{4}-`))
      const trusted = yield* play(work, [bash("touch made")], { home })
      assert.deepStrictEqual(trusted.asked, [])
      assert.include(run("revoke", work), "is asked about again")
      const asked = yield* play(work, [bash("touch made")], { home })
      assert.include(JSON.stringify(asked.asked[0]), `Trust ${work}?`)
    })
  )

  it.live("--trust asks nobody and keeps nothing", () =>
    Effect.gen(function* () {
      const work = yield* setUp
      const { agent, asked } = yield* play(work, [bash("touch made")], { args: ["--trust"] })
      assert.deepStrictEqual(asked, [])
      assert.isTrue(existsSync(join(work, "hooked")))
      assert.isFalse(existsSync(join(agent.home, "trust.json")))
    })
  )
})

/** A `PATH` on which everything is but bubblewrap. */
const pathWithout = (base: string) => {
  const path = join(base, "programs")
  mkdirSync(path)
  for (const name of ["bash", "sh", "cat", "touch", "env", "git", "mkdir", "sleep"]) {
    const found = execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim()
    symlinkSync(found, join(path, name))
  }
  return path
}

describe.runIf(process.platform === "linux")("where there is no sandbox", () => {
  it.live("always-approve runs commands and says once what is missing", () =>
    Effect.gen(function* () {
      const { base, work } = yield* repository
      const { said } = yield* play(work, [bash("touch made"), bash("touch more")], {
        args: ["--always-approve"],
        env: { PATH: pathWithout(base) }
      })
      assert.strictEqual(said.split("Commands run without a sandbox: bubblewrap is not installed").length, 2)
      assert.include(said, "apt install bubblewrap")
      assert.isTrue(existsSync(join(work, "made")))
    })
  )

  it.live("a profile that somebody asked for means that a person is asked, in every mode", () =>
    Effect.gen(function* () {
      const { base, work } = yield* repository
      const { asked } = yield* play(work, [bash("touch made")], {
        args: ["--always-approve", "--sandbox", "strict"],
        env: { PATH: pathWithout(base) }
      })
      assert.strictEqual(asked.length, 1)
      assert.isFalse(existsSync(join(work, "made")))
    })
  )

  it.live("auto asks about what it would run confined", () =>
    Effect.gen(function* () {
      const { base, work } = yield* repository
      const { asked } = yield* play(work, [bash("mkdir -p made")], {
        args: ["--permission-mode", "auto"],
        env: { PATH: pathWithout(base) }
      })
      assert.strictEqual(asked.length, 1)
      assert.isFalse(existsSync(join(work, "made")))
    })
  )
})

describe.runIf(hasBubblewrap)("the sandbox", () => {
  it.live("auto runs known commands in it, and asks about one that has to leave it", () =>
    Effect.gen(function* () {
      const { work } = yield* repository
      const steps = [bash("mkdir -p made && touch made/x"), bash("touch y", { unsandboxed: true, reason: "has to" })]
      const { asked, said } = yield* play(work, steps, { args: ["--permission-mode", "auto"] })
      assert.isTrue(existsSync(join(work, "made/x")))
      assert.strictEqual(asked.length, 1)
      assert.include(JSON.stringify(asked[0]), "Outside of the sandbox: has to")
      assert.include(said, '"sandbox":"workspace"')
    })
  )

  for (const [how, more, seconds] of [
    ["a command", {}, "300.75"],
    ["a command outside of it", { unsandboxed: true, reason: "has to" }, "300.25"]
  ] as const) {
    it.live(`${how} ends with the agent, also when that is killed`, () =>
      Effect.gen(function* () {
        const { base, work } = yield* repository
        const agent = yield* RawAgent.start({
          cwd: work,
          steps: [bash(`sleep ${seconds} & wait`, more), done],
          args: ["--always-approve"],
          env: { TMPDIR: base }
        })
        yield* agent.ok("initialize", { protocolVersion: 1, clientCapabilities: {} })
        const { sessionId = null } = yield* agent.ok("session/new", { cwd: work, mcpServers: [] })
        yield* agent.ask("session/prompt", { sessionId, prompt: [{ type: "text", text: "Go" }] })
        const sleeping = () => {
          try {
            return execFileSync("pgrep", ["-f", `^sleep ${seconds}`], { encoding: "utf8" })
              .trim()
              .split("\n")
              .map(Number)
          } catch {
            return []
          }
        }
        yield* Effect.timeout(
          until(() => sleeping().length > 0),
          "10 seconds"
        )
        const pids = sleeping()
        yield* agent.kill("SIGKILL")
        yield* Effect.timeout(
          until(() => !pids.some(isAlive)),
          "5 seconds"
        )
      })
    )
  }

  it.live("--sandbox is refused with the list when it is none", () =>
    Effect.sync(() => {
      try {
        execFileSync(node, [bin, "acp", "--sandbox", "tight"], { stdio: "pipe", encoding: "utf8" })
        assert.fail("it started")
      } catch (error) {
        const { status, stderr } = error as { readonly status?: number; readonly stderr?: string }
        assert.strictEqual(status, 2)
        assert.match(stderr ?? "", /workspace.*read-only.*strict/s)
      }
    })
  )

  it.live("--deny is refused when it cannot be read", () =>
    Effect.sync(() => {
      try {
        execFileSync(node, [bin, "acp", "--deny", "Bahs(x)"], { stdio: "pipe", encoding: "utf8" })
        assert.fail("it started")
      } catch (error) {
        const { status, stderr } = error as { readonly status?: number; readonly stderr?: string }
        assert.strictEqual(status, 2)
        assert.include(stderr ?? "", "there is no such tool")
      }
    })
  )
})
