/** `acp setup` and `doctor` on the real program, and what people see who set something up in a wrong way. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { parseTree, valueOf } from "../../src/domain/text/json/JsonTree.ts"
import * as Result from "effect/Result"
import { ask, bin, folder, initialize, run, start } from "../support/Program.ts"
import * as RawAgent from "../support/RawAgent.ts"
import { hasPython, inTerminal } from "../support/PseudoTerminal.ts"

const read = (file: string): string => readFileSync(file, "utf8")

describe("acp setup", () => {
  it.live("lists the editors, and prints what is pasted, with the absolute path of the program", () =>
    Effect.gen(function* () {
      const list = yield* run(["acp", "setup"])
      for (const id of ["zed", "jetbrains", "neovim", "emacs", "vscode", "acpx"])
        assert.match(list.stdout, new RegExp(`^${id} `, "m"))
      const printed = yield* Effect.forEach(["neovim", "emacs", "vscode", "acpx"], (id) =>
        run(["acp", "setup", "--editor", id])
      )
      const [neovim, emacs, vscode, acpx] = printed.map(({ stdout }) => stdout)
      const quoted = JSON.stringify(bin)
      assert.include(neovim, `commands = { default = { ${quoted}, "acp" } }`)
      assert.include(neovim, `["super-pi"] = { command = ${quoted}, args = { "acp" } }`)
      assert.include(emacs, `:command ${quoted}\n                      :command-params '("acp")`)
      assert.deepStrictEqual(JSON.parse(vscode ?? ""), {
        "acp.agents": { "Super-Pi": { command: bin, args: ["acp"], env: {} } }
      })
      assert.include(acpx, `--agent '${bin} acp' exec`)
      assert.deepStrictEqual(JSON.parse(acpx?.split("\n\n")[0] ?? ""), {
        agents: { "super-pi": { argv: [bin, "acp"] } }
      })
      const unknown = yield* run(["acp", "setup", "--editor", "ed"])
      assert.deepStrictEqual([unknown.end, unknown.stdout], [2, ""])
      assert.include(unknown.stderr, '"zed" | "jetbrains"')
    })
  )

  it.live("writes into the settings of Zed once, behind a link, and what it wrote starts the agent", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const env = { HOME: home, XDG_CONFIG_HOME: "", FLATPAK_XDG_CONFIG_HOME: "" }
      const before = '// mine\n{\n  "theme": "One Dark", // dark\n}\n'
      mkdirSync(join(home, ".config", "zed"), { recursive: true })
      writeFileSync(join(home, "dotfile.json"), before)
      const file = join(home, ".config", "zed", "settings.json")
      symlinkSync(join(home, "dotfile.json"), file)
      const printed = yield* run(["acp", "setup", "--editor", "zed", "--print"], { env })
      assert.strictEqual(read(file), before)
      const first = yield* run(["acp", "setup", "--editor", "zed"], { env })
      assert.strictEqual(first.end, 0, first.stderr)
      assert.include(first.stdout, '+  "agent_servers": {')
      assert.notMatch(first.stdout, /^-[^-]/m)
      assert.isTrue(lstatSync(file).isSymbolicLink())
      assert.strictEqual(read(join(home, "dotfile.json.before-super-pi")), before)
      const root = Result.getOrThrow(parseTree(read(file)))
      const settings: unknown = root === undefined ? undefined : valueOf(root)
      assert.deepStrictEqual(settings, { theme: "One Dark", ...JSON.parse(printed.stdout) })
      const written = read(file)
      const second = yield* run(["acp", "setup", "--editor", "zed"], { env })
      assert.deepStrictEqual([second.end, second.stdout], [0, `${file} has the agent already, as "Super-Pi"\n`])
      assert.strictEqual(read(file), written)
      const entry = JSON.parse(printed.stdout)["agent_servers"]["Super-Pi"]
      const child = yield* start(entry.args, { bin: entry.command })
      assert.nestedPropertyVal(yield* ask(child, initialize), "result.agentInfo.name", "super-pi")
    })
  )

  it.live("touches nothing that it does not understand, and says what to add", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const file = join(home, "settings.json")
      writeFileSync(file, '{ "theme": }')
      const { end, stderr, stdout } = yield* run(["acp", "setup", "--editor", "jetbrains", "--file", file])
      assert.deepStrictEqual([end, stdout, read(file)], [1, "", '{ "theme": }'])
      assert.include(stderr, `${file} is not JSON at line 1, column 12: a value was expected. It was left as it is`)
      assert.include(stderr, '"Super-Pi": {')
    })
  )
})

/** Answers `/models`, and nothing to a wrong key. */
const provider = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
    const server = createServer((request, response) => {
      const isRight = request.headers.authorization === "Bearer the-right-key"
      response.writeHead(isRight ? 200 : 401, { "content-type": "application/json" }).end('{"data":[]}')
    }).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}/v1`, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

describe("doctor", () => {
  it.live(
    "tries keys, starts MCP servers, opens the stores and looks at editors; code 1 when something is broken",
    () =>
      Effect.gen(function* () {
        const { url } = yield* provider
        const home = yield* folder
        const supercharge = join(home, ".supercharge")
        mkdirSync(supercharge)
        mkdirSync(join(home, ".config", "zed"), { recursive: true })
        writeFileSync(
          join(home, ".config", "zed", "settings.json"),
          '{ "agent_servers": { "Pi": { "command": "super-pi" } } }'
        )
        const kind = `kind = "openai-compatible"\nbase_url = "${url}"\nmodels = ["qwen"]`
        const server = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/server-memory/dist/index.js")
        writeFileSync(
          join(supercharge, "config.toml"),
          `[models]\ndefault = "right/qwen"\n[providers.right]\n${kind}\napi_key = "the-right-key"\n[providers.wrong]\n${kind}\napi_key = "the-wrong-key"\n` +
            `[mcp_servers.memory]\ncommand = "${process.execPath}"\nargs = [${JSON.stringify(server)}]\n[mcp_servers.lost]\ncommand = "no-such-program"\n[acp]\nfs_delegaton = "never"\n[agent]\nharness = "nobody"\n`
        )
        writeFileSync(join(supercharge, "sessions.db"), "no database ".repeat(100))
        const env = { HOME: home, SUPERCHARGE_HOME: supercharge, XDG_CONFIG_HOME: "", FLATPAK_XDG_CONFIG_HOME: "" }
        const { end, stderr, stdout } = yield* run(["doctor", "--json"], { env })
        const findings = stdout
          .trim()
          .split("\n")
          .map((line): Record<string, string> => JSON.parse(line))
        const of = (check: string, name?: string) =>
          findings.find((one) => one["check"] === check && one["name"] === name)
        for (const check of ["super-pi", "node", "bash", "home"]) assert.strictEqual(of(check)?.["health"], "ok", check)
        for (const check of ["git", "ripgrep", "sandbox"]) assert.isDefined(of(check), check)
        assert.deepInclude(of("key", "right"), { health: "ok", message: "it was accepted" })
        assert.deepInclude(of("key", "wrong"), { health: "broken", message: "it was refused (HTTP 401)" })
        assert.include(of("models")?.["message"], "new sessions begin with right/qwen")
        assert.match(of("mcp server", "memory")?.["message"] ?? "", /has \d+ tools$/)
        assert.deepInclude(of("mcp server", "lost"), { health: "broken" })
        assert.include(of("config")?.["message"], "did you mean fs_delegation?")
        assert.deepInclude(of("harness"), { health: "broken", message: 'there is no harness "nobody"' })
        assert.deepInclude(of("store", "sessions"), { health: "broken" })
        assert.deepInclude(of("store", "notes"), { health: "ok" })
        assert.include(of("editor", "Zed")?.["remedy"], "super-pi acp setup --editor zed")
        assert.deepStrictEqual([end, stderr], [1, "error: 4 things are broken\n"])
        assert.notInclude(stdout, "the-wrong-key")
        assert.notInclude(stdout, "the-right-key")
      })
  )

  it.live("asks nobody with --offline, and says in words what to do", () =>
    Effect.gen(function* () {
      const { end, stderr, stdout } = yield* run(["doctor", "--offline"], { env: { OPENAI_API_KEY: "sk-0123456789" } })
      assert.match(stdout, /^note +key openai: not tried, because of --offline$/m)
      assert.deepStrictEqual([end, stderr], [0, ""])
    })
  )
})

describe("what people see when something was set up wrongly", () => {
  it.live.skipIf(!hasPython)(
    "the program alone says, at a terminal too, that it has no screen and what to start instead",
    () =>
      Effect.gen(function* () {
        const { end, screen } = yield* inTerminal([])
        assert.strictEqual(end, 2)
        for (const part of ["has no screen of its own", "super-pi acp setup", "An editor has to start: super-pi acp"])
          assert.include(screen, part)
      })
  )

  it.live("no provider, commands that come late, a call that waits, a folder that is not there", () =>
    Effect.gen(function* () {
      const lonely = yield* run(["-p", "hello"], {
        env: { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "", GEMINI_API_KEY: "" }
      })
      assert.strictEqual(lonely.end, 1)
      assert.include(lonely.stderr, "No model provider is configured")
      const cwd = yield* folder
      const agent = yield* RawAgent.start({
        cwd,
        steps: [
          { parts: [{ tool: { name: "bash", input: { command: "touch made" } } }] },
          { parts: [{ text: "Done." }] }
        ],
        onRequest: () => undefined
      })
      yield* agent.ok("initialize", { protocolVersion: 1 })
      assert.notInclude(JSON.stringify(agent.seen), "available_commands_update")
      const { sessionId = null } = yield* agent.ok("session/new", { cwd, mcpServers: [] })
      yield* agent.until("its commands", (message) =>
        JSON.stringify(message).includes("available_commands_update") ? message : undefined
      )
      const prompt = yield* agent.ask("session/prompt", { sessionId, prompt: [{ type: "text", text: "Go" }] })
      const id = yield* agent.until("a question", (message) =>
        message["method"] === "session/request_permission" ? message["id"] : undefined
      )
      yield* agent.reply(id, { outcome: { outcome: "selected", optionId: "allow-once" } })
      assert.strictEqual((yield* prompt.answer).result["stopReason"], "end_turn")
      const { error } = yield* agent.request("session/new", { cwd: join(cwd, "nowhere"), mcpServers: [] })
      assert.include(JSON.stringify(error), "is not a folder on the machine that runs the agent")
    })
  )
})

/** What the shell offers behind `super-pi sessions `. */
const offered: Readonly<Record<string, (script: string) => ReturnType<typeof shellSays>>> = {
  bash: (script) =>
    shellSays("bash", [
      "-c",
      `eval "$1"
      COMP_WORDS=(super-pi sessions "") COMP_CWORD=2 COMP_LINE="super-pi sessions " COMP_POINT=18
      $(complete -p super-pi | sed -E "s/.*-F ([^ ]+).*/\\1/") super-pi "" sessions
      printf "%s\\n" "\${COMPREPLY[@]}"`,
      "bash",
      script
    ]),
  // Longer than one argument may be.
  fish: Effect.fnUntraced(function* (script) {
    const file = join(yield* folder, "script")
    writeFileSync(file, script)
    return yield* shellSays("fish", ["-c", "source $argv[1]; complete -C 'super-pi sessions '", file])
  }),
  // It completes for people only.
  zsh: Effect.fnUntraced(function* (script) {
    const file = join(yield* folder, "script")
    writeFileSync(file, script)
    const { screen } = yield* inTerminal(["-f", "-i"], {
      command: "/usr/bin/zsh",
      env: { PS1: "ready> " },
      typing: [
        ["ready> ", `autoload -U compinit; compinit -u -D; source ${file}; print loa""ded\n`],
        ["loaded", "super-pi sessions \t"],
        ["export", "\u0015exit\n"]
      ]
    })
    return screen
  })
}

const shellSays = Effect.fnUntraced(function* (shell: string, args: ReadonlyArray<string>) {
  const env = { ...process.env, HOME: yield* folder }
  return spawnSync(shell, args, { encoding: "utf8", env }).stdout
})

const isThere = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0

describe("completions", () => {
  for (const [shell, offer] of Object.entries(offered)) {
    it.live.skipIf(!isThere(shell) || !hasPython)(`are understood by ${shell} and have the commands`, () =>
      Effect.gen(function* () {
        const { stdout: script } = yield* run(["--completions", shell])
        const said = yield* offer(script)
        for (const word of ["list", "show", "export", "delete"]) assert.include(said, word)
      })
    )
  }
})
