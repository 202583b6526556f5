/** Folder trust, the files of projects and hooks, and the flags about them, on the real program. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { folder, run } from "../support/Program.ts"
import * as RawAgent from "../support/RawAgent.ts"

type Step = NonNullable<RawAgent.Options["steps"]>[number]

const tool = (name: string, input: Schema.JsonObject): Step => ({ parts: [{ tool: { name, input } }] })
const touch = (name: string) => tool("bash", { command: `touch ${name}` })

/** A session in `cwd`, with one prompt that plays the steps; every question gets the first option of that kind. */
const play = Effect.fnUntraced(function* (
  cwd: string,
  steps: ReadonlyArray<Step>,
  { answer, ...options }: RawAgent.Options & { readonly answer: string }
) {
  const asked: Array<string> = []
  const agent = yield* RawAgent.start({
    cwd,
    steps: [...steps, { parts: [{ text: "Done." }] }],
    onRequest: (method, params) => {
      if (method !== "session/request_permission") return { error: { code: -32601, message: "no" } }
      asked.push(JSON.stringify(params["toolCall"]))
      const found = /"optionId":"([^"]+)","name":"[^"]*","kind":"KIND"/.source.replace("KIND", answer)
      const optionId = new RegExp(found).exec(JSON.stringify(params["options"]))?.[1] ?? null
      return { result: { outcome: { outcome: "selected", optionId } } }
    },
    ...options
  })
  yield* agent.ok("initialize", { protocolVersion: 1, clientCapabilities: { session: { notices: {} } } })
  const { sessionId = null } = yield* agent.ok("session/new", { cwd, mcpServers: [] })
  yield* agent.ok("session/prompt", { sessionId, prompt: [{ type: "text", text: "Go" }] })
  return { agent, asked, said: JSON.stringify(agent.seen) }
})

/** A repository whose folder `deep` has configuration of its own. */
const repository = Effect.map(folder, (base) => {
  const root = join(base, "work")
  const deep = join(root, "deep")
  mkdirSync(join(root, ".supercharge"), { recursive: true })
  mkdirSync(join(deep, ".supercharge", "hooks"), { recursive: true })
  execFileSync("git", ["init", "-q"], { cwd: root })
  writeFileSync(
    join(root, ".supercharge", "config.toml"),
    '[permission]\nallow = ["Bash(touch made)"]\ndeny = ["Bash(touch never)"]\n'
  )
  writeFileSync(join(deep, ".supercharge", "hooks", "all.json"), hooksOf("touch hooked"))
  return { base, root, deep }
})

const hooksOf = (command: string) =>
  JSON.stringify({ hooks: { PostToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command }] }] } })

describe("folder trust", () => {
  it.live("from a folder inside holds in that very turn, outlasts the process, and a change says what is new", () =>
    Effect.gen(function* () {
      const { deep, root } = yield* repository
      const first = yield* play(deep, [touch("made"), touch("never")], { answer: "allow_always" })
      assert.strictEqual(first.asked.length, 1, first.asked.join("\n"))
      for (const part of [`Trust ${root}?`, "the hook PostToolUse (Bash): touch hooked", "allow Bash(touch made)"]) {
        assert.include(first.asked[0] ?? "", part)
      }
      assert.deepStrictEqual(
        ["made", "hooked", "never"].map((name) => existsSync(join(deep, name))),
        [true, true, false]
      )
      const { home } = first.agent
      assert.strictEqual(statSync(join(home, "trust.json")).mode & 0o777, 0o600)
      const again = yield* play(deep, [touch("made")], { answer: "reject_once", home })
      assert.deepStrictEqual(again.asked, [])
      writeFileSync(join(deep, ".supercharge", "hooks", "all.json"), hooksOf("touch worse"))
      const changed = yield* play(deep, [touch("made")], { answer: "reject_once", home })
      assert.include(
        changed.asked[0] ?? "",
        "the hook PostToolUse (Bash): touch worse (new since you trusted this folder)"
      )
      assert.isFalse(existsSync(join(deep, "worse")))
    })
  )

  it.live("on the command line shows what it brings before it is kept; a repository inside is another one", () =>
    Effect.gen(function* () {
      const { base, deep, root } = yield* repository
      const env = { SUPERCHARGE_HOME: join(base, "home") }
      const trust = (...args: ReadonlyArray<string>) => run(["trust", ...args], { env })
      const given = yield* trust(deep)
      assert.deepStrictEqual([given.end, given.stderr], [0, ""])
      assert.match(
        given.stdout,
        /brings:\n- the rule allow Bash\(touch made\)\n- the hook PostToolUse \(Bash\): touch hooked\nIt is trusted with that\..*\nsuper-pi trust revoke \//
      )
      assert.strictEqual((yield* trust(root)).stdout, `${root} is trusted already\n`)
      const vendor = join(root, "vendor")
      mkdirSync(join(vendor, ".supercharge"), { recursive: true })
      execFileSync("git", ["init", "-q"], { cwd: vendor })
      writeFileSync(join(vendor, ".supercharge", "config.toml"), '[permission]\nallow = ["Bash"]')
      assert.match((yield* trust("list")).stdout, new RegExp(`^trusted\t${root}\tsince \\d{4}-[^\n]*\n$`))
      const [listed] = (yield* trust("list", "--json")).stdout.split("\n")
      assert.deepInclude(JSON.parse(listed ?? ""), { root, trusted: true })
      const { asked } = yield* play(vendor, [touch("made")], { answer: "reject_once", home: env.SUPERCHARGE_HOME })
      assert.include(asked[0] ?? "", `Trust ${vendor}?`)
      assert.include((yield* trust("revoke", deep)).stdout, `${root} is asked about again`)
      const nothing = yield* trust("revoke", deep)
      assert.deepStrictEqual([nothing.end, nothing.stdout], [1, ""])
      assert.include(nothing.stderr, "Nothing was decided about")
      const nowhere = yield* trust(join(base, "nowhere"))
      assert.deepStrictEqual([nowhere.end, nowhere.stdout], [1, ""])
      assert.include(nowhere.stderr, "is no folder")
      assert.include(readFileSync(join(env.SUPERCHARGE_HOME, "trust.json"), "utf8"), '"decisions":[]')
    })
  )

  it.live("a file of hooks that cannot be read is told in the session", () =>
    Effect.gen(function* () {
      const { base, deep } = yield* repository
      const home = join(base, "home")
      mkdirSync(join(home, "hooks"), { recursive: true })
      writeFileSync(join(home, "hooks", "guard.json"), '{ "hooks": { "PreToolUse": [')
      const { said } = yield* play(deep, [], { answer: "reject_once", home })
      assert.include(said, "guard.json is no JSON object, so none of its hooks runs; correct it or move it away")
    })
  )
})

describe("flags", () => {
  it.live("rules of the command line hold in every mode, and other agents' names of modes are known", () =>
    Effect.gen(function* () {
      const work = yield* folder
      const denied = yield* play(work, [touch("never"), touch("made")], {
        answer: "reject_once",
        args: ["--permission-mode", "bypassPermissions", "--deny", "Bash(touch never)", "--ask", "Bash(touch made)"]
      })
      assert.include(denied.said, "Denied by the permission rule Bash(touch never)")
      assert.strictEqual(denied.asked.length, 1)
      const allowed = yield* play(work, [touch("made")], { answer: "reject_once", args: ["--allow", "Bash(touch *)"] })
      assert.deepStrictEqual(allowed.asked, [])
      assert.isTrue(existsSync(join(work, "made")))
      const planner = yield* play(work, [tool("write", { path: "new", content: "x" })], {
        answer: "reject_once",
        args: ["--harness", "super-pi-planner"]
      })
      assert.notInclude(planner.said, '"kind":"edit"')
      assert.isFalse(existsSync(join(work, "new")))
    })
  )

  it.live("an editor with flags of its own gets an agent of its own where the configuration says share", () =>
    Effect.gen(function* () {
      const work = yield* folder
      const { agent, said } = yield* play(work, [touch("never")], {
        answer: "reject_once",
        args: ["--always-approve", "--deny", "Bash(touch never)"],
        config: "[cli]\nuse_leader = true\n"
      })
      assert.include(said, "Denied by the permission rule Bash(touch never)")
      assert.isFalse(existsSync(join(agent.home, "leader")))
    })
  )

  it.live.each([
    ["acp --deny Bash(rm", "--deny Bash(rm: its parenthesis is not closed"],
    ["acp --allow Shell", "--allow Shell: there is no such tool"],
    ["acp --ask *(x)", "takes no pattern"],
    ["acp --sandbox none", '"off" | "workspace" | "read-only" | "strict"'],
    ["acp --permission-mode dontAsk", '"plan" | "ask"'],
    [
      "acp --leader --deny Edit",
      "--deny cannot hold for an agent that editors share: write it into config.toml where that has it"
    ],
    ["agent --leader --sandbox strict stdio", "--sandbox cannot hold for an agent that editors share"],
    ["agent --trust leader", "the leader takes no --trust: write it into config.toml"],
    ["agent stdio --trust", "--trust stands after the transport's name"],
    ["agent --harness super-pi-code stdio --deny Edit", "--deny stands after the transport's name"],
    ["agent --model=a/b serve --ask Edit", "--ask stands after the transport's name"]
  ] as const)("super-pi %s is a usage error", ([line, complaint]) =>
    Effect.gen(function* () {
      const { end, stderr, stdout } = yield* run(line.split(" "))
      assert.deepStrictEqual([end, stdout], [2, ""])
      assert.include(stderr, complaint)
    })
  )
})
