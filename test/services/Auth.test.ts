import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import { Auth, type AuthConnection } from "../../src/services/Auth.ts"
import { TokenStore } from "../../src/services/auth/TokenStore.ts"
import * as ModelsLive from "../../src/services/models/ModelsLive.ts"
import { defaultSettings } from "../../src/services/settings/Merge.ts"
import { type ProviderSettings, Settings, type SettingsValue } from "../../src/services/Settings.ts"
import { platform, settingsHome } from "../support/SettingsHome.ts"

const provider: ProviderSettings = { name: "openai", kind: "openai", apiKey: Redacted.make("k"), models: [] }
const bare: ProviderSettings = {
  name: "local",
  kind: "openai-compatible",
  baseUrl: "http://127.0.0.1:1/v1",
  models: []
}
const good = "the good token"
const other = "another good token"

/** Auth over settings that a test changes, and a store that knows the given tokens. */
const authOf = (settings: Ref.Ref<SettingsValue>, valid: Ref.Ref<ReadonlySet<string>>) =>
  Auth.layer.pipe(
    Layer.provide(ModelsLive.layer),
    Layer.provide([
      platform,
      Layer.succeed(Settings, { home: "/home/ada/.supercharge", current: Ref.get(settings) }),
      Layer.mock(TokenStore, {
        verify: (token) => Effect.map(Ref.get(valid), (tokens) => tokens.has(Redacted.value(token)))
      })
    ])
  )

const withAuth = <A, E>(
  value: Partial<SettingsValue>,
  use: (
    auth: AuthConnection,
    settings: Ref.Ref<SettingsValue>,
    valid: Ref.Ref<ReadonlySet<string>>
  ) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const settings = yield* Ref.make<SettingsValue>({ ...defaultSettings, ...value })
    const valid = yield* Ref.make<ReadonlySet<string>>(new Set([good, other]))
    return yield* Effect.flatMap(
      Auth.use(({ connect }) => connect),
      (auth) => use(auth, settings, valid)
    ).pipe(Effect.provide(authOf(settings, valid)))
  })

/** `ok`, or the tag of the failure. */
const tagOf = <E extends { readonly _tag: string }>(effect: Effect.Effect<void, E>) =>
  effect.pipe(Effect.match({ onSuccess: () => "ok", onFailure: ({ _tag }) => _tag }))

const messageOf = <E extends { readonly message: string }>(effect: Effect.Effect<void, E>) =>
  effect.pipe(Effect.match({ onSuccess: () => "", onFailure: ({ message }) => message }))

const no = "AuthRequired"
const steps = ["provider-key", "gateway-token good", "gateway-token bad", "gateway-token none", "unknown"] as const

interface State {
  readonly name: string
  readonly value: Partial<SettingsValue>
  /** What `require` says at first. */
  readonly first: string
  /** What each step says in a fresh process. */
  readonly said: ReadonlyArray<string>
}

const states: ReadonlyArray<State> = [
  { name: "nothing configured", value: {}, first: no, said: [no, no, no, no, "InvalidInput"] },
  {
    name: "a provider",
    value: { providers: [provider] },
    first: "ok",
    said: ["ok", "ok", no, no, "InvalidInput"]
  },
  {
    name: "a scripted model",
    value: { defaultModel: "scripted/turns.json" },
    first: "ok",
    said: ["ok", "ok", no, no, "InvalidInput"]
  },
  {
    name: "a provider without any model",
    value: { providers: [bare] },
    first: no,
    said: [no, no, no, no, "InvalidInput"]
  },
  {
    name: "a provider whose only model is the default",
    value: { providers: [bare], defaultModel: "local/qwen" },
    first: "ok",
    said: ["ok", "ok", no, no, "InvalidInput"]
  },
  {
    name: "a default model without its provider",
    value: { defaultModel: "gone/model" },
    first: no,
    said: [no, no, no, no, "InvalidInput"]
  },
  {
    name: "a token required",
    value: { providers: [provider], authRequired: true },
    first: no,
    said: [no, "ok", no, no, "InvalidInput"]
  },
  {
    name: "a token required, a good one in the environment",
    value: { providers: [provider], authRequired: true, gatewayToken: Redacted.make(good) },
    first: "ok",
    said: ["ok", "ok", no, "ok", "InvalidInput"]
  },
  {
    name: "a token required, a bad one in the environment",
    value: { providers: [provider], authRequired: true, gatewayToken: Redacted.make("bad") },
    first: no,
    said: [no, "ok", no, no, "InvalidInput"]
  },
  {
    name: "a token required, no provider",
    value: { authRequired: true },
    first: no,
    said: [no, no, no, no, "InvalidInput"]
  }
]

const perform = (auth: AuthConnection, step: (typeof steps)[number] | "gateway-token other") => {
  const [method = "", token] = step.split(" ")
  const sent = { good, other, bad: "bad" }[token ?? ""]
  return auth.authenticate(method, sent === undefined ? undefined : Redacted.make(sent))
}

describe("Auth", () => {
  it.effect.each(states)("$name", ({ first, said: expected, value }) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* withAuth(value, (auth) => tagOf(auth.require)), first)
      for (const [index, step] of steps.entries()) {
        const [said, then] = yield* withAuth(value, (auth) =>
          Effect.all([tagOf(perform(auth, step)), tagOf(auth.require)])
        )
        assert.strictEqual(said, expected[index], step)
        // F106: no hollow success. And a step that fails takes nothing away.
        if (said === "ok" || first === "ok") assert.strictEqual(then, "ok", step)
      }
    })
  )

  it.effect("lists the gateway token only when one is required, and always a way to sign in (AUT-08)", () =>
    Effect.gen(function* () {
      const ids = (value: Partial<SettingsValue>) =>
        withAuth(value, (auth) => Effect.map(auth.methods, (methods) => methods.map(({ id }) => id)))
      assert.deepStrictEqual(yield* ids({}), ["provider-key", "login"])
      assert.deepStrictEqual(yield* ids({ authRequired: true }), ["gateway-token", "provider-key", "login"])
    })
  )

  it.effect("shows which providers are ready (F108)", () =>
    withAuth({ providers: [provider, { ...provider, name: "local" }] }, (auth) =>
      Effect.gen(function* () {
        assert.match((yield* auth.methods)[0]?.description ?? "", /Ready: openai, local$/)
      })
    )
  )

  it.effect("says what to do without a provider", () =>
    Effect.gen(function* () {
      const message = yield* withAuth({}, (auth) => messageOf(auth.require))
      assert.match(message, /export ANTHROPIC_API_KEY=…/)
      assert.match(message, /\[providers\.<name>\] section to \/home\/ada\/\.supercharge\/config\.toml/)
      assert.match(message, /then start a new session$/)
      const warned = yield* withAuth({ warnings: ["providers.x needs a kind", "more"] }, (auth) =>
        messageOf(auth.require)
      )
      assert.match(warned, /Ignored so far: providers\.x needs a kind$/)
      const empty = yield* withAuth({ providers: [bare] }, (auth) => messageOf(auth.require))
      assert.match(
        empty,
        /local has no model.*\[providers\.local\] in \/home\/ada\/\.supercharge\/config\.toml.*models = /
      )
    })
  )

  it.effect("says what to do without a token, with a wrong one, and with a wrong method", () =>
    Effect.gen(function* () {
      const required = { providers: [provider], authRequired: true }
      assert.match(
        yield* withAuth(required, (auth) => messageOf(auth.require)),
        /super-pi token create.*gateway-token.*SUPER_PI_GATEWAY_TOKEN/
      )
      const bad = yield* withAuth(required, (auth) => messageOf(perform(auth, "gateway-token bad")))
      assert.match(bad, /not valid: use a token made by `super-pi token create`/)
      assert.notInclude(bad, "token list")
      const wrong = yield* withAuth(required, (auth) => Effect.flip(auth.authenticate("oauth", undefined)))
      assert.strictEqual(wrong._tag === "InvalidInput" ? wrong.field : "", "methodId")
      assert.strictEqual(wrong.message, "there is no such method; choose one of: gateway-token, provider-key")
    })
  )

  it.effect("a logout lasts until the next sign-in, and leaves provider keys alone", () =>
    withAuth({ providers: [provider], authRequired: true, gatewayToken: Redacted.make(good) }, (auth, settings) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* tagOf(auth.require), "ok")
        yield* auth.logout
        assert.strictEqual(yield* tagOf(auth.require), no)
        assert.strictEqual(yield* tagOf(perform(auth, "provider-key")), no)
        assert.strictEqual(yield* tagOf(perform(auth, "gateway-token none")), "ok")
        assert.strictEqual(yield* tagOf(auth.require), "ok")
        yield* auth.logout
        yield* Ref.update(settings, (value) => ({ ...value, authRequired: false }))
        assert.strictEqual(yield* tagOf(auth.require), "ok")
      })
    )
  )

  it.effect("a token that was accepted stops working when it is revoked", () =>
    withAuth({ providers: [provider], authRequired: true }, (auth, _settings, valid) =>
      Effect.gen(function* () {
        yield* perform(auth, "gateway-token good")
        yield* Ref.set(valid, new Set([other]))
        assert.match(yield* messageOf(auth.require), /no longer, valid: .*with a token made by `super-pi token create`/)
        yield* perform(auth, "gateway-token other")
        yield* auth.require
      })
    )
  )

  const actions = [...steps, "gateway-token other", "logout", "revoke good", "add provider", "require token"] as const
  it.effect.prop(
    "agrees with a small model after any actions",
    [Arbitrary.array(Arbitrary.schema(Schema.Literals(actions)), { maxLength: 12 }), Schema.Boolean],
    ([script, environment]) =>
      withAuth(environment ? { gatewayToken: Redacted.make(good) } : {}, (auth, settings, valid) =>
        Effect.gen(function* () {
          const model = { token: environment ? good : "", hasProvider: false, required: false, valid: [good, other] }
          const isOpen = () => model.hasProvider && (!model.required || model.valid.includes(model.token))
          for (const action of script) {
            if (action === "logout") {
              yield* auth.logout
              model.token = ""
            } else if (action === "revoke good") {
              yield* Ref.set(valid, new Set([other]))
              model.valid = [other]
            } else if (action === "add provider") {
              yield* Ref.update(settings, (value) => ({ ...value, providers: [provider] }))
              model.hasProvider = true
            } else if (action === "require token") {
              yield* Ref.update(settings, (value) => ({ ...value, authRequired: true }))
              model.required = true
            } else {
              const said = yield* Effect.result(perform(auth, action))
              const presented = { good, other, bad: "bad", none: environment ? good : "" }[action.split(" ")[1] ?? ""]
              const accepted = presented === undefined ? action === "provider-key" : model.valid.includes(presented)
              if (presented !== undefined && accepted) model.token = presented
              assert.strictEqual(Result.isSuccess(said), accepted && isOpen(), action)
            }
            assert.strictEqual((yield* tagOf(auth.require)) === "ok", isOpen(), action)
          }
        })
      ),
    { arbitrary: { runs: 200 } }
  )

  it.effect("a key that is put in place later is there after the sign-in, without a restart (F106)", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const auth = yield* Auth.use(({ connect }) => connect)
      const { home } = yield* Settings
      assert.strictEqual(yield* tagOf(auth.require), no)
      assert.strictEqual(yield* tagOf(auth.authenticate("provider-key", undefined)), no)
      yield* fs.makeDirectory(home, { recursive: true })
      yield* fs.writeFileString(join(home, "config.toml"), '[providers.openai]\napi_key = "k"')
      yield* auth.authenticate("provider-key", undefined)
      yield* auth.require
    }).pipe(Effect.provide(realAuth({})))
  )

  it.effect("accepts a real token of the store, and names a damaged store", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const auth = yield* Auth.use(({ connect }) => connect)
      const { token } = yield* (yield* TokenStore).create("laptop")
      const file = join((yield* Settings).home, "tokens.json")
      assert.strictEqual(yield* tagOf(auth.require), no)
      yield* auth.authenticate("gateway-token", token)
      yield* auth.require
      yield* fs.writeFileString(file, "{")
      assert.match(yield* messageOf(auth.require), /tokens\.json is no list of tokens and was left as it is/)
    }).pipe(Effect.provide(realAuth({ config: '[auth]\nrequired = true\n[providers.openai]\napi_key = "k"' })))
  )

  it.effect("is open when an application wants it open", () =>
    Effect.gen(function* () {
      const auth = yield* Auth.use(({ connect }) => connect)
      yield* auth.require
      assert.deepStrictEqual(yield* auth.methods, [])
      assert.strictEqual(yield* tagOf(auth.authenticate("provider-key", undefined)), "InvalidInput")
    }).pipe(Effect.provide(Auth.layerOpen))
  )
})

const realAuth = (home: Parameters<typeof settingsHome>[0]) =>
  Auth.layer.pipe(
    Layer.provide(ModelsLive.layer),
    Layer.provideMerge(TokenStore.layer),
    Layer.provideMerge(settingsHome(home)),
    Layer.provideMerge(platform)
  )
