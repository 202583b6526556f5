import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { Projects } from "../../../src/services/Projects.ts"
import * as ProjectsLive from "../../../src/services/project/ProjectsLive.ts"
import { Settings, type SettingsValue } from "../../../src/services/Settings.ts"
import { platform, write } from "../../support/toolbox.ts"

const config = [
  "[permission]",
  'allow = ["Bash(make)"]',
  'deny = ["Read(secrets/**)"]',
  "[sandbox]",
  'profile = "strict"',
  "[[hooks.PreToolUse]]",
  'command = "./check.sh"',
  "[mcp_servers.files]",
  'command = "files"',
  'env = { TOKEN = "secret" }'
].join("\n")

/** A project with a folder inside, and the service over a home of its own. */
const within = <A, E>(
  use: (place: {
    readonly root: string
    readonly home: string
  }) => Effect.Effect<A, E, Projects | FileSystem.FileSystem>,
  settings: Partial<SettingsValue> = {},
  homeOf: (root: string) => string = (root) => `${root}/../home`
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const base = yield* Effect.flatMap(fs.makeTempDirectoryScoped(), fs.realPath)
    const root = `${base}/project`
    yield* fs.makeDirectory(`${root}/.git`, { recursive: true })
    yield* fs.makeDirectory(`${root}/.supercharge/hooks`, { recursive: true })
    yield* fs.makeDirectory(`${root}/deep/.supercharge`, { recursive: true })
    yield* write(`${root}/.supercharge/config.toml`, config)
    return yield* Effect.provide(
      use({ root, home: `${base}/home` }),
      Layer.provide(ProjectsLive.layer, [Settings.layerValues({ home: homeOf(root), ...settings }), platform])
    )
  }).pipe(Effect.scoped, Effect.provide(platform))

describe("Projects", () => {
  it.effect("deny rules and a stricter profile hold at once; the rest waits for trust", () =>
    within(({ root }) =>
      Effect.gen(function* () {
        const { of } = yield* Projects
        const value = yield* of(`${root}/deep`)
        assert.deepStrictEqual(value, {
          root,
          trust: "undecided",
          permission: { allow: [], ask: [], deny: ["Read(secrets/**)"] },
          hooks: [],
          mcpServers: [],
          sandboxProfile: "strict",
          withheld: ["the hook PreToolUse: ./check.sh", "the MCP server files: files", "the rule allow Bash(make)"],
          warnings: []
        })
      })
    )
  )

  it.effect("trust brings all of it, in every folder of the project and in every process", () =>
    within(({ home, root }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { decide, of } = yield* Projects
        yield* decide(root, true)
        const value = yield* of(`${root}/deep`)
        assert.strictEqual(value.trust, "trusted")
        assert.deepStrictEqual(value.permission.allow, ["Bash(make)"])
        assert.strictEqual(value.hooks.length, 1)
        assert.strictEqual(value.mcpServers.length, 1)
        assert.deepStrictEqual(value.withheld, [])
        assert.strictEqual((yield* fs.stat(`${home}/trust.json`)).mode & 0o777, 0o600)
        assert.notInclude(yield* fs.readFileString(`${home}/trust.json`), "secret")
      })
    )
  )

  for (const [what, change] of [
    ["a hook", config.replace("./check.sh", "./other.sh")],
    ["a server", config.replace('command = "files"', 'command = "evil"')],
    ["a variable of a server", config.replace('"secret"', '"other"')],
    ["an allow rule", config.replace("Bash(make)", "Bash")]
  ] as const) {
    it.effect(`trust ends when ${what} changes`, () =>
      within(({ root }) =>
        Effect.gen(function* () {
          const { decide, of } = yield* Projects
          yield* decide(root, true)
          yield* write(`${root}/.supercharge/config.toml`, `${change}\n`)
          const value = yield* of(root)
          assert.strictEqual(value.trust, "undecided")
          assert.deepStrictEqual([value.hooks, value.mcpServers, value.permission.allow], [[], [], []])
        })
      )
    )
  }

  it.effect("trust stays when a deny rule changes, and a no stays whatever changes", () =>
    within(({ root }) =>
      Effect.gen(function* () {
        const { decide, of } = yield* Projects
        yield* decide(root, true)
        yield* write(`${root}/.supercharge/config.toml`, config.replace("secrets", "private"))
        assert.strictEqual((yield* of(root)).trust, "trusted")
        yield* decide(root, false)
        yield* write(`${root}/.supercharge/config.toml`, config.replace("./check.sh", "./other.sh"))
        assert.strictEqual((yield* of(root)).trust, "declined")
      })
    )
  )

  it.effect("a repository inside is a project of its own", () =>
    within(({ root }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { decide, of } = yield* Projects
        yield* decide(root, true)
        yield* fs.makeDirectory(`${root}/vendor/.git`, { recursive: true })
        yield* fs.makeDirectory(`${root}/vendor/.supercharge`)
        yield* write(`${root}/vendor/.supercharge/config.toml`, config)
        const value = yield* of(`${root}/vendor`)
        assert.deepInclude(value, { root: `${root}/vendor`, trust: "undecided" })
      })
    )
  )

  it.effect("files of hooks, .mcp.json and nearer folders add up; a nearer server replaces one of its name", () =>
    within(({ root }) =>
      Effect.gen(function* () {
        const { decide, of } = yield* Projects
        const hook = { hooks: { Stop: [{ hooks: [{ type: "command", command: "./stop.sh" }] }] } }
        yield* write(`${root}/.supercharge/hooks/stop.json`, JSON.stringify(hook))
        yield* write(
          `${root}/.mcp.json`,
          JSON.stringify({ mcpServers: { remote: { url: "https://example.org/mcp" } } })
        )
        yield* write(`${root}/deep/.supercharge/config.toml`, '[mcp_servers.files]\ncommand = "nearer"')
        yield* decide(`${root}/deep`, true)
        const value = yield* of(`${root}/deep`)
        assert.deepStrictEqual(
          value.hooks.map(({ event }) => event),
          ["PreToolUse", "Stop"]
        )
        assert.deepStrictEqual(
          value.mcpServers.map(({ spec }) => (spec._tag === "Stdio" ? spec.command : spec.url)).toSorted(),
          ["https://example.org/mcp", "nearer"]
        )
      })
    )
  )

  it.effect("speaks of nothing else, and a file that leads out of it is none of its files", () =>
    within(({ home, root }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { of } = yield* Projects
        yield* write(`${root}/.supercharge/config.toml`, '[models]\ndefault = "evil/model"\n[auth]\nrequired = false')
        const { trust, warnings } = yield* of(root)
        assert.strictEqual(trust, "off")
        assert.match(warnings.join("\n"), /models is not read in a project; .*\n.*auth is not read in a project/s)
        yield* fs.makeDirectory(home)
        yield* write(`${home}/hooks.json`, JSON.stringify({ hooks: { Stop: [{ command: "x" }] } }))
        yield* fs.symlink(`${home}/hooks.json`, `${root}/.supercharge/hooks/out.json`)
        assert.deepStrictEqual((yield* of(root)).withheld, [])
      })
    )
  )

  it.effect("around the person's own folder does not take that for its own", () =>
    within(
      ({ root }) =>
        Effect.gen(function* () {
          const { hooks, permission, warnings, withheld } = yield* (yield* Projects).of(root)
          assert.deepStrictEqual(
            { hooks, permission, warnings, withheld },
            { hooks: [], permission: { allow: [], ask: [], deny: [] }, warnings: [], withheld: [] }
          )
        }),
      {},
      (root) => `${root}/.supercharge`
    )
  )

  it.effect("one that is no TOML says so and counts as empty", () =>
    within(({ root }) =>
      Effect.gen(function* () {
        const { of } = yield* Projects
        yield* write(`${root}/.supercharge/config.toml`, "[permission\nallow = 1")
        const { permission, trust, warnings } = yield* of(root)
        assert.deepStrictEqual([trust, permission.deny], ["off", []])
        assert.strictEqual(warnings.length, 1)
      })
    )
  )

  it.effect("needs no trust where that is switched off", () =>
    within(
      ({ root }) =>
        Effect.gen(function* () {
          const { of } = yield* Projects
          assert.deepInclude(yield* of(root), { trust: "trusted", withheld: [] })
        }),
      { folderTrust: false }
    )
  )

  it.effect("a folder without a repository and without files is its own root, and needs nothing", () =>
    within(({ home }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        yield* fs.makeDirectory(home)
        const { of } = yield* Projects
        assert.deepInclude(yield* of(home), { root: home, trust: "off", warnings: [] })
      })
    )
  )
})
