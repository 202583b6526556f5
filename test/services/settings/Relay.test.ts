import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Settings } from "../../../src/services/Settings.ts"
import { type Home, settingsHome } from "../../support/SettingsHome.ts"

const current = (home: Home) =>
  Effect.provide(
    Settings.use((settings) => settings.current),
    settingsHome(home)
  )

const config = `[relay]
url = "wss://relay.example.org/agent"
token = "token-of-the-file"
origin = "https://example.org"
`

describe("the relay of the settings", () => {
  it.effect("is none unless it is configured", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* current({})).relay, {})
    })
  )

  it.effect("comes from the file, with a token that no log shows", () =>
    Effect.gen(function* () {
      const { relay, warnings } = yield* current({ config })
      assert.deepStrictEqual(relay, {
        url: "wss://relay.example.org/agent",
        token: Redacted.make("token-of-the-file"),
        origin: "https://example.org"
      })
      assert.deepStrictEqual(warnings, [])
      assert.notInclude(JSON.stringify(relay) + String(relay.token), "token-of-the-file")
    })
  )

  it.effect("comes from the environment first, value by value", () =>
    Effect.gen(function* () {
      const { relay } = yield* current({ config, env: { SUPERCHARGE_RELAY_TOKEN: " token-of-the-environment " } })
      assert.deepStrictEqual(relay.token, Redacted.make("token-of-the-environment"))
      assert.strictEqual(relay.url, "wss://relay.example.org/agent")
      const env = { SUPERCHARGE_WS_URL: "ws://127.0.0.1:2420/agent", SUPERCHARGE_WS_ORIGIN: "https://other.org" }
      const other = yield* current({ config, env })
      assert.deepStrictEqual([other.relay.url, other.relay.origin], ["ws://127.0.0.1:2420/agent", "https://other.org"])
      assert.deepStrictEqual(other.relay.token, Redacted.make("token-of-the-file"))
    })
  )

  for (const [line, complaint] of [
    [
      'url = "https://relay.example.org"',
      /relay\.url must be the address of a relay, such as "wss:.*; there is no relay/
    ],
    ["url = 1", /relay\.url must be the address of a relay/],
    ['token = ""', /relay\.token must be the token of the relay in double quotes; it is ignored/],
    ["token = 1234567890123456", /relay\.token must be/],
    ['origin = "example.org"', /relay\.origin must be an origin, such as "https:.*; it is ignored/],
    ['origin = "https://example.org/page"', /relay\.origin must be an origin/]
  ] as const) {
    it.effect(`says what is wrong with ${line}, and goes on without it`, () =>
      Effect.gen(function* () {
        const { relay, warnings } = yield* current({ config: `[relay]\n${line}\n` })
        assert.deepStrictEqual(relay, {})
        assert.strictEqual(warnings.length, 1)
        assert.match(warnings[0] ?? "", complaint)
        assert.notInclude(warnings.join(), "1234567890123456")
      })
    )
  }
})
