/** The README and the pages beside it: their commands run, their settings hold, their programs are typed. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { spawn, spawnSync } from "node:child_process"
import { existsSync, globSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parseScript } from "../../src/services/models/script/Script.ts"
import { parseConfigFile } from "../../src/services/settings/ConfigFile.ts"
import {
  blocks,
  chapters,
  environment,
  isServed,
  onFreePorts,
  pages,
  shell,
  textOf,
  transcript
} from "../support/Pages.ts"
import { ask, ended, folder, initialize, start } from "../support/Program.ts"
import { root } from "../support/Sources.ts"
import { connect } from "../support/transports/WebSocket.ts"

const everywhere = (language: string): ReadonlyArray<string> => pages.flatMap((page) => blocks(page, language))

/** Commands that cannot run here, and where they are tried instead. */
const elsewhere = new Map([
  ["npm ci && npm run demo", ".ci/run installs; demo.test.ts runs the demonstration"],
  ["npm test", "this is it"],
  ["npm link", "it would change the machine"],
  ["npm pack", "it would write into the repository; check-package.ts packs and installs"],
  ["npm install --global ./super-pi-0.1.0.tgz", "it would change the machine"],
  ["super-pi login", "it asks a person; login.test.ts does"],
  [
    'printf %s "$ANTHROPIC_API_KEY" | super-pi login --provider anthropic --key-stdin',
    "it needs a key; login.test.ts does the same at an address of its own"
  ],
  ["npm run check", ".ci/run"],
  ["npm run build", ".ci/run"],
  [
    "PORT=3001 npx -y @modelcontextprotocol/server-everything streamableHttp",
    "it stays, and may need a network; the tests of MCP start the same server"
  ],
  ['npx acpx --agent "super-pi acp" exec "What does this repository do?"', "it needs a network"]
])

/** What `bash` makes of a text, with the program on the path and a home of its own. */
const bash = Effect.fnUntraced(function* (script: string) {
  const home = yield* folder
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn("bash", ["-euo", "pipefail", "-c", script], { cwd: root, env: environment(home) })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  child.stdin.end()
  return yield* ended(child)
})

const served = chapters.filter(isServed)

/** Commands that need nothing but themselves. */
const alone = chapters
  .filter((chapter) => !isServed(chapter))
  .flatMap(({ blocks }) => blocks.flatMap(({ language, text }) => (language === "sh" ? [text] : [])))

/** What a chapter's commands have to print, beside what the chapter itself shows. */
const prints: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["Remote use", ['{"jsonrpc":"2.0","id":0,"result":', "Open http://127.0.0.1:8420/"]],
  ["Relay", ["Connected to the relay"]],
  [
    "HTTP inbox",
    [
      '"type":"done","stopReason":"end_turn"',
      '"text":"Hello from the script.","stopReason":"end_turn"',
      '{"sessions":[{'
    ]
  ],
  ["WebSocket and Streamable HTTP", ["name: 'super-pi'", '"id":2,"result":{"stopReason":"end_turn"', '{"status":"ok"']],
  ["The relay", ["Connected to the relay", "name: 'super-pi'"]]
])

/** Transcripts that no test can repeat to the letter. */
const shown = new Map([
  ["$ super-pi leader info", "processes and times; leader.test.ts"],
  ["$ super-pi doctor --offline", "paths and versions; setup.test.ts"],
  ["$ super-pi config show sandbox", "paths of a person; config.test.ts"],
  ["$ super-pi sessions list", "ids and times; sessions.test.ts"]
])

const isShown = (text: string): boolean => shown.has(text.split("\n")[0] ?? "")

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0

interface AgentEntry {
  readonly command: string
  readonly args: ReadonlyArray<string>
}

describe("README", () => {
  for (const block of alone) {
    const script = block
      .split("\n")
      .filter((line) => !elsewhere.has(line))
      .join("\n")
    if (script.trim() === "") continue
    it.live(`runs: ${script.trim()}`, () =>
      Effect.gen(function* () {
        const { end, stderr, stdout } = yield* bash(script)
        assert.deepStrictEqual([end, stderr], [0, ""], stdout)
      })
    )
  }

  for (const { blocks, page, title } of served) {
    it.live.skipIf(!hasOpenssl)(`runs what it says of ${title} (${page})`, () =>
      Effect.gen(function* () {
        const { answerOf, printed, run } = yield* shell
        const onFree = yield* onFreePorts
        for (const { language, text } of blocks) {
          if (language === "sh") yield* run(onFree(text))
          if (language !== "console" || isShown(text)) continue
          for (const { command, output } of transcript(onFree(text))) {
            assert.strictEqual(yield* answerOf(command), output, command)
          }
        }
        const announced = blocks.flatMap(({ language, text }) => (language === "text" ? text.trim().split("\n") : []))
        for (const line of [...announced, ...(prints.get(title) ?? assert.fail(title))]) {
          assert.include(printed(), onFree(line))
        }
      })
    )
  }

  it.live("shows what is said to those who are not let in", () =>
    Effect.gen(function* () {
      const transcripts = chapters
        .filter((chapter) => !isServed(chapter))
        .flatMap(({ blocks }) => blocks.filter(({ language, text }) => language === "console" && !isShown(text)))
      assert.isNotEmpty(transcripts)
      const { answerOf } = yield* shell
      for (const { command, output } of transcripts.flatMap(({ text }) => transcript(text))) {
        assert.strictEqual(yield* answerOf(command), output, command)
      }
    })
  )

  it("quotes what the program says when something is wrong", () => {
    const [, rows = ""] = textOf("README.md").split("## When something is wrong")
    const quotes = [...rows.matchAll(/^\| [^|`]*`([^`]*)`/gm)].map(([, quote = ""]) => quote)
    assert.isAtLeast(quotes.length, 8)
    const program = ["bin/super-pi", ...globSync("dist/bin/*.js", { cwd: root })].map(textOf).join("")
    // What the message names comes in between.
    const fragments = quotes.flatMap((quote) =>
      quote.replace(/^error: |^dist\/bin\/main\.js |^Node 24(?= )/, "").split(" …")
    )
    for (const fragment of fragments) assert.include(program, fragment.replace(/^… /, ""))
  })

  it("has every command that is tried elsewhere", () => {
    const lines = everywhere("sh").flatMap((block) => block.split("\n"))
    assert.includeMembers(lines, [...elsewhere.keys()])
  })

  it.live("asks the agent for its name, in one line", () =>
    Effect.gen(function* () {
      const script = blocks("README.md", "sh").find((block) => block.endsWith("| super-pi acp\n"))
      const { stdout } = yield* bash(script ?? "")
      assert.nestedPropertyVal(JSON.parse(stdout), "result.agentInfo.name", "super-pi")
      assert.strictEqual(stdout.trim().split("\n").length, 1)
    })
  )

  it.live("gives editors an entry that starts the agent", () =>
    Effect.gen(function* () {
      const entries = everywhere("json").flatMap((block): ReadonlyArray<AgentEntry> => {
        const settings = JSON.parse(block)
        return Object.values(settings["agent_servers"] ?? settings["acp.agents"] ?? {})
      })
      assert.lengthOf(entries, 3)
      for (const { args, command } of entries) {
        assert.match(command, /(^|^\/.*\/)super-pi$/)
        const child = yield* start(args)
        assert.nestedPropertyVal(yield* ask(child, initialize), "result.protocolVersion", 1)
      }
      const [lua, emacs] = [blocks("README.md", "lua").join("\n"), blocks("README.md", "elisp").join("\n")]
      assert.strictEqual(
        lua.match(/"super-pi",? (args = \{ )?"acp"|command = "super-pi", args = \{ "acp" \}/g)?.length,
        2
      )
      assert.match(emacs, /:command "super-pi"\n +:command-params '\("acp"\)/)
    })
  )

  it.effect("has settings that are understood", () =>
    Effect.gen(function* () {
      assert.isNotEmpty(blocks("README.md", "toml"))
      for (const block of everywhere("toml")) {
        const { warnings } = yield* Effect.fromResult(parseConfigFile(block, "config.toml"))
        assert.deepStrictEqual(warnings, [])
      }
    })
  )

  it.effect("has a script that can be played", () =>
    Effect.gen(function* () {
      const script = everywhere("json").find((block) => block.includes('"steps"'))
      assert.isNotEmpty((yield* parseScript(script ?? "")).steps)
    })
  )

  it("shows the example of embedding as it is", () => {
    const [, ...example] = textOf("examples/embed/main.ts").split("\n")
    const expected = example
      .join("\n")
      .replace('"../../src/index.ts"', '"super-pi"')
      .replace('"../../src/testing.ts"', '"super-pi/testing"')
    assert.deepStrictEqual(blocks("README.md", "ts"), [expected])
  })

  it.live("has programs that are typed", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const programs = blocks("docs/embedding.md", "ts")
      assert.isNotEmpty(programs)
      for (const [index, program] of programs.entries()) writeFileSync(join(place, `${index}.ts`), program)
      const settings = {
        extends: join(root, "tsconfig.json"),
        compilerOptions: {
          incremental: false,
          tsBuildInfoFile: null,
          paths: {
            "super-pi": [join(root, "src/index.ts")],
            "super-pi/servers": [join(root, "src/servers.ts")],
            "super-pi/testing": [join(root, "src/testing.ts")]
          }
        },
        include: ["*.ts"]
      }
      symlinkSync(join(root, "node_modules"), join(place, "node_modules"))
      writeFileSync(join(place, "package.json"), JSON.stringify({ type: "module" }))
      writeFileSync(join(place, "tsconfig.json"), JSON.stringify(settings))
      const { end, stdout } = yield* bash(`tsc -p ${place}`)
      assert.strictEqual(end, 0, stdout)
    })
  )

  /** A program of `docs/embedding.md` as a file, with an agent for the one that it leaves open. */
  const runnable = (place: string, mark: string): string => {
    const program = blocks("docs/embedding.md", "ts").find((block) => block.includes(mark)) ?? ""
    const agent = `const agent = AcpAgent.layer.pipe(
      Layer.tap(() => Effect.log("ready")),
      Layer.provide(Models.scripted({ steps: [{ parts: [{ text: "Hello." }] }] })),
      Layer.provide(AcpAgent.defaults),
      Layer.provide(AcpAgent.settings({ home: ${JSON.stringify(join(place, "home"))} })))`
    const complete = program
      .replace("declare const agent: Layer.Layer<Agent>", agent)
      .replace("{ AcpAgent, Agent", "{ AcpAgent, Models")
      .replace('"super-pi"', JSON.stringify(join(root, "src/index.ts")))
      .replace('"super-pi/servers"', JSON.stringify(join(root, "src/servers.ts")))
    const file = join(place, "main.ts")
    writeFileSync(file, complete.replace("port: 2419", "port: 0"))
    symlinkSync(join(root, "node_modules"), join(place, "node_modules"))
    writeFileSync(join(place, "package.json"), JSON.stringify({ type: "module" }))
    return file
  }

  const request = (id: number, method: string, params: object) => ({ jsonrpc: "2.0", id, method, params })

  it.live("has a program that an editor can start", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const child = yield* start([], { bin: runnable(place, "Stdio.layer") })
      assert.nestedPropertyVal(yield* ask(child, initialize), "result.agentInfo.name", "house-bot")
      const { result } = yield* ask(child, request(1, "session/new", { cwd: place, mcpServers: [] }))
      const prompt = { sessionId: result?.["sessionId"], prompt: [{ type: "text", text: "Hi" }] }
      const answer = yield* ask(child, request(2, "session/prompt", prompt))
      assert.nestedPropertyVal(answer, "result.stopReason", "end_turn")
      child.stdin.end()
      const { end, stdout } = yield* ended(child)
      assert.deepStrictEqual([end, stdout], [0, ""])
    })
  )

  it.live("has a program that serves clients over a network", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const secret = "a long one that nobody guesses"
      const child = yield* start([], { bin: runnable(place, "AcpServer.layer"), env: { HOUSE_BOT_SECRET: secret } })
      const address = yield* Effect.callback<string>((resume) => {
        let said = ""
        child.stdout.on("data", (chunk: Buffer) => {
          said += chunk.toString()
          const [found] = /ws:\S+/.exec(said) ?? []
          if (found !== undefined) resume(Effect.succeed(found))
        })
      })
      const { lines, send } = yield* connect(address, { authorization: `Bearer ${secret}` })
      const answerTo = Effect.fnUntraced(function* (message: ReturnType<typeof request>) {
        yield* send(JSON.stringify(message))
        const answers = lines.pipe(
          Stream.map((line): { readonly id?: number; readonly result?: Record<string, string> } => JSON.parse(line)),
          Stream.filter(({ id }) => id === message.id)
        )
        return Option.getOrUndefined(yield* Stream.runHead(answers))?.result
      })
      const greeting = yield* answerTo(request(0, "initialize", initialize.params))
      assert.nestedPropertyVal(greeting, "agentInfo.name", "house-bot")
      const opened = yield* answerTo(request(1, "session/new", { cwd: place, mcpServers: [] }))
      const prompt = { sessionId: opened?.["sessionId"], prompt: [{ type: "text", text: "Hi" }] }
      assert.deepInclude(yield* answerTo(request(2, "session/prompt", prompt)), { stopReason: "end_turn" })
      child.kill("SIGTERM")
      assert.deepInclude(yield* ended(child), { stderr: "" })
    })
  )

  it("links to what is there", () => {
    const anchorsOf = (page: string): ReadonlyArray<string> =>
      [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
        title
          .toLowerCase()
          .replaceAll(/[^\w -]/g, "")
          .replaceAll(" ", "-")
      )
    for (const page of pages) {
      for (const [, target = ""] of textOf(page).matchAll(/\]\(([^)]+)\)/g)) {
        if (target.startsWith("https:")) continue
        const [path = "", anchor] = target.split("#")
        const file = path === "" ? page : join(dirname(page), path)
        assert.isTrue(existsSync(join(root, file)), `${page}: ${target}`)
        if (anchor !== undefined) assert.include(anchorsOf(file), anchor, `${page}: ${target}`)
      }
    }
  })
})
