/** `docs/configuration.md` says what the code does. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import { Settings, type SettingsValue } from "../../../src/services/Settings.ts"
import { parseConfigFile } from "../../../src/services/settings/ConfigFile.ts"
import * as keys from "../../../src/services/settings/ConfigKeys.ts"
import { keyPaths } from "../../../src/services/settings/ConfigSchema.ts"
import { providerVariables } from "../../../src/services/settings/Environment.ts"
import { settingsHome } from "../../support/SettingsHome.ts"

const page = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString("docs/configuration.md")).pipe(
  Effect.provide(NodeFileSystem.layer)
)
const examplesOf = (text: string) => [...text.matchAll(/```toml\n(.*?)```/gs)].map(([, example = ""]) => example)

describe("docs/configuration.md", () => {
  it.effect("has an example that means what it says", () =>
    Effect.gen(function* () {
      const [config = ""] = examplesOf(yield* page)
      const value = yield* Effect.flatMap(Settings, ({ current }) => current).pipe(
        Effect.provide(settingsHome({ config, env: { WORK_ANTHROPIC_KEY: "w" } }))
      )
      assert.deepStrictEqual(value, {
        defaultModel: "local/qwen",
        providers: [
          {
            name: "local",
            kind: "openai-compatible",
            baseUrl: "http://127.0.0.1:8080/v1",
            models: [{ id: "qwen" }]
          },
          {
            name: "work",
            kind: "anthropic",
            apiKey: Redacted.make("w"),
            keySource: { kind: "variable", name: "WORK_ANTHROPIC_KEY" },
            models: []
          },
          {
            name: "router",
            kind: "openai-compatible",
            baseUrl: "https://models.example.org/v1",
            apiKey: Redacted.make("the key itself"),
            keySource: { kind: "file", name: "providers.router.api_key" },
            models: [
              { id: "plain/model" },
              { id: "big/model", contextWindow: 1_000_000, image: true, efforts: ["low", "high"] }
            ]
          }
        ],
        fsDelegation: "unsaved_only",
        permission: {
          allow: ["Bash(npm test)"],
          ask: ["Bash(git push *)"],
          deny: ["Bash(rm -rf *)", "Read(secrets/**)"]
        },
        remoteCeiling: "ask",
        remoteGrace: Duration.hours(1),
        relay: {
          url: "wss://relay.example.org/agent",
          origin: "https://example.org",
          token: Redacted.make("relay-token-of-yours")
        },
        authRequired: false,
        useLeader: false,
        alwaysApprove: false,
        sandboxProfile: "workspace",
        processLimit: 512,
        hooks: [
          {
            event: "PreToolUse",
            matcher: "Bash",
            action: { _tag: "Command", command: "./check-command.sh" },
            timeout: Duration.seconds(3),
            advisory: false,
            environment: {},
            source: value.hooks[0]?.source ?? ""
          }
        ],
        mcpServers: [
          {
            spec: {
              _tag: "Stdio",
              name: "files",
              command: "npx",
              args: ["-y", "@modelcontextprotocol/server-filesystem", "."],
              env: []
            },
            place: value.mcpServers[0]?.place ?? "",
            toolTimeout: Duration.seconds(60),
            toolTimeouts: {}
          }
        ],
        plugins: [],
        disabledServers: [],
        mcpOutputLimit: 20_000,
        rememberApprovals: true,
        respectGitignore: true,
        webFetch: { allowedDomains: ["docs.example.org"], allowLocal: false },
        folderTrust: true,
        fixed: {},
        warnings: [],
        lostRules: []
      } satisfies SettingsValue)
    })
  )

  it.effect("has no example with a warning", () =>
    Effect.gen(function* () {
      for (const example of examplesOf(yield* page)) {
        const { warnings } = yield* Effect.fromResult(parseConfigFile(example, "config.toml"))
        assert.deepStrictEqual(warnings, [])
      }
    })
  )

  it.effect("lists every key, and no other", () =>
    Effect.gen(function* () {
      const listed = [...(yield* page).matchAll(/^- `([a-z_]+\.[^`]+)`:/gm)].map(([, path = ""]) => path)
      const known = keyPaths().flatMap(([path]) => (path.includes(".") ? [path] : []))
      const ofModels = [...Object.keys(keys.model), ...Object.keys(keys.price).map((name) => `price.${name}`)]
      assert.sameMembers(listed, [...known, ...ofModels.map((name) => `providers.<name>.models[].${name}`)])
    })
  )

  it.effect("and each of them is read: a value that fits none is told, with its line", () =>
    Effect.gen(function* () {
      for (const [path] of keyPaths()) {
        // No key takes a date, and a wrong type is told only for a key that is read.
        const key = path.replace("<name>", "local")
        const text = `\n${key} = 1979-05-27T00:00:00Z`
        const { warnings } = yield* Effect.fromResult(parseConfigFile(text, "config.toml"))
        const expected = `config.toml:2: ${key}`
        assert.isTrue(
          warnings.some((warning) => warning.startsWith(expected) && warning.includes(" must be ")),
          `${text}\n${warnings.join("\n")}`
        )
      }
    })
  )

  it.effect("names every variable", () =>
    Effect.gen(function* () {
      const text = yield* page
      for (const { apiKey, baseUrl, name } of providerVariables) {
        assert.include(text, `- \`${apiKey}\`, \`${baseUrl}\`: the provider \`${name}\`.`)
      }
    })
  )
})
