/** Signing in and out: conformance §6. */
import { assert } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { platform, settings } from "../../src/composition/Platform.ts"
import { TokenStore } from "../../src/services/auth/TokenStore.ts"
import { type AloneOptions, suite, type Test, type Version } from "../support/Harness.ts"
import { everything } from "./Initialize.ts"
import type { Transport } from "../support/Transports.ts"

/** An agent that asks for a token. */
export const guarded: AloneOptions = { config: "[auth]\nrequired = true\n" }

/** Makes a token in the home of the agent, as its command line would. */
export const makeToken = (test: Test) =>
  TokenStore.use(({ create }) => create("conformance")).pipe(
    Effect.map(({ id, token }) => ({ id, token: Redacted.value(token) })),
    Effect.provide(tokensOf(test))
  )

const tokensOf = ({ home }: Test) =>
  TokenStore.layer.pipe(
    Layer.provide(settings({ alwaysApprove: false })),
    Layer.provideMerge(platform),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { SUPERCHARGE_HOME: home } }))),
    Layer.orDie
  )

export const newSession = ({ client, folder }: Test) => client.raw("session/new", { cwd: folder, mcpServers: [] })

export const signingIn = (version: Version, transport: Transport): void => {
  const { alone } = suite(version, transport)

  for (const [name, options] of Object.entries({
    "a configured model": {},
    "nothing configured": { scripted: false },
    "a token required": guarded
  } satisfies Record<string, AloneOptions>)) {
    alone(
      `AUT-01, AUT-08, AUT-14 MUST list ways to sign in, with ids of their own: ${name}`,
      { ...options, initialized: false },
      Effect.fnUntraced(function* (test) {
        const { authMethods = [] } = yield* test.client.initialize()
        const ids = authMethods.map((method) => ("id" in method ? method.id : ""))
        assert.isNotEmpty(ids)
        assert.strictEqual(new Set(ids).size, ids.length)
        const types = authMethods.map((method) => ("type" in method ? method.type : "agent"))
        assert.include(types, "agent")
      })
    )
  }

  for (const [name, capabilities] of Object.entries({ nothing: {}, everything })) {
    alone(
      `AUT-02 MUST list a terminal only for a client that has one: ${name}`,
      { ...guarded, initialized: false },
      Effect.fnUntraced(function* (test) {
        const { authMethods = [] } = yield* test.client.initialize(capabilities)
        const terminals = authMethods.filter((method) => "type" in method && method.type === "terminal")
        if (name === "nothing") assert.isEmpty(terminals)
        for (const terminal of terminals) assert.containsAllKeys(terminal, ["id", "name", "args"])
      })
    )
  }

  alone(
    "AUT-05, AUT-07, AUT-09 MUST gate sessions with -32000 until authenticate, and again after logout",
    guarded,
    Effect.fnUntraced(function* (test) {
      const { client } = test
      const { token } = yield* makeToken(test)
      const refused = yield* newSession(test)
      assert.strictEqual(refused.error?.code, -32000)
      assert.match(refused.error?.message ?? "", /super-pi token create/)
      assert.strictEqual(
        (yield* client.raw("session/load", { sessionId: "x", cwd: test.folder, mcpServers: [] })).error?.code,
        -32000
      )
      const wrong = yield* client.raw("authenticate", {
        methodId: "gateway-token",
        _meta: { token: "wrong-token-of-a-test" }
      })
      assert.strictEqual(wrong.error?.code, -32000)
      assert.strictEqual((yield* newSession(test)).error?.code, -32000)

      assert.deepStrictEqual(yield* client.request("authenticate", { methodId: "gateway-token", _meta: { token } }), {})
      yield* test.open()

      assert.deepStrictEqual(yield* client.request("logout", {}), {})
      assert.strictEqual((yield* newSession(test)).error?.code, -32000)
      const said = client.transcript.entries.flatMap(({ from, line }) => (from === "agent" ? [line] : [])).join("\n")
      for (const secret of [token, "wrong-token-of-a-test"]) {
        assert.notInclude(said, secret)
        assert.notInclude(client.channel.log(), secret)
      }
    })
  )

  alone(
    "AUT-05 MUST take the token of the environment, if it is a good one",
    guarded,
    Effect.fnUntraced(function* (test) {
      const { token } = yield* makeToken(test)
      const wrong = yield* test.restart({ SUPER_PI_GATEWAY_TOKEN: "wrong-token-of-a-test" })
      assert.strictEqual((yield* newSession(wrong)).error?.code, -32000)
      const { error } = yield* wrong.client.raw("authenticate", { methodId: "gateway-token" })
      assert.strictEqual(error?.code, -32000)
      const right = yield* test.restart({ SUPER_PI_GATEWAY_TOKEN: token })
      yield* right.open()
      assert.deepStrictEqual(yield* right.client.request("authenticate", { methodId: "gateway-token" }), {})
    })
  )

  alone(
    "AUT-06 SHOULD refuse a way to sign in that it does not have with -32602",
    {},
    Effect.fnUntraced(function* (test) {
      for (const methodId of ["nothing", "", "gateway token"]) {
        const { error } = yield* test.client.raw("authenticate", { methodId })
        assert.strictEqual(error?.code, -32602)
      }
      assert.strictEqual((yield* test.client.raw("authenticate", {})).error?.code, -32602)
      assert.strictEqual((yield* test.client.raw("authenticate", { methodId: null })).error?.code, -32602)
    })
  )

  alone(
    "AUT-07 MAY refuse sessions with -32000 while there is no model, and says what to do",
    { scripted: false },
    Effect.fnUntraced(function* (test) {
      const { error } = yield* newSession(test)
      assert.strictEqual(error?.code, -32000)
      assert.match(error?.message ?? "", /ANTHROPIC_API_KEY/)
    })
  )

  alone(
    "AUT-09 MUST leave sessions of others alone when somebody signs out of an agent that asks for nothing",
    {},
    Effect.fnUntraced(function* (test) {
      assert.deepStrictEqual(yield* test.client.request("logout", {}), {})
      yield* test.open()
    })
  )
}
