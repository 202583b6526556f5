import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { parseConfigFile } from "../../../src/services/settings/ConfigFile.ts"
import { emptyFile, type FileSettings } from "../../../src/services/settings/FileSettings.ts"

const parse = (text: string) => Effect.fromResult(parseConfigFile(text, "config.toml"))
const local = { name: "local", kind: "openai-compatible", baseUrl: "http://h/v1", apiKeyEnv: undefined } as const

interface Case {
  readonly name: string
  readonly text: string
  readonly value?: Partial<Omit<FileSettings, "warnings" | "lostRules">>
  /** What each warning says, in order. */
  readonly warnings?: ReadonlyArray<RegExp>
  /** Which of the warnings tell of rules that do not hold. */
  readonly lost?: ReadonlyArray<number>
}

const provider = (keys: string) => `[providers.local]\nkind = "openai-compatible"\nbase_url = "http://h/v1"\n${keys}`
const withModels = (models: (typeof emptyFile)["providers"][number]["models"]) => ({
  providers: [{ ...local, apiKey: undefined, models }]
})

const cases: ReadonlyArray<Case> = [
  { name: "an empty file", text: "" },
  { name: "unknown keys of a section are ignored silently", text: "[models]\nfoo = []" },
  {
    name: "unknown sections are named, with what was meant",
    text: 'x = 1\n[screen]\ntheme = "dark"\n[provider.local]\nkind = "openai"\n[permision]\ndeny = ["Edit"]',
    warnings: [
      /^config\.toml:1: x is not read: there is no such section; the sections are models, providers, acp, permission, /,
      /^config\.toml:2: screen is not read/,
      /^config\.toml:4: provider is not read: there is no such section; did you mean \[providers\]\?$/,
      /^config\.toml:6: permision is not read: there is no such section; did you mean \[permission\]\?$/
    ],
    lost: [3]
  },
  {
    name: "a name that may be a key is not repeated",
    text: 'sk-ant-0123 = 1\nAbcdefghijklmnopqrstuvwxyzABC = 1\n[permission]\nsk-ant-0123 = "x"',
    warnings: [/: … is not read: /, /: … is not read: /, /: permission\.… is not read; write the rules into allow/],
    lost: [2]
  },
  {
    name: "rules above every section",
    text: 'deny = ["Edit"]\nallow = ["Read"]',
    warnings: [/: deny is not read here; write it below the line \[permission\]/, /: allow is not read here/],
    lost: [0]
  },
  {
    name: "rules that cannot be read, without a word of them",
    text: '[permission]\nallow = ["Shell(secret)"]\nask = ["Foo(secret)"]\ndeny = ["Edit", "bash(secret)", "Bash(secret", "*(x)"]',
    value: { permission: { allow: [], ask: [], deny: ["Edit"] } },
    warnings: [
      /permission\.allow\[0\] is ignored: there is no such tool; write one of Bash, Read, /,
      /permission\.ask\[0\] is ignored: there is no such tool; write one of Bash, Read, /,
      /permission\.deny\[1\] is ignored: there is no such tool; did you mean Bash\? Write one of /,
      /permission\.deny\[2\] is ignored: its parenthesis is not closed; /,
      /permission\.deny\[3\] is ignored: \* is for every tool and takes no pattern/
    ],
    lost: [1, 2, 3, 4]
  },
  {
    name: "a misspelt list of rules",
    text: '[permission]\ndenny = ["Edit"]',
    warnings: [/permission\.denny is not read; did you mean deny\?$/],
    lost: [0]
  },
  {
    name: "a misspelt list that only allows",
    text: "[permission]\nalow = []",
    warnings: [/alow is not read; did you mean allow\?$/]
  },
  {
    name: "permissions that are no table",
    text: "permission = 3",
    warnings: [/permission must be a table/],
    lost: [0]
  },
  {
    name: "a default model",
    text: '[models]\ndefault = "local/qwen"',
    value: { choices: { defaultModel: "local/qwen" } }
  },
  {
    name: "a default model without provider",
    text: '[models]\ndefault = "qwen"',
    warnings: [/^config\.toml:2: models\.default must be provider\/model, such as /]
  },
  { name: "a default model of the wrong type", text: "[models]\ndefault = 7", warnings: [/models\.default must be /] },
  { name: "a table that is none", text: "models = 3", warnings: [/: models must be a table; write \[models\] /] },
  { name: "a date is no table", text: "auth = 2020-01-01T00:00:00Z", warnings: [/: auth must be a table/] },
  {
    name: "a provider with a key",
    text: provider('api_key = " k1 "\nmodels = ["qwen", "org/llama"]'),
    value: { providers: [{ ...local, apiKey: Redacted.make("k1"), models: [{ id: "qwen" }, { id: "org/llama" }] }] }
  },
  {
    name: "models as tables",
    text: provider('models = [{ id = "a", context_window = 32768, image = true, efforts = ["low", "high"] }, "b"]'),
    value: withModels([{ id: "a", contextWindow: 32768, image: true, efforts: ["low", "high"] }, { id: "b" }])
  },
  {
    name: "models as a list of tables below",
    text: provider('[[providers.local.models]]\nid = "a"\n[[providers.local.models]]\nid = "b"\nimage = false'),
    value: withModels([{ id: "a" }, { id: "b", image: false }])
  },
  { name: "one model without brackets", text: provider('models = "a"'), value: withModels([{ id: "a" }]) },
  {
    name: "a quoted number is told, never taken for none silently",
    text: provider('models = [{ id = "a", context_window = "128000" }]'),
    value: withModels([{ id: "a" }]),
    warnings: [/providers\.local\.models\[0\]\.context_window must be a whole number of tokens without quotes/]
  },
  {
    name: "each bad part of a model costs only itself",
    text: provider('models = [{ id = "a", image = "yes", efforts = "low" }, 5, { image = true }, "b"]'),
    value: withModels([{ id: "a" }, { id: "b" }]),
    warnings: [
      /models\[0\]\.image must be true or false/,
      /models\[0\]\.efforts must be a list/,
      /models\[1\] must be the id of a model/,
      /models\[2\] needs an id/
    ]
  },
  {
    name: "the kind of a well-known name",
    text: '[providers.anthropic]\napi_key_env = "MY_KEY"',
    value: {
      providers: [
        {
          name: "anthropic",
          kind: "anthropic",
          baseUrl: undefined,
          apiKey: undefined,
          apiKeyEnv: "MY_KEY",
          models: []
        }
      ]
    }
  },
  {
    name: "no kind",
    text: '[providers.local]\nbase_url = "http://h/v1"',
    value: { brokenProviders: ["local"] },
    warnings: [/: providers\.local needs a kind, one of "anthropic", /]
  },
  {
    name: "an unknown kind is not replaced by the usual one",
    text: '[providers.openai]\nkind = "opnai"',
    value: { brokenProviders: ["openai"] },
    warnings: [/providers\.openai\.kind must be one of /, /providers\.openai needs a kind/]
  },
  {
    name: "an address that is none",
    text: '[providers.openai]\nbase_url = "localhost:80"',
    value: { brokenProviders: ["openai"] },
    warnings: [/providers\.openai\.base_url must be an http/, /providers\.openai is left out until/]
  },
  {
    name: "a key in the place of a variable name",
    text: provider('api_key_env = "sk-1234"'),
    value: { brokenProviders: ["local"] },
    warnings: [/api_key_env must be the name of an environment variable/, /providers\.local is left out/]
  },
  {
    name: "provider names that no model id could use",
    text: '[providers.scripted]\nkind = "openai"\n[providers."a/b"]\nkind = "openai"',
    warnings: [/: providers\.scripted is no name for a provider/, /: providers\.… is no name for a provider/]
  },
  {
    name: "delegation, ceiling and sign-in",
    text: '[acp]\nfs_delegation = "never"\n[remote]\nexecution_mode_ceiling = "plan"\n[auth]\nrequired = true',
    value: { fsDelegation: "never", remoteCeiling: "plan", authRequired: true }
  },
  {
    name: "a misspelt delegation",
    text: '[acp]\nfs_delegation = "alway"',
    warnings: [/acp\.fs_delegation must be one of "unsaved_only", "never", "always"/]
  },
  {
    name: "a misspelt ceiling does not open the door",
    text: '[remote]\nexecution_mode_ceiling = "plna"',
    value: { remoteCeiling: "ask" },
    warnings: [/remote\.execution_mode_ceiling must be one of .*; the ceiling is "ask" until/]
  },
  {
    name: "a sign-in of the wrong type does not open the door",
    text: '[auth]\nrequired = "yes"',
    value: { authRequired: true },
    warnings: [/auth\.required must be true or false without quotes; signing in is required until/]
  },
  { name: "no sign-in", text: "[auth]\nrequired = false", value: { authRequired: false } },
  {
    name: "permission rules",
    text: '[permission]\nallow = ["Bash(ls)", 3]\nask = "Edit"\ndeny = ["Bash(rm *)", ""]',
    value: { permission: { allow: ["Bash(ls)"], ask: ["Edit"], deny: ["Bash(rm *)"] } },
    warnings: [/permission\.allow\[1\] must be a rule in double quotes/, /permission\.deny\[1\] must be a rule/],
    lost: [1]
  },
  {
    name: "rules as tables",
    text: '[permission]\nrules = [{ action = "deny", tool = "bash" }]',
    value: { permission: { allow: [], ask: [], deny: ["Bash"] } }
  }
]

describe("ConfigFile", () => {
  it.effect.each(cases)("$name", ({ lost = [], text, value, warnings = [] }) =>
    Effect.gen(function* () {
      const { lostRules, warnings: said, ...settings } = yield* parse(text)
      const { lostRules: _, warnings: __, ...defaults } = emptyFile
      assert.deepStrictEqual(settings, { ...defaults, ...value })
      assert.strictEqual(said.length, warnings.length, said.join("\n"))
      for (const [index, pattern] of warnings.entries()) assert.match(said[index] ?? "", pattern)
      assert.notInclude(said.join("\n"), "secret")
      assert.deepStrictEqual(
        lostRules,
        lost.map((index) => said[index] ?? "")
      )
    })
  )

  it.effect("tells no more than fifty warnings", () =>
    Effect.gen(function* () {
      const { warnings } = yield* parse(`[permission]\nallow = [${"1,".repeat(99)} 1]`)
      assert.strictEqual(warnings.length, 51)
      assert.strictEqual(warnings.at(-1), "config.toml: 50 more values are ignored")
    })
  )

  const broken: ReadonlyArray<readonly [text: string, expected: RegExp]> = [
    [
      "[models]\ndefault = local/qwen\n",
      /^config\.toml is not TOML at line 2, column \d+: Invalid value; text needs double quotes around it\. It reads `default = …`$/
    ],
    ['[models]\ndefault "a/b"', /line 2, column 9: Expected '='; correct this line\. It reads `default "…"`$/],
    ["[providers.local", /line 1, column 17: Expected '\]'/],
    ["[auth]\nrequired = true\n[auth]\n", /line 3, column 7: Cannot redefine table; this name is already used above/],
    ['x = "abc\n', /line 1, column 9: Basic strings cannot contain newlines; close the text/],
    [`x = ${"[".repeat(200_000)}`, /^config\.toml is not TOML/]
  ]
  it.effect.each(broken)("says where it stops being TOML: %#", ([text, expected]) =>
    Effect.sync(() => {
      const result = parseConfigFile(text, "config.toml")
      assert.match(Result.isFailure(result) ? result.failure : "it was read", expected)
    })
  )
})
