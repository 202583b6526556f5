/** No secret of a file or an environment, however it was written, comes back in a warning, log, error or dump. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import { inspect } from "node:util"
import { Auth } from "../../src/services/Auth.ts"
import * as ModelsLive from "../../src/services/models/ModelsLive.ts"
import { TokenStore } from "../../src/services/auth/TokenStore.ts"
import { Settings } from "../../src/services/Settings.ts"
import { type Home, settingsHome } from "../support/SettingsHome.ts"

const secret = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Literals("abcdefXYZ0123456789_-".split(""))), {
    minLength: 12,
    maxLength: 40
  }),
  (characters) => characters.join("")
)

const inProvider = (keys: string) => `[providers.x]\nkind = "openai-compatible"\nbase_url = "http://h/v1"\n${keys}\n`

/** The file of stored keys, whole and broken. */
const stored: ReadonlyArray<(key: string) => string> = [
  (key) => JSON.stringify({ version: 1, keys: { anthropic: key } }),
  (key) => JSON.stringify({ version: 2, keys: { anthropic: key } }),
  (key) => JSON.stringify({ version: 1, keys: { [key]: key } }),
  (key) => JSON.stringify({ version: 1, keys: [key] }),
  (key) => `{"version":1,"keys":{"anthropic":"${key}`,
  (key) => key
]

/** Where people put a key: rightly, wrongly, and in ways that are not even TOML. */
const places: ReadonlyArray<(key: string) => string> = [
  (key) => inProvider(`api_key = "${key}"`),
  (key) => inProvider(`api_key = '${key}'`),
  (key) => inProvider(`api_key = """\n${key}\n"""`),
  (key) => inProvider(`api_key = ["${key}"]`),
  (key) => inProvider(`api_key = { value = "${key}" }`),
  (key) => inProvider(`api_key = ${key}`),
  (key) => inProvider(`api_key = ${key}.${key}:${key}`),
  (key) => inProvider(`api_key = "${key}`),
  (key) => inProvider(`api_key = """\n${key}\n`),
  (key) => inProvider(`api_key "${key}"`),
  (key) => inProvider(`api_key: ${key}`),
  (key) => inProvider(`api_key = "${key}" "${key}"`),
  (key) => inProvider(`api_key = "\\q${key}"`),
  (key) => inProvider(`api_key = "${key}"\napi_key = "${key}"`),
  (key) => inProvider(`${key} = 1\n${key} = 2`),
  (key) => inProvider(`api_key_env = "${key}"`),
  (key) => inProvider(`models = ["${key} ${key}"]`),
  (key) => inProvider(`models = [{ api_key = "${key}" }]`),
  (key) => `providers = { x = { kind = "openai", api_key = "${key}" `,
  (key) => `[providers.x]\nkind = "${key}"`,
  (key) => `[providers.x]\nkind = "openai"\nbase_url = "https://user:${key}@h/v1"`,
  (key) => `[providers.x]\nkind = "openai"\nbase_url = "https://h/v1?key=${key}"`,
  (key) => `[providers]\napi_key = "${key}"`,
  (key) => `[models]\ndefault = "${key}"`,
  (key) => `[acp]\nfs_delegation = "${key}"`,
  (key) => `[remote]\nexecution_mode_ceiling = "${key}"`,
  (key) => `[auth]\nrequired = "${key}"`,
  (key) => `[auth]\nrequired = ${key}`,
  (key) => `[permission]\ndeny = [{ key = "${key}" }]`,
  (key) => `[permission]\ndeny = ["${key}"]`,
  (key) => `[permission]\nask = "${key}(x)"`,
  (key) => `[permission]\ndeny = ["Bash(${key}"]`,
  (key) => `[permission]\nsk-${key} = "x"`,
  (key) => `[sk-${key}]\nx = 1`,
  (key) => `sk-${key} = "${key}"`,
  (key) => `[mcp_servers.x]\ncommand = "x"\nenv = { TOKEN = "${key}" }`,
  (key) => `[mcp_servers.x]\nurl = "https://h/mcp"\nheaders = { Authorization = "Bearer ${key}" }`,
  (key) => `[mcp_servers.x]\ncommand = ["${key}"]\nargs = "${key}"\nenv = { A = ["${key}"] }`,
  (key) => `[mcp_servers.x]\nurl = "ftp://${key}"`,
  (key) => `[mcp_servers."${key} ${key}"]\ncommand = "x"`,
  (key) => `[[hooks.Stop]]\ncommand = "x"\nenv = { TOKEN = "${key}" }`,
  (key) => `[[hooks.Stop]]\nurl = "${key}"\nmatcher = "(${key}"\ntimeout = "${key}"`,
  (key) => `[[hooks.sk-${key}]]\ncommand = "x"`,
  (key) => `[sandbox]\nprofile = "${key}"\nsk-${key} = 1`,
  (key) => `[ui]\npermission_mode = "${key}"`,
  (key) => `[permission]\nrules = [{ action = "deny", tool = "${key}" }, "${key}"]`,
  (key) => `disabled_mcp_servers = [{ a = "${key}" }]`,
  (key) => `# ${key} =\n=`,
  (key) => key,
  (key) => `"${key}`
]

/** Everything that the settings and the sign-in would show to anybody. */
const everythingShown = (home: Home) =>
  Effect.gen(function* () {
    const logged: Array<unknown> = []
    const capture = Logger.layer([Logger.make(({ cause, message }) => void logged.push(message, cause))])
    return yield* Effect.gen(function* () {
      const value = yield* (yield* Settings).current
      const auth = yield* Auth.use(({ connect }) => connect)
      const methods = yield* auth.methods
      const failures = yield* Effect.all([
        Effect.result(auth.require),
        Effect.result(auth.authenticate("provider-key", undefined)),
        Effect.result(auth.authenticate("gateway-token", undefined))
      ])
      return [
        value.warnings.join("\n"),
        JSON.stringify([value, methods, failures, logged]),
        inspect([value, failures, logged], { depth: 20, showHidden: true })
      ].join("\n")
    }).pipe(
      Effect.provide(
        Auth.layer.pipe(
          Layer.provide([TokenStore.layer, ModelsLive.layer]),
          Layer.provideMerge(settingsHome(home)),
          Layer.merge(capture)
        )
      )
    )
  })

describe("secrets of the settings", () => {
  it.effect.prop(
    "stay out of sight among the stored keys",
    [secret],
    ([key]) =>
      Effect.forEach(stored, (credentials) =>
        Effect.map(everythingShown({ credentials: credentials(key) }), (shown) =>
          assert.notInclude(shown, key, credentials("KEY"))
        )
      ),
    { arbitrary: { runs: 8 } }
  )

  it.effect.prop(
    "stay out of sight wherever they stand in the file",
    [secret],
    ([key]) =>
      Effect.forEach(places, (place) =>
        Effect.map(everythingShown({ config: place(key) }), (shown) => assert.notInclude(shown, key, place("KEY")))
      ),
    { arbitrary: { runs: 8 } }
  )

  it.effect.prop(
    "stay out of sight when any one character of the file is missing",
    [secret, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200 }))],
    ([key, position]) => {
      const text = `${inProvider(`api_key = "${key}"\nmodels = ["m", { id = "n", image = true }]`)}[auth]\nrequired = true\n`
      const at = position % text.length
      // A character of the key itself may be the missing one: then the rest of it must not be seen.
      return Effect.map(everythingShown({ config: text.slice(0, at) + text.slice(at + 1) }), (shown) =>
        assert.notInclude(shown, key.slice(6))
      )
    },
    { arbitrary: { runs: 150 } }
  )

  it.effect.prop(
    "stay out of sight in every variable of the environment",
    [secret],
    ([key]) =>
      Effect.map(
        everythingShown({
          config: '[auth]\nrequired = true\n[providers.x]\nkind = "openai"\napi_key_env = "X"',
          env: {
            X: key,
            ANTHROPIC_API_KEY: key,
            OPENAI_API_KEY: key,
            OPENAI_BASE_URL: `https://user:${key}@h`,
            GEMINI_API_KEY: key,
            GEMINI_BASE_URL: key,
            SUPER_PI_GATEWAY_TOKEN: `spi_${key}`
          }
        }),
        (shown) => assert.notInclude(shown, key)
      ),
    { arbitrary: { runs: 20 } }
  )
})
