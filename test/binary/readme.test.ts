/** The README and the pages beside it: their commands run, their settings hold, their programs are typed. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { existsSync, globSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { parseScript } from "../../src/services/models/script/Script.ts"
import { parseConfigFile } from "../../src/services/settings/ConfigFile.ts"
import { ask, ended, folder, initialize, start } from "../support/Program.ts"
import { root } from "../support/Sources.ts"

const pages = ["README.md", ...globSync("docs/*.md", { cwd: root })]
const textOf = (page: string): string => readFileSync(join(root, page), "utf8")

const blocks = (page: string, language: string): ReadonlyArray<string> =>
  [...textOf(page).matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, found, text = ""]) =>
    found === language ? [text] : []
  )

const everywhere = (language: string): ReadonlyArray<string> => pages.flatMap((page) => blocks(page, language))

/** Commands that cannot run here, and where they are tried instead. */
const elsewhere = new Map([
  ["npm ci && npm run demo", ".ci/run installs; demo.test.ts runs the demonstration"],
  ["npm test", "this is it"],
  ["npm link", "it would change the machine"],
  ["npm run check", ".ci/run"],
  ["npm run build", ".ci/run"],
  ['npx acpx --agent "super-pi acp" exec "What does this repository do?"', "it needs a network"]
])

/** What `bash` makes of a text, with the program on the path and a home of its own. */
const bash = Effect.fnUntraced(function* (script: string) {
  const home = yield* folder
  const path = [join(root, "bin"), join(root, "node_modules", ".bin"), process.env["PATH"] ?? ""].join(delimiter)
  const { NODE_OPTIONS: _, ...environment } = process.env
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn("bash", ["-euo", "pipefail", "-c", script], {
        cwd: root,
        env: { ...environment, HOME: home, SUPERCHARGE_HOME: join(home, ".supercharge"), PATH: path }
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  child.stdin.end()
  return yield* ended(child)
})

interface AgentEntry {
  readonly command: string
  readonly args: ReadonlyArray<string>
}

describe("README", () => {
  for (const block of everywhere("sh")) {
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

  it("has every command that is tried elsewhere", () => {
    const lines = everywhere("sh").flatMap((block) => block.split("\n"))
    assert.includeMembers(lines, [...elsewhere.keys()])
  })

  it.live("asks the agent for its name, in one line", () =>
    Effect.gen(function* () {
      const script = blocks("README.md", "sh").find((block) => block.startsWith("echo"))
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
          paths: { "super-pi": [join(root, "src/index.ts")], "super-pi/testing": [join(root, "src/testing.ts")] }
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

  it.live("has a program that an editor can start", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const program = blocks("docs/embedding.md", "ts").find((block) => block.includes("Stdio.layer")) ?? ""
      const agent = `const agent = AcpAgent.layer.pipe(
        Layer.tap(() => Effect.log("ready")),
        Layer.provide(Models.scripted({ steps: [{ parts: [{ text: "Hello." }] }] })),
        Layer.provide(AcpAgent.defaults),
        Layer.provide(AcpAgent.settings({ home: ${JSON.stringify(join(place, "home"))} })))`
      const complete = program
        .replace("declare const agent: Layer.Layer<Agent>", agent)
        .replace("{ AcpAgent, Agent, Stdio }", "{ AcpAgent, Models, Stdio }")
        .replace('"super-pi"', JSON.stringify(join(root, "src/index.ts")))
      const file = join(place, "main.ts")
      writeFileSync(file, complete)
      symlinkSync(join(root, "node_modules"), join(place, "node_modules"))
      writeFileSync(join(place, "package.json"), JSON.stringify({ type: "module" }))
      const child = yield* start([], { bin: file })
      assert.nestedPropertyVal(yield* ask(child, initialize), "result.agentInfo.name", "house-bot")
      const request = (id: number, method: string, params: object) => ({ jsonrpc: "2.0", id, method, params })
      const { result } = yield* ask(child, request(1, "session/new", { cwd: place, mcpServers: [] }))
      const prompt = { sessionId: result?.["sessionId"], prompt: [{ type: "text", text: "Hi" }] }
      const answer = yield* ask(child, request(2, "session/prompt", prompt))
      assert.nestedPropertyVal(answer, "result.stopReason", "end_turn")
      child.stdin.end()
      const { end, stdout } = yield* ended(child)
      assert.deepStrictEqual([end, stdout], [0, ""])
    })
  )

  it("links to what is there", () => {
    for (const page of pages) {
      const anchors = [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
        title
          .toLowerCase()
          .replaceAll(/[^\w -]/g, "")
          .replaceAll(" ", "-")
      )
      for (const [, target = ""] of textOf(page).matchAll(/\]\(([^)]+)\)/g)) {
        if (target.startsWith("https:")) continue
        if (target.startsWith("#")) assert.include(anchors, target.slice(1), page)
        else assert.isTrue(existsSync(join(root, dirname(page), target)), `${page}: ${target}`)
      }
    }
  })
})
