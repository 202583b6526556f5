/** What a person's answers, rules and modes mean for the built program, and how remembered answers are listed and revoked. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bin, folder as madeFolder, node, run } from "../support/Program.ts"
import { always, newSession, open, questions, selected, turn } from "../support/Probe.ts"
import type { JsonObject, RawAgent } from "../support/RawAgent.ts"
import { at } from "../support/Schema.ts"
import { callsOf, shownBy, updatesOf } from "../support/Updates.ts"

const folder = Effect.map(madeFolder, (path) => realpathSync(path))
const call = (name: string, input: JsonObject) => ({ tool: { name, input } })
const bash = (command: string) => call("bash", { command })
const write = (path: string) => call("write", { path, content: "1" })
const done = { parts: [{ text: "done" }] }

const modes = ["plan", "ask", "accept-edits", "auto", "always-approve"] as const

/** Whether this machine lets a sandbox be made: without one, `auto` asks before every command that does something. */
const isConfinable =
  spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"]).status === 0

/** Ran unasked, was asked about, was refused unasked. */
type Fate = "ran" | "asked" | "refused"
const [R, Q, D] = ["ran", "asked", "refused"] as const
const S = isConfinable ? R : Q

type Row = readonly [name: string, call: (outside: string) => ReturnType<typeof call>, ...fates: ReadonlyArray<Fate>]

const rows: ReadonlyArray<Row> = [
  // Modes alone:                                                              plan ask edits auto always
  ["reads a file", () => call("read", { path: "a.txt" }), R, R, R, R, R],
  ["reads a file outside", (outside) => call("read", { path: `${outside}/b.txt` }), Q, Q, Q, Q, R],
  ["edits a file", () => write("new.txt"), D, Q, R, R, R],
  ["edits a file that decides what runs", () => write(".vscode/tasks.json"), D, Q, Q, Q, R],
  ["edits a file outside", (outside) => write(`${outside}/made`), D, Q, Q, Q, R],
  ["edits a file outside through a link", () => write("link/made"), D, Q, Q, Q, R],
  ["runs what only reads", () => bash("cat a.txt | wc -l"), R, R, R, R, R],
  ["runs what is known to stay here", () => bash("mkdir -p made"), D, Q, Q, S, R],
  ["runs what may do anything", () => bash("rm -f nothing"), D, Q, Q, Q, R],
  ["runs what cannot be split", () => bash("echo $(rm -f nothing)"), D, Q, Q, Q, R],
  [
    "runs outside of the sandbox",
    () => call("bash", { command: "true", unsandboxed: true, reason: "x" }),
    D,
    Q,
    Q,
    Q,
    R
  ],
  // An allow rule:
  ["runs what a rule allows", () => bash("printf x"), D, R, R, R, R],
  ["runs more than a rule allows", () => bash("printf x; rm -f nothing"), D, Q, Q, Q, R],
  ["runs what a rule allows and redirects it", () => bash("printf x > made.txt"), D, Q, Q, Q, R],
  // An ask rule:
  ["runs what a rule asks about", () => bash("cp a.txt c.txt"), D, Q, Q, Q, Q],
  ["runs what a rule asks about, behind others", () => bash("ls; env X=1 cp a.txt c.txt"), D, Q, Q, Q, Q],
  ["edits what a rule asks about", () => write("a.sql"), D, Q, Q, Q, R],
  // A deny rule:
  ["runs what a rule denies", () => bash("shred nothing"), D, D, D, D, D],
  ["runs what a rule denies, inside another", () => bash("sudo bash -c 'ls; /usr/bin/shred x'"), D, D, D, D, D],
  ["reads what a rule denies", () => call("read", { path: "secret.txt" }), D, D, D, D, D],
  ["reads what a rule denies, by a link", () => call("read", { path: "secret.link" }), D, D, D, D, D],
  ["shows what a rule denies", () => bash("cat secret.txt"), D, D, D, D, D],
  ["shows what a rule denies, by a link", () => bash("cat ./secret.link"), D, D, D, D, D],
  ["edits what a rule denies", () => write("locked.txt"), D, D, D, D, D],
  ["writes what a rule denies", () => bash("printf x >> locked.txt"), D, D, D, D, D]
]

const config = `[permission]
allow = ["Bash(printf *)"]
ask = ["Bash(cp *)", "Edit(*.sql)"]
deny = ["Read(secret.txt)", "Edit(locked.txt)"]
rules = [{ action = "deny", tool = "bash", pattern = "shred *" }]
`

const setMode = (agent: RawAgent, sessionId: string, modeId: string) =>
  agent.ok("session/set_mode", { sessionId, modeId })

/** What became of the calls of a session, in their order. */
const fatesOf = (agent: RawAgent, session: string): ReadonlyArray<Fate> => {
  const asked = new Set(questions(agent).map(({ toolCallId }) => toolCallId))
  return callsOf(updatesOf(agent, session)).map(({ id, statuses }) => {
    if (statuses.includes("in_progress")) return R
    return asked.has(id) ? Q : D
  })
}

const places = Effect.gen(function* () {
  const place = yield* folder
  const outside = yield* folder
  writeFileSync(join(place, "a.txt"), "a\n")
  writeFileSync(join(place, "secret.txt"), "hidden")
  writeFileSync(join(place, "locked.txt"), "")
  writeFileSync(join(outside, "b.txt"), "b")
  symlinkSync("secret.txt", join(place, "secret.link"))
  symlinkSync(outside, join(place, "link"))
  return { place, outside }
})

describe("modes and rules", () => {
  for (const [index, mode] of modes.entries()) {
    it.live(`the whole table in ${mode}`, () =>
      Effect.gen(function* () {
        const { outside, place } = yield* places
        const agent = yield* open({
          config,
          onRequest: always("reject_once"),
          steps: [...rows.map(([, call]) => ({ parts: [call(outside)] })), done]
        })
        const session = yield* newSession(agent, place)
        yield* setMode(agent, session, mode)
        assert.strictEqual(yield* turn(agent, session, "go"), "end_turn")
        const fates = fatesOf(agent, session)
        assert.deepStrictEqual(
          rows.map(([name], at) => `${name}: ${fates[at]}`),
          rows.map(([name, , ...expected]) => `${name}: ${expected[index]}`)
        )
        assert.strictEqual(existsSync(join(outside, "made")), mode === "always-approve")
        assert.strictEqual(readFileSync(join(place, "locked.txt"), "utf8"), "")
        assert.notInclude(JSON.stringify(agent.seen), "hidden")
      })
    )
  }

  it.live("every mode is offered, and told as an option", () =>
    Effect.gen(function* () {
      const agent = yield* open({ steps: [done] })
      const opened = yield* agent.ok("session/new", { cwd: yield* folder, mcpServers: [] })
      const list = at(opened, "modes", "availableModes")
      assert.deepStrictEqual(
        (Array.isArray(list) ? list : []).map((mode) => at(mode, "id")),
        [...modes]
      )
    })
  )

  it.live("a no fails the call with the words of the person, and the turn goes on", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const agent = yield* open({
        steps: [{ parts: [write("a.txt")] }, done],
        onRequest: (method) =>
          method === "session/request_permission"
            ? {
                result: {
                  ...selected("reject-once"),
                  _meta: { followup_message: "use make" }
                }
              }
            : undefined
      })
      const session = yield* newSession(agent, place)
      assert.strictEqual(yield* turn(agent, session, "go"), "end_turn")
      const [only] = callsOf(updatesOf(agent, session))
      assert.strictEqual(only?.latest["status"], "failed")
      assert.include(shownBy(only!.latest), "wrote: use make")
    })
  )
})

describe("a machine without a sandbox", () => {
  /** The programs of this machine, but not the one that makes sandboxes. */
  const programs = Effect.tap(folder, (path) =>
    Effect.sync(() => {
      for (const name of ["bash", "cat", "env", "sh", "touch"]) {
        const place = ["/usr/bin", "/bin"].map((bin) => join(bin, name)).find(existsSync)
        if (place !== undefined) symlinkSync(place, join(path, name))
      }
    })
  )

  for (const [name, config, mode, ...fates] of [
    ["asks about every command where one was wanted, whatever the mode", "strict", "always-approve", Q, Q, R],
    ["asks about every command where one was wanted", "workspace", "auto", Q, Q, R],
    ["asks about what may do something where none was wanted", undefined, "auto", R, Q, R],
    ["asks about nothing in always-approve where none was wanted", undefined, "always-approve", R, R, R]
  ] as const) {
    it.live(name, () =>
      Effect.gen(function* () {
        const place = yield* folder
        writeFileSync(join(place, "a.txt"), "a")
        const agent = yield* open({
          ...(config === undefined ? {} : { config: `[sandbox]\nprofile = "${config}"\n` }),
          env: { PATH: yield* programs },
          onRequest: always("reject_once"),
          steps: [{ parts: [bash("cat a.txt"), bash("touch made"), write("b.txt")] }, done]
        })
        const session = yield* newSession(agent, place)
        yield* setMode(agent, session, mode)
        yield* turn(agent, session, "go")
        assert.deepStrictEqual(fatesOf(agent, session), fates)
        assert.strictEqual(existsSync(join(place, "made")), fates[1] === R)
      })
    )
  }
})

describe("remembered answers", () => {
  const grantsOf = (home: string, cwd: string, ...args: ReadonlyArray<string>) =>
    Effect.map(
      run(['cd "$0" && exec "$@"', cwd, node, bin, "permissions", ...args], {
        env: { SUPERCHARGE_HOME: home },
        node: "sh",
        bin: "-c"
      }),
      ({ end, stderr, stdout }) => ({ end, stderr, lines: stdout.split("\n").filter((line) => line !== "") })
    )

  /** Runs the command in a new process and session; whether a question came. */
  const tries = Effect.fnUntraced(function* (home: string, cwd: string, command: string, kind: string, mode = "ask") {
    const agent = yield* open({ home, onRequest: always(kind), steps: [{ parts: [bash(command)] }, done] })
    const session = yield* newSession(agent, cwd)
    yield* setMode(agent, session, mode)
    yield* turn(agent, session, "go")
    const [only] = callsOf(updatesOf(agent, session))
    yield* agent.closeInput
    yield* agent.ended
    return { asked: questions(agent).length, status: only?.latest["status"] }
  }, Effect.scoped)

  it.live("hold for their project, in later sessions, until they are revoked", () =>
    Effect.gen(function* () {
      const home = join(yield* folder, "home")
      const one = yield* folder
      const other = yield* folder
      const ran = { asked: 0, status: "completed" }
      assert.deepStrictEqual(yield* tries(home, one, "touch made", "allow_always"), { asked: 1, status: "completed" })
      assert.deepStrictEqual(yield* tries(home, one, "touch made", "reject_once"), ran)
      assert.deepStrictEqual(yield* tries(home, one, "touch made2", "reject_once"), { asked: 1, status: "failed" })
      assert.deepStrictEqual(yield* tries(home, other, "touch made", "reject_once"), { asked: 1, status: "failed" })
      assert.strictEqual(statSync(join(home, "grants.json")).mode & 0o777, 0o600)

      const { lines } = yield* grantsOf(home, one, "list")
      assert.lengthOf(lines, 1)
      const [id = "", ...words] = lines[0]!.split("\t")
      assert.deepStrictEqual(words.slice(0, 3), ["allow", "Bash(touch made)", one])
      assert.deepStrictEqual((yield* grantsOf(home, other, "list")).lines, [])
      const [json = "{}"] = (yield* grantsOf(home, other, "list", "--all", "--json")).lines
      assert.deepInclude(JSON.parse(json), { id, project: one, access: "Execute", subject: "touch made", folder: one })
      assert.deepStrictEqual((yield* grantsOf(home, other, "revoke", id)).lines, [`Revoked Bash(touch made) in ${one}`])
      assert.deepInclude(yield* grantsOf(home, other, "revoke", id), { end: 1, lines: [] })
      assert.deepStrictEqual(yield* tries(home, one, "touch made", "reject_once"), { asked: 1, status: "failed" })
    })
  )

  it.live("belong to a repository, and each worktree is a project of its own", () =>
    Effect.gen(function* () {
      const home = join(yield* folder, "home")
      const main = yield* folder
      const tree = join(yield* folder, "tree")
      const git = (...args: ReadonlyArray<string>) =>
        assert.strictEqual(spawnSync("git", ["-C", main, ...args], { stdio: "ignore" }).status, 0, args.join(" "))
      git("init", "-q")
      git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
      git("worktree", "add", "-q", tree)
      mkdirSync(join(main, "sub"))
      const asked = (cwd: string, command: string, kind: string) =>
        Effect.map(tries(home, cwd, command, kind), ({ asked }) => asked)
      assert.strictEqual(yield* asked(main, "touch made", "allow_always"), 1)
      assert.strictEqual(yield* asked(join(main, "sub"), "rm made", "reject_always"), 1)
      assert.strictEqual(yield* asked(main, "touch made", "reject_once"), 0)
      assert.strictEqual(yield* asked(join(main, "sub"), "touch made", "reject_once"), 1)
      assert.strictEqual(yield* asked(main, "rm made", "allow_once"), 0)
      assert.isTrue(existsSync(join(main, "made")))
      assert.strictEqual(yield* asked(tree, "touch made", "reject_once"), 1)
      assert.strictEqual(yield* asked(tree, "rm made", "reject_once"), 1)
      assert.lengthOf((yield* grantsOf(home, join(main, "sub"), "list")).lines, 2)
      assert.lengthOf((yield* grantsOf(home, tree, "list")).lines, 0)
    })
  )

  it.live("a running agent notices that one was revoked", () =>
    Effect.gen(function* () {
      const home = join(yield* folder, "home")
      const place = yield* folder
      const steps = [1, 2, 3].flatMap(() => [{ parts: [bash("touch made")] }, done])
      const agent = yield* open({ home, onRequest: always("allow_always"), steps })
      const session = yield* newSession(agent, place)
      yield* turn(agent, session, "go")
      yield* turn(agent, session, "go")
      assert.lengthOf(questions(agent), 1)
      assert.lengthOf((yield* grantsOf(home, place, "revoke", "--all")).lines, 1)
      yield* turn(agent, session, "go")
      assert.lengthOf(questions(agent), 2)
    })
  )

  it.live("never holds in every mode, and in the next process", () =>
    Effect.gen(function* () {
      const home = join(yield* folder, "home")
      const place = yield* folder
      assert.deepInclude(yield* tries(home, place, "touch made", "reject_always"), { asked: 1, status: "failed" })
      for (const mode of modes) {
        const fate = yield* tries(home, place, "touch   made", "allow_once", mode)
        assert.deepStrictEqual(fate, { asked: 0, status: "failed" }, mode)
      }
      assert.isFalse(existsSync(join(place, "made")))
      assert.deepStrictEqual((yield* grantsOf(home, place, "list")).lines[0]?.split("\t")[1], "never")
    })
  )

  it.live("those that cannot be read are no yes, and the question says why", () =>
    Effect.gen(function* () {
      const home = join(yield* folder, "home")
      const place = yield* folder
      mkdirSync(home, { recursive: true })
      writeFileSync(join(home, "grants.json"), "{")
      const agent = yield* open({
        home,
        onRequest: always("reject_once"),
        steps: [{ parts: [bash("touch made")] }, done]
      })
      const session = yield* newSession(agent, place)
      yield* setMode(agent, session, "always-approve")
      yield* turn(agent, session, "go")
      assert.lengthOf(questions(agent), 1)
      assert.include(JSON.stringify(questions(agent)[0]?.params), "was left as it is")
      assert.isFalse(existsSync(join(place, "made")))
      assert.strictEqual((yield* grantsOf(home, place, "list")).end, 1)
      assert.strictEqual(readFileSync(join(home, "grants.json"), "utf8"), "{")
    })
  )

  it.live("are not offered where they are not wanted", () =>
    Effect.gen(function* () {
      const agent = yield* open({
        config: "[ui]\nremember_tool_approvals = false\n",
        onRequest: always("reject_once"),
        steps: [{ parts: [bash("touch made"), write("a.txt")] }, done]
      })
      yield* turn(agent, yield* newSession(agent, yield* folder), "go")
      assert.deepStrictEqual(
        questions(agent).map(({ params }) => at(params, "options")),
        [1, 2].map(() => [
          { optionId: "allow-once", name: "Allow once", kind: "allow_once" },
          { optionId: "reject-once", name: "Reject", kind: "reject_once" }
        ])
      )
    })
  )

  it.live("a wrong use is an error that says what to write", () =>
    Effect.gen(function* () {
      const home = join(yield* folder, "home")
      const place = yield* folder
      const { end, stderr } = yield* grantsOf(home, place, "revoke")
      assert.strictEqual(end, 1)
      assert.include(stderr, "permissions list")
      assert.include((yield* grantsOf(home, place, "list")).stderr, "Nothing is remembered")
      assert.strictEqual((yield* grantsOf(home, place, "revoke", "x", "--all")).end, 1)
    })
  )
})
