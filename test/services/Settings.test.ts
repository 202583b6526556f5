import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { type ProviderSettings, Settings, type SettingsValue } from "../../src/services/Settings.ts"
import { type Home, platform, settingsHome } from "../support/SettingsHome.ts"

/** A provider as text: name, kind, address and key in the clear. */
const shown = ({ apiKey, baseUrl, kind, name }: ProviderSettings) =>
  [name, kind, baseUrl ?? "-", apiKey === undefined ? "-" : Redacted.value(apiKey)].join(" ")

const current = Effect.flatMap(Settings, (settings) => settings.current)

interface Precedence extends Home {
  readonly name: string
  readonly expected: Partial<Omit<SettingsValue, "providers">> & { readonly providers?: ReadonlyArray<string> }
  readonly warnings?: ReadonlyArray<RegExp>
}

const table: ReadonlyArray<Precedence> = [
  {
    name: "nothing at all gives the defaults",
    expected: {
      providers: [],
      fsDelegation: "unsaved_only",
      permission: { allow: [], ask: [], deny: [] },
      remoteCeiling: "accept-edits",
      authRequired: false,
      useLeader: false,
      alwaysApprove: false
    }
  },
  {
    name: "keys of the environment make providers",
    env: { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: " o\n", OPENAI_BASE_URL: "http://o/v1/", GEMINI_API_KEY: "g" },
    expected: { providers: ["anthropic anthropic - a", "openai openai http://o/v1 o", "google google - g"] }
  },
  {
    name: "blank variables count as unset",
    env: { ANTHROPIC_API_KEY: "  ", OPENAI_API_KEY: "" },
    expected: { providers: [] }
  },
  { name: "an address alone makes no provider", env: { ANTHROPIC_BASE_URL: "http://h" }, expected: { providers: [] } },
  {
    name: "the environment wins over the file",
    config: '[providers.anthropic]\nbase_url = "http://file"\napi_key = "file"\nmodels = ["m"]',
    env: { ANTHROPIC_API_KEY: "env", ANTHROPIC_BASE_URL: "http://env" },
    expected: { providers: ["anthropic anthropic http://env env"] }
  },
  {
    name: "a stored key makes a provider, and comes behind the environment and before the file",
    config:
      '[providers.openai]\napi_key = "file"\n[providers.work]\nkind = "anthropic"\n[providers.named]\nkind = "google"\napi_key_env = "K"',
    credentials: JSON.stringify({
      version: 1,
      keys: {
        anthropic: "stored",
        google: "stored",
        openai: "stored",
        work: " stored\n",
        named: "stored",
        nobody: "stored"
      }
    }),
    env: { GEMINI_API_KEY: "env", K: "k" },
    expected: {
      providers: [
        "openai openai - stored",
        "work anthropic - stored",
        "named google - k",
        "anthropic anthropic - stored",
        "google google - env"
      ]
    }
  },
  {
    name: "stored keys that cannot be understood are none, which is said",
    credentials: '{"version":1,"keys":{"anthropic":5}}',
    expected: { providers: [] },
    warnings: [/credentials\.json cannot be understood and its keys are not used: .* super-pi login/]
  },
  {
    name: "file and environment complete each other",
    config: '[providers.anthropic]\nbase_url = "http://file"\n[providers.openai]\napi_key = "file"',
    env: { ANTHROPIC_API_KEY: "env", OPENAI_BASE_URL: "http://env" },
    expected: { providers: ["anthropic anthropic http://file env", "openai openai http://env file"] }
  },
  {
    name: "a named variable wins over api_key and over the usual variable",
    config: '[providers.anthropic]\napi_key = "file"\napi_key_env = "MINE"',
    env: { ANTHROPIC_API_KEY: "usual", MINE: "mine" },
    expected: { providers: ["anthropic anthropic - mine"] }
  },
  {
    name: "a named variable that is unset is not replaced by the usual one",
    config: '[providers.anthropic]\napi_key_env = "MINE"',
    env: { ANTHROPIC_API_KEY: "usual" },
    expected: { providers: [] },
    warnings: [/providers\.anthropic is left out: the environment variable that api_key_env names is not set/]
  },
  {
    name: "a local endpoint needs no key",
    config: '[providers.local]\nkind = "openai-compatible"\nbase_url = "http://127.0.0.1:8080/v1/"',
    expected: { providers: ["local openai-compatible http://127.0.0.1:8080/v1 -"] }
  },
  {
    name: "a public endpoint needs one",
    config: '[providers.openai]\n[providers.claude]\nkind = "anthropic"',
    expected: { providers: [] },
    warnings: [
      /providers\.openai is left out: it needs a key: run super-pi login --provider openai, set api_key_env or api_key, or export OPENAI_API_KEY/,
      /providers\.claude is left out: it needs a key: run super-pi login --provider claude, set api_key_env or api_key$/
    ]
  },
  {
    name: "a compatible endpoint needs an address",
    config: '[providers.local]\nkind = "openai-compatible"\napi_key = "k"',
    expected: { providers: [] },
    warnings: [/providers\.local is left out: it needs a base_url/]
  },
  {
    name: "a bad address never sends a key to the public endpoint",
    config: '[providers.openai]\nbase_url = "proxy:80"',
    env: { OPENAI_API_KEY: "o", ANTHROPIC_API_KEY: "a", ANTHROPIC_BASE_URL: "proxy:80" },
    expected: { providers: [] },
    warnings: [
      /providers\.openai\.base_url must/,
      /providers\.openai is left out/,
      /ANTHROPIC_BASE_URL must be an http/
    ]
  },
  {
    name: "the flag wins over the default model of the file",
    config: '[models]\ndefault = "a/file"',
    flags: { model: "b/flag" },
    expected: { defaultModel: "b/flag" }
  },
  {
    name: "the default model of the file",
    config: '[models]\ndefault = "a/file"',
    expected: { defaultModel: "a/file" }
  },
  {
    name: "always-approve lifts the default ceiling",
    flags: { alwaysApprove: true },
    expected: { alwaysApprove: true, remoteCeiling: "always-approve" }
  },
  {
    name: "but not one that was written down",
    config: '[remote]\nexecution_mode_ceiling = "ask"',
    flags: { alwaysApprove: true },
    expected: { alwaysApprove: true, remoteCeiling: "ask" }
  },
  {
    name: "a file that is not TOML counts as empty, and the environment still holds",
    config: "[auth\nrequired = true",
    env: { ANTHROPIC_API_KEY: "a" },
    expected: { providers: ["anthropic anthropic - a"], authRequired: false },
    warnings: [/config\.toml is not TOML at line 1, column 6: .*Until then the file counts as empty$/]
  }
]

describe("Settings", () => {
  it.effect.each(table)("$name", ({ config, credentials, env, expected, flags, warnings = [] }) =>
    Effect.gen(function* () {
      const { providers, warnings: said, ...rest } = yield* current
      const { providers: wanted, ...others } = expected
      if (wanted !== undefined) assert.deepStrictEqual(providers.map(shown), wanted)
      assert.deepStrictEqual(rest, { ...rest, ...others })
      assert.strictEqual(said.length, warnings.length, said.join("\n"))
      for (const [index, pattern] of warnings.entries()) assert.match(said[index] ?? "", pattern)
    }).pipe(
      Effect.provide(
        settingsHome({
          ...(config === undefined ? {} : { config }),
          ...(credentials === undefined ? {} : { credentials }),
          ...(env === undefined ? {} : { env }),
          ...(flags === undefined ? {} : { flags })
        })
      )
    )
  )

  it.effect("keeps the models that the file names when the environment has the key", () =>
    Effect.gen(function* () {
      const { providers } = yield* current
      assert.deepStrictEqual(providers[0]?.models, [{ id: "m", contextWindow: 1000 }])
    }).pipe(
      Effect.provide(
        settingsHome({
          config: '[[providers.openai.models]]\nid = "m"\ncontext_window = 1000',
          env: { OPENAI_API_KEY: "o" }
        })
      )
    )
  )

  it.effect("logs a deny rule that cannot be read once, when the file is read, and keeps it apart", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const capture = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
      yield* Effect.gen(function* () {
        const { lostRules, permission } = yield* current
        yield* current
        assert.deepStrictEqual(permission.deny, ["Edit"])
        assert.match(lostRules.join(), /permission\.deny\[0\] is ignored: there is no such tool; did you mean Bash\?/)
        assert.deepStrictEqual(logged, lostRules)
      }).pipe(Effect.provide([settingsHome({ config: '[permission]\ndeny = ["bash(rm *)", "Edit"]' }), capture]))
    })
  )

  it.effect("counts the rules of a file that was never readable as lost, and those of a last good content not", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const settings = yield* Settings
      const file = join(settings.home, "config.toml")
      const write = (text: string) => Effect.andThen(fs.writeFileString(file, text), settings.current)
      const first = yield* settings.current
      assert.match(first.lostRules.join(), /is not TOML.*the file counts as empty$/)
      assert.match((yield* write("[permission")).lostRules.join(), /the file counts as empty$/)
      assert.deepStrictEqual((yield* write('[permission]\ndeny = ["Edit"]')).lostRules, [])
      const broken = yield* write('[permission]\ndeny = ["Edit"')
      assert.deepStrictEqual([broken.lostRules, broken.permission.deny], [[], ["Edit"]])
      assert.match(broken.warnings.join(), /its last good content holds$/)
    }).pipe(Effect.provide(settingsHome({ config: "[permission]\ndeny = [" })))
  )

  it.effect("tells where each key came from", () =>
    Effect.gen(function* () {
      const { providers } = yield* current
      assert.deepStrictEqual(
        providers.map(({ keySource, name }) => [name, keySource?.kind, keySource?.name]),
        [
          ["anthropic", "variable", "ANTHROPIC_API_KEY"],
          ["work", "variable", "MINE"],
          ["other", "file", "providers.other.api_key"],
          ["local", undefined, undefined],
          ["openai", "variable", "OPENAI_API_KEY"]
        ]
      )
    }).pipe(
      Effect.provide(
        settingsHome({
          config:
            '[providers.anthropic]\napi_key = "file"\n[providers.work]\nkind = "openai"\napi_key_env = "MINE"\n' +
            '[providers.other]\nkind = "openai"\napi_key_env = "UNSET"\napi_key = "file"\n' +
            '[providers.local]\nkind = "openai-compatible"\nbase_url = "http://h"',
          env: { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o", MINE: "m" }
        })
      )
    )
  )

  it.effect("reads the gateway token", () =>
    Effect.gen(function* () {
      const { gatewayToken } = yield* current
      assert.strictEqual(gatewayToken && Redacted.value(gatewayToken), "spi_x")
    }).pipe(Effect.provide(settingsHome({ env: { SUPER_PI_GATEWAY_TOKEN: "spi_x" } })))
  )

  it.effect("notices a changed, a broken, a corrected, a removed and a new file", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const settings = yield* Settings
      const file = join(settings.home, "config.toml")
      const model = Effect.map(settings.current, ({ defaultModel, warnings }) => [defaultModel, warnings.length])

      assert.deepStrictEqual(yield* model, ["a/one", 0])
      yield* fs.writeFileString(file, '[models]\ndefault = "a/three"')
      assert.deepStrictEqual(yield* model, ["a/three", 0])
      yield* fs.writeFileString(file, "[models")
      assert.deepStrictEqual(yield* model, ["a/three", 1])
      assert.match((yield* settings.current).warnings[0] ?? "", /Until then its last good content holds$/)
      yield* fs.writeFileString(file, '[models]\ndefault = "a/four"')
      assert.deepStrictEqual(yield* model, ["a/four", 0])
      yield* fs.remove(file)
      assert.deepStrictEqual(yield* model, [undefined, 0])
      yield* fs.makeDirectory(file)
      assert.match((yield* settings.current).warnings[0] ?? "", /config\.toml is a Directory; make it a plain file/)
      yield* fs.remove(file, { recursive: true })
      yield* fs.writeFileString(`${file}.new`, '[models]\ndefault = "a/five"')
      yield* fs.rename(`${file}.new`, file)
      assert.deepStrictEqual(yield* model, ["a/five", 0])
    }).pipe(Effect.provide(settingsHome({ config: '[models]\ndefault = "a/one"' })))
  )

  it.effect("reads no file of more than a mebibyte", () =>
    Effect.gen(function* () {
      const { warnings } = yield* current
      assert.match(warnings[0] ?? "", /config\.toml has 1048578 bytes, more than 1048576; shorten it/)
    }).pipe(Effect.provide(settingsHome({ config: `#${" ".repeat(1024 * 1024)}\n` })))
  )

  it.effect("reads a changed file once for any number of callers, and an unchanged one never again", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      let reads = 0
      let stats = 0
      const counting = FileSystem.FileSystem.of({
        ...fs,
        stat: (path) => Effect.suspend(() => (stats++, fs.stat(path))),
        readFileString: (path) => Effect.suspend(() => (reads++, fs.readFileString(path)))
      })
      const home = yield* fs.makeTempDirectoryScoped()
      const layer = Settings.layer({ alwaysApprove: false }).pipe(
        Layer.provide(Layer.succeed(FileSystem.FileSystem, counting)),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { SUPERCHARGE_HOME: home } })))
      )
      yield* Effect.gen(function* () {
        const settings = yield* Settings
        assert.strictEqual(stats, 0, "building the layer looks at no file")
        yield* fs.writeFileString(join(home, "config.toml"), '[models]\ndefault = "a/b"')
        const values = yield* Effect.all(
          Array.from({ length: 20 }, () => settings.current),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(reads, 1)
        assert.isTrue(values.every((value) => value === values[0]))
        yield* settings.current
        assert.strictEqual(reads, 1)
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.provide(platform))
  )

  it.effect.each([
    [undefined, join(homedir(), ".supercharge")],
    ["", join(homedir(), ".supercharge")],
    ["~/elsewhere", join(homedir(), "elsewhere")],
    ["relative/home", resolve("relative/home")],
    ["/srv/home", "/srv/home"]
  ] as const)("SUPERCHARGE_HOME=%s gives %s", ([variable, home]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Settings).home, home)
    }).pipe(
      Effect.provide(
        Settings.layer({ alwaysApprove: false }).pipe(
          Layer.provide(
            ConfigProvider.layer(
              ConfigProvider.fromEnv({ env: variable === undefined ? {} : { SUPERCHARGE_HOME: variable } })
            )
          ),
          Layer.provide(platform)
        )
      )
    )
  )

  it.effect("takes values as they are, for tests and embedding", () =>
    Effect.gen(function* () {
      const settings = yield* Settings
      const value = yield* settings.current
      assert.deepStrictEqual([settings.home, value.authRequired, value.fsDelegation], ["/h", true, "unsaved_only"])
    }).pipe(Effect.provide(Settings.layerValues({ home: "/h", authRequired: true })))
  )
})
