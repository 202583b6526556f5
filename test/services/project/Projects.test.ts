import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { Projects } from "../../../src/services/Projects.ts"
import { write } from "../../support/toolbox.ts"
import { config, within } from "./support.ts"

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
          withheld: [
            "the hook PreToolUse: ./check.sh",
            "the MCP server files: files, with the variables TOKEN",
            "the rule allow Bash(make)"
          ],
          content: value.content ?? {},
          warnings: []
        })
        assert.notInclude(JSON.stringify(value), 'secret"')
      })
    )
  )

  it.effect("a repository inside is a project of its own", () =>
    within(({ root }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { decide, of } = yield* Projects
        yield* decide(yield* of(root), true)
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
        yield* decide(yield* of(`${root}/deep`), true)
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

  it.effect("shows which variables a server would read, and neither reads nor shows what they are", () =>
    within(({ root }) =>
      Effect.gen(function* () {
        const { decide, of } = yield* Projects
        const server = (host: string) => ({
          url: `https://${host}/\${HOME}`,
          headers: { Authorization: "Bearer ${ANTHROPIC_API_KEY}", "X-Mode": "${MODE:-fast}" }
        })
        const say = (host: string) =>
          write(`${root}/.mcp.json`, JSON.stringify({ mcpServers: { remote: server(host) } }))
        yield* say("example.org")
        const before = yield* of(root)
        assert.deepStrictEqual(before.mcpServers, [])
        assert.include(
          before.withheld,
          "the MCP server remote: https://example.org/${HOME}, with the headers Authorization, X-Mode, which reads HOME, ANTHROPIC_API_KEY, MODE of your environment"
        )
        yield* decide(before, true)
        const trusted = (yield* of(root)).mcpServers.find(({ spec }) => spec.name === "remote")
        assert.deepInclude(trusted?.spec, { url: "https://example.org/${HOME}" }, "the session puts them in")
        assert.strictEqual(trusted?.place, `${root}/.mcp.json: mcpServers.remote`)
        yield* say("example.com")
        assert.strictEqual((yield* of(root)).trust, "undecided", "another address is another server")
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

  it.effect("what is broken meanwhile keeps its deny rules, and says so", () =>
    within(({ root }) =>
      Effect.gen(function* () {
        const { decide, of } = yield* Projects
        yield* decide(yield* of(root), true)
        yield* write(`${root}/.supercharge/config.toml`, "[permission\n")
        const { permission, trust, warnings } = yield* of(root)
        assert.deepStrictEqual(
          [trust, permission.deny, permission.allow],
          ["trusted", ["Read(secrets/**)"], ["Bash(make)"]]
        )
        assert.match(warnings.join("\n"), /is not TOML at line 1.*Until then its last good content holds$/)
      })
    )
  )

  it.effect("a file that cannot count is told, since it may hold deny rules", () =>
    within(({ home, root }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { of } = yield* Projects
        const own = `${root}/.supercharge/config.toml`
        yield* fs.makeDirectory(home)
        yield* fs.rename(own, `${home}/outside.toml`)
        yield* fs.symlink(`${home}/outside.toml`, own)
        const linked = yield* of(root)
        assert.deepStrictEqual([linked.trust, linked.permission.deny], ["off", []])
        assert.match(linked.warnings.join("\n"), /config\.toml leads out of the project; put the file itself there\. /)
        yield* fs.remove(own)
        yield* fs.makeDirectory(own)
        assert.match((yield* of(root)).warnings.join("\n"), /config\.toml is no plain file/)
        yield* fs.remove(own, { recursive: true })
        yield* write(own, "#".repeat(1024 * 1024 + 1))
        assert.match((yield* of(root)).warnings.join("\n"), /config\.toml has more than 1048576 bytes; shorten it/)
      })
    )
  )

  it.effect("a server that the person switched off is off in every project", () =>
    within(
      ({ root }) =>
        Effect.gen(function* () {
          const { decide, of } = yield* Projects
          yield* decide(yield* of(root), true)
          assert.deepStrictEqual((yield* of(root)).mcpServers, [])
        }),
      { disabledServers: ["files"] }
    )
  )

  it.effect("layerTest decides for every folder", () =>
    Effect.gen(function* () {
      const { decide, of } = yield* Projects
      const value = yield* of("/anywhere")
      assert.deepInclude(value, { root: "/anywhere", trust: "undecided", withheld: ["the hook Stop: x"] })
      yield* decide(value, true)
      assert.deepInclude(yield* of("/elsewhere"), { trust: "trusted", withheld: [] })
    }).pipe(Effect.provide(Projects.layerTest({ trust: "undecided", withheld: ["the hook Stop: x"] })))
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
