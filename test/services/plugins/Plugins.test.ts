/** Plugins on a real disk: what their folders bring, what of it is not taken, and how it joins what the person wrote down. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { join } from "node:path"
import type { McpServerSettings } from "../../../src/services/Settings.ts"
import { Settings } from "../../../src/services/Settings.ts"
import { Plugins } from "../../../src/services/Plugins.ts"
import { put } from "../../support/commands.ts"
import { folder } from "../../support/Program.ts"
import { settingsHome } from "../../support/SettingsHome.ts"

const hook = (command: string) => JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", command }] } })

const started = ({ spec }: McpServerSettings) =>
  spec._tag === "Stdio"
    ? [spec.name, spec.command, ...spec.args, ...spec.env.map(({ name, value }) => `${name}=${Redacted.value(value)}`)]
    : [spec.name, spec.url]

/** Settings with these plugins, in the order of their names, and what they come to. */
const withPlugins = Effect.fnUntraced(function* (
  files: Readonly<Record<string, string>>,
  { config, names = ["one"] }: { readonly config?: string; readonly names?: ReadonlyArray<string> } = {}
) {
  const root = yield* folder
  for (const [path, content] of Object.entries(files)) put(join(root, path), content)
  const pluginDirs = names.map((name) => join(root, name))
  const context = yield* Layer.build(
    Plugins.layer.pipe(
      Layer.provideMerge(settingsHome({ ...(config === undefined ? {} : { config }), flags: { pluginDirs } }))
    )
  )
  const { current, home } = yield* Effect.provideContext(Settings, context)
  const plugins = yield* Effect.provideContext(Plugins, context)
  return { root, home, current, plugins: plugins.of("/") }
})

describe("a plugin", () => {
  it.live("brings agents, commands, skills, hooks and servers of the usual folders, which know where it is", () =>
    Effect.gen(function* () {
      const { current, plugins, root } = yield* withPlugins({
        "one/agents/reviewer.md": "---\nname: reviewer\n---\nReview",
        "one/agents/notes.txt": "x",
        "one/commands/go.md": "Go",
        "one/hooks/hooks.json": hook('"${CLAUDE_PLUGIN_ROOT}"/check.sh'),
        "one/.mcp.json": JSON.stringify({
          mcpServers: {
            near: { command: "${CLAUDE_PLUGIN_ROOT}/serve", args: ["--data", "${SUPERCHARGE_PLUGIN_ROOT}/x"] },
            far: { type: "http", url: "https://example.org/mcp" }
          }
        })
      })
      const one = join(root, "one")
      const [plugin] = yield* plugins
      assert.deepInclude(plugin, {
        name: "one",
        root: one,
        agents: [join(one, "agents/reviewer.md")],
        commands: [join(one, "commands")],
        skills: [join(one, "skills")]
      })
      const { hooks, mcpServers, warnings } = yield* current
      assert.deepStrictEqual(warnings, [])
      assert.lengthOf(hooks, 1)
      assert.deepStrictEqual(
        Object.entries(hooks[0]?.environment ?? {}).map(([name, value]) => [name, Redacted.value(value)]),
        [
          ["SUPERCHARGE_PLUGIN_ROOT", one],
          ["CLAUDE_PLUGIN_ROOT", one]
        ]
      )
      assert.deepStrictEqual(mcpServers.map(started), [
        ["near", `${one}/serve`, "--data", `${one}/x`, `SUPERCHARGE_PLUGIN_ROOT=${one}`, `CLAUDE_PLUGIN_ROOT=${one}`],
        ["far", "https://example.org/mcp"]
      ])
    })
  )

  it.live("may say other places in its plugin.json, and the parts themselves, but nothing outside of it", () =>
    Effect.gen(function* () {
      const { current, plugins, root } = yield* withPlugins({
        "one/.claude-plugin/plugin.json": JSON.stringify({
          name: "tools",
          commands: ["./cmd", "../../etc"],
          agents: "./a/one.md",
          hooks: { hooks: { Stop: [{ command: "true" }] } },
          mcpServers: "./servers.json"
        }),
        "one/servers.json": JSON.stringify({ bare: { command: "x" } }),
        "one/.mcp.json": JSON.stringify({ mcpServers: { usual: { command: "x" } } })
      })
      const one = join(root, "one")
      const [plugin] = yield* plugins
      assert.deepInclude(plugin, { name: "tools", commands: [join(one, "cmd")], agents: [join(one, "a/one.md")] })
      const { hooks, mcpServers, warnings } = yield* current
      assert.deepStrictEqual(
        [hooks.map(({ event }) => event), mcpServers.map(({ spec }) => spec.name)],
        [["Stop"], ["bare"]]
      )
      assert.match(warnings.join("\n"), /commands of its plugin\.json leads out of the plugin/)
    })
  )

  it.live("that is broken in parts brings the others, and tells which hooks do not hold", () =>
    Effect.gen(function* () {
      const { current, plugins } = yield* withPlugins({
        "one/plugin.json": "{",
        "one/hooks/hooks.json": "[]",
        "one/.mcp.json": '{"mcpServers": {"good": {"command": "x"}, "bad": {}}}',
        "one/commands/go.md": "Go"
      })
      assert.lengthOf(yield* plugins, 1)
      const { lostRules, mcpServers, warnings } = yield* current
      assert.deepStrictEqual(
        mcpServers.map(({ spec }) => spec.name),
        ["good"]
      )
      assert.match(
        warnings.join("\n"),
        /plugin\.json does not describe a plugin[^]*hooks\.json is no JSON object[^]*bad needs a command/
      )
      assert.lengthOf(lostRules, 1)
    })
  )

  it.live("in plugins of the home counts as well, after those that were named; of one name the first counts", () =>
    Effect.gen(function* () {
      const { current, home, plugins } = yield* withPlugins(
        { "one/commands/go.md": "Go", "two/plugin.json": '{"name": "one"}' },
        { names: ["one", "two"] }
      )
      assert.lengthOf(yield* plugins, 1)
      assert.match((yield* current).warnings.join(), /two is not used: .*one is a plugin of the same name/)
      put(join(home, "plugins/mine/commands/x.md"), "x")
      assert.deepStrictEqual(
        (yield* plugins).map(({ name }) => name),
        ["one", "mine"]
      )
    })
  )

  it.live("joins what the person wrote down, which counts more, and is read again when it changed", () =>
    Effect.gen(function* () {
      const server = (command: string) => JSON.stringify({ mcpServers: { db: { command }, off: { command } } })
      const { current, root } = yield* withPlugins(
        { "one/.mcp.json": server("theirs") },
        { config: 'disabled_mcp_servers = ["off"]\n[mcp_servers.db]\ncommand = "mine"\n' }
      )
      assert.deepStrictEqual((yield* current).mcpServers.map(started), [["db", "mine"]])
      put(join(root, "one/hooks/hooks.json"), hook("false"))
      assert.lengthOf((yield* current).hooks, 1)
      put(join(root, "one/hooks/hooks.json"), JSON.stringify({ hooks: {} }))
      assert.lengthOf((yield* current).hooks, 0)
    })
  )

  it.live("is read again when a file changed that only it names, and keeps its hooks while that is being written", () =>
    Effect.gen(function* () {
      const { current, root } = yield* withPlugins({
        "one/plugin.json": JSON.stringify({ hooks: "./mine/guard.json" }),
        "one/mine/guard.json": hook("first")
      })
      const commands = Effect.map(current, ({ hooks, lostRules, warnings }) => ({
        hooks: hooks.map(({ action }) => (action._tag === "Command" ? action.command : "")),
        lostRules,
        warnings
      }))
      const guard = join(root, "one/mine/guard.json")
      assert.deepStrictEqual(yield* commands, { hooks: ["first"], lostRules: [], warnings: [] })
      put(guard, hook("the second one"))
      assert.deepStrictEqual(yield* commands, { hooks: ["the second one"], lostRules: [], warnings: [] })
      put(guard, "{")
      for (const { hooks, lostRules, warnings } of [yield* commands, yield* commands]) {
        assert.deepStrictEqual([hooks, lostRules], [["the second one"], []])
        assert.match(warnings.join(), /guard\.json .*\. Until then its last good content holds$/)
      }
      put(guard, hook("third"))
      assert.deepStrictEqual(yield* commands, { hooks: ["third"], lostRules: [], warnings: [] })
    })
  )

  it.live("tells in each session which hooks do not hold, also where their file cannot be read at all", () =>
    Effect.gen(function* () {
      const { current } = yield* withPlugins({ "one/hooks/hooks.json/x": "a folder in the place of the file" })
      const { hooks, lostRules } = yield* current
      assert.deepStrictEqual(hooks, [])
      assert.match(lostRules.join(), /hooks\.json is a Directory; make it a plain file; no hook of it runs$/)
    })
  )
})

describe("without plugins", () => {
  it.live("there are none", () =>
    Effect.gen(function* () {
      const { current } = yield* Settings
      assert.deepStrictEqual((yield* current).plugins, [])
    }).pipe(Effect.provide(settingsHome()))
  )

  it.live("with files that nobody could take apart costs those files", () =>
    Effect.gen(function* () {
      const deep = (inner: string) => `${'{"a":'.repeat(20_000)}${inner}${"}".repeat(20_000)}`
      const { current, plugins } = yield* withPlugins({
        "one/plugin.json": `{"name":"deep","hooks":${deep("1")}}`,
        "one/.mcp.json": deep("1"),
        "one/commands/go.md": "Go"
      })
      const { hooks, mcpServers, warnings } = yield* current
      assert.deepStrictEqual([hooks, mcpServers], [[], []])
      assert.lengthOf(warnings, 2)
      for (const warning of warnings) assert.match(warning, /is not read: it is nested more than 100 levels deep; /)
      assert.strictEqual((yield* plugins)[0]?.name, "one")
    })
  )
})
