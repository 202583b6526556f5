/** `super-pi config`, on the real program. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Ended, ended, folder, start } from "../support/Program.ts"
import * as RawAgent from "../support/RawAgent.ts"

const written = `# Mine: do not lose this.
[models]
default = "local/qwen" # the small one

[providers.local]
kind = "openai-compatible"
base_url = "http://127.0.0.1:1/v1"
models = ["qwen"]

[sandbox]
profile = "workspce"

[mcp_servers.files]
command = "npx"
env = { WORD = "swordfish-and-more" }
`

const home = Effect.map(folder, (base) => {
  const config = join(base, "home", "config.toml")
  mkdirSync(join(base, "home"))
  writeFileSync(config, written, { mode: 0o640 })
  const env = {
    SUPERCHARGE_HOME: join(base, "home"),
    SUPERCHARGE_RELAY_TOKEN: "relay-token-1",
    OPENAI_API_KEY: "sk-open"
  }
  const configure = (args: ReadonlyArray<string>, input = ""): Effect.Effect<Ended> =>
    Effect.scoped(
      Effect.flatMap(start(["config", ...args], { cwd: base, env }), (child) => {
        child.stdin.end(input)
        return ended(child)
      })
    )
  return { base, config, configure }
})

describe("config show", () => {
  it.live("prints each value with where it comes from, and no secret", () =>
    Effect.gen(function* () {
      const { base, config, configure } = yield* home
      mkdirSync(join(base, ".supercharge"))
      writeFileSync(
        join(base, ".supercharge", "config.toml"),
        '[permission]\ndeny = ["Edit"]\n[models]\ndefault = "x/y"\n'
      )
      const { end, stderr, stdout } = yield* configure(["show", "--deny", "Bash(rm *)", "--effort", "high"])
      assert.strictEqual(end, 0, stderr)
      for (const row of [
        ["models.default", '"local/qwen"', `${config}:3`],
        ["models.default_reasoning_effort", '"high"', "--reasoning-effort"],
        ["providers.local.models", '["qwen"]', `${config}:8`],
        ["providers.openai.api_key", "(hidden)", "OPENAI_API_KEY"],
        ["permission.deny", '["Edit", "Bash(rm *)"]', `${base}/.supercharge/config.toml:2, over --deny`],
        ["sandbox.profile", '"strict"', `${config}:11`],
        ["toolset.bash.process_limit", "512", "default"],
        ["relay.token", "(hidden)", "SUPERCHARGE_RELAY_TOKEN"],
        ["mcp_servers.files.env", "(hidden)", `${config}:15`]
      ]) {
        assert.include(stdout, `${row.join("\t")}\n`)
      }
      assert.match(stderr, /config\.toml:11: sandbox\.profile must be one of "off", .*; the profile is "strict"/)
      assert.match(stderr, /not trusted, so this .* is not used:\n- models\.default = x\/y/)
      for (const secret of ["swordfish", "relay-token-1", "sk-open"]) assert.notInclude(stdout + stderr, secret)
    })
  )

  it.live("of one key or section, as JSON too; what does not exist is told with what was meant", () =>
    Effect.gen(function* () {
      const { config, configure } = yield* home
      const section = yield* configure(["show", "toolset.bash"])
      assert.strictEqual(
        section.stdout,
        "toolset.bash.timeout_secs\t120\tdefault\ntoolset.bash.process_limit\t512\tdefault\n"
      )
      const json = yield* configure(["show", "--json", "models.default"])
      assert.deepStrictEqual(JSON.parse(json.stdout), {
        key: "models.default",
        value: "local/qwen",
        from: { layer: "file", name: config, line: 3 },
        over: []
      })
      const unset = yield* configure(["show", "relay.url"])
      assert.deepStrictEqual([unset.end, unset.stdout], [0, ""])
      assert.include(unset.stderr, "relay.url is not set")
      const wrong = yield* configure(["show", "sanbox.profile"])
      assert.deepStrictEqual([wrong.end, wrong.stdout], [1, ""])
      assert.include(wrong.stderr, 'There is no key "sanbox.profile"; did you mean sandbox.profile?')
    })
  )
})

describe("config set and unset", () => {
  it.live("change one key and nothing else, and the next session has it", () =>
    Effect.gen(function* () {
      const { base, config, configure } = yield* home
      for (const [args, input] of [
        [["set", "sandbox.profile", "read-only"]],
        [["set", "toolset.bash.timeout_secs", "30"]],
        [["set", "permission.deny", '["Bash(rm *)"]']],
        [["set", "relay.token", "-"], "a-token\n"],
        [["set", "ui.permission_mode", "plan"]],
        [["unset", "mcp_servers.files.env"]]
      ] satisfies ReadonlyArray<[ReadonlyArray<string>, string?]>) {
        const { end, stderr } = yield* configure(args, input)
        assert.strictEqual(end, 0, stderr)
      }
      assert.strictEqual(
        readFileSync(config, "utf8"),
        `${written.replace('"workspce"', '"read-only"').replace(/env = .*\n/, "")}
[toolset.bash]
timeout_secs = 30

[permission]
deny = ["Bash(rm *)"]

[relay]
token = "a-token"

[ui]
permission_mode = "plan"
`
      )
      const agent = yield* RawAgent.start({ cwd: base, steps: [], home: join(base, "home") })
      yield* agent.ok("initialize", { protocolVersion: 1, clientCapabilities: {} })
      const { modes } = yield* agent.ok("session/new", { cwd: base, mcpServers: [] })
      assert.include(JSON.stringify(modes), '"currentModeId":"plan"')
    })
  )

  it.live("write nothing that would not be read as it is meant", () =>
    Effect.gen(function* () {
      const { config, configure } = yield* home
      for (const [args, words] of [
        [["set", "sandbox.profile", "tight"], /sandbox\.profile must be one of "off", "workspace"/],
        [["set", "toolset.bash.timeout_secs", "soon"], /must be a number of seconds/],
        [
          ["set", "permission.deny", '["Shell(rm)"]'],
          /was not changed: permission\.deny\[0\] is ignored: there is no such tool/
        ],
        [
          ["set", "providers.local.api_key", "sk-1"],
          /is a secret.*write - for the value.*super-pi login --provider local/
        ],
        [["set", "sandbox", "strict"], /There is no key "sandbox"/],
        [["set", "tolset.bash.timeout_secs", "1"], /did you mean toolset\.bash\.timeout_secs\?/],
        [["set", "models.default.x", "1"], /There is no key/],
        [["unset", "permision.deny"], /did you mean permission\.deny\?/]
      ] satisfies ReadonlyArray<[ReadonlyArray<string>, RegExp]>) {
        const { end, stderr, stdout } = yield* configure(args)
        assert.deepStrictEqual([end, stdout], [1, ""], args.join(" "))
        assert.match(stderr, words)
        assert.notInclude(stderr, "sk-1")
      }
      assert.strictEqual(readFileSync(config, "utf8"), written)
    })
  )

  it.live("make the file where there is none, for its owner alone", () =>
    Effect.gen(function* () {
      const base = yield* folder
      const env = { SUPERCHARGE_HOME: join(base, "new") }
      const child = yield* start(["config", "set", "acp.fs_delegation", "never"], { env })
      const { end, stderr } = yield* ended(child)
      assert.strictEqual(end, 0, stderr)
      const file = join(base, "new", "config.toml")
      assert.strictEqual(readFileSync(file, "utf8"), '[acp]\nfs_delegation = "never"\n')
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.isFalse(existsSync(`${file}.lock`))
    })
  )
})

describe("config path and schema", () => {
  it.live("say where the file is, and what it takes", () =>
    Effect.gen(function* () {
      const { config, configure } = yield* home
      assert.strictEqual((yield* configure(["path"])).stdout, `${config}\n`)
      const { stdout } = yield* configure(["schema"])
      assert.strictEqual(stdout, readFileSync("docs/config.schema.json", "utf8"))
    })
  )
})

describe("a trusted project", () => {
  it.live("chooses mode and time limit of the sessions in it; a flag stands above", () =>
    Effect.gen(function* () {
      const base = yield* folder
      const work = join(base, "work")
      mkdirSync(join(work, ".supercharge"), { recursive: true })
      writeFileSync(
        join(work, ".supercharge", "config.toml"),
        '[ui]\npermission_mode = "always-approve"\n[toolset.bash]\ntimeout_secs = 1\n'
      )
      const open = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
        const agent = yield* RawAgent.start({
          cwd: work,
          args,
          steps: [
            { parts: [{ tool: { name: "bash", input: { command: "sleep 100" } } }] },
            { parts: [{ text: "Done." }] }
          ]
        })
        yield* agent.ok("initialize", { protocolVersion: 1, clientCapabilities: {} })
        const { modes, sessionId = null } = yield* agent.ok("session/new", { cwd: work, mcpServers: [] })
        return { agent, mode: /"currentModeId":"([^"]+)"/.exec(JSON.stringify(modes))?.[1], sessionId }
      })
      assert.strictEqual((yield* open([])).mode, "ask")
      assert.strictEqual((yield* open(["--trust", "--permission-mode", "plan"])).mode, "plan")
      const { agent, mode, sessionId } = yield* open(["--trust"])
      assert.strictEqual(mode, "always-approve")
      yield* agent.ok("session/prompt", { sessionId, prompt: [{ type: "text", text: "Go" }] })
      assert.match(JSON.stringify(agent.seen), /timed out|ended after 1 s|took longer than 1/i)
    })
  )
})
