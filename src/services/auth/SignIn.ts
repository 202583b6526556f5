/** Who is signed in on a connection, and what somebody who is not has to do. */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import { AuthRequired, InvalidInput } from "../../domain/Failure.ts"
import type { AuthConnection, AuthMethod, AuthShape } from "../Auth.ts"
import { LoginProgram } from "./LoginProgram.ts"
import { Models } from "../Models.ts"
import { Settings, type SettingsValue } from "../Settings.ts"
import { TokenStore } from "./TokenStore.ts"

const providerKey: AuthMethod = {
  id: "provider-key",
  name: "Use a model provider key",
  description:
    "Uses the key that `super-pi login` stored, ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY of the environment, " +
    "or a provider of config.toml; choose it again after you added a key"
}

const gatewayToken: AuthMethod = {
  id: "gateway-token",
  name: "Gateway token",
  description:
    "Uses the token sent as _meta.token, else SUPER_PI_GATEWAY_TOKEN; `super-pi token create` on the agent's machine makes one"
}

const login: AuthMethod = {
  id: "login",
  name: "Sign in to a model provider",
  description: "Asks in a terminal for a provider, its key and a model, and tries them"
}

/**
 * The token that counts: the last one that was accepted, else the one of the environment. After a logout neither does,
 * until somebody signs in again.
 */
type Signed =
  | { readonly _tag: "Environment" }
  | { readonly _tag: "Token"; readonly token: Redacted.Redacted<string> }
  | { readonly _tag: "Out" }

export const makeAuth = Effect.gen(function* () {
  const settings = yield* Settings
  const tokens = yield* TokenStore
  const models = yield* Models
  const program = yield* LoginProgram

  const refuse = (message: string) => Effect.fail(new AuthRequired({ message }))

  const isAccepted = (token: Redacted.Redacted<string>) =>
    tokens.verify(token).pipe(Effect.catch(({ message }) => refuse(message)))

  const requireModel = Effect.fnUntraced(function* (value: SettingsValue) {
    if ((yield* models.list).length > 0) return
    const [provider] = value.providers
    if (provider !== undefined) {
      return yield* refuse(
        `The provider ${provider.name} has no model that is known here, and its own list cannot be had: start its server, or name one under [providers.${provider.name}] in ` +
          `${settings.home}/config.toml, such as models = ["qwen"], then start a new session`
      )
    }
    const [warning] = value.warnings
    return yield* refuse(
      "No model provider is configured: run `super-pi login` in a terminal, start the agent with a key in its " +
        "environment, such as `export ANTHROPIC_API_KEY=…` (or OPENAI_API_KEY, GEMINI_API_KEY), or add a " +
        `[providers.<name>] section to ${settings.home}/config.toml, then start a new session` +
        (warning === undefined ? "" : `. Ignored so far: ${warning}`)
    )
  })

  const requireToken = Effect.fnUntraced(function* (value: SettingsValue, state: Signed) {
    if (!value.authRequired) return
    const token = state._tag === "Token" ? state.token : state._tag === "Environment" ? value.gatewayToken : undefined
    // Checked each time, so that revoking a token reaches processes that accepted it before.
    if (token !== undefined && (yield* isAccepted(token))) return
    return yield* refuse(
      token === undefined
        ? "A gateway token is required: make one with `super-pi token create`, then sign in with it by the method " +
            "gateway-token, or set SUPER_PI_GATEWAY_TOKEN and start the agent again"
        : "The gateway token is not, or no longer, valid: sign in by the method gateway-token with a token made by " +
            "`super-pi token create` on the agent's machine"
    )
  })

  const methods = Effect.map(settings.current, ({ authRequired, providers }) => {
    const ready = providers.map(({ name }) => name).join(", ")
    const description = ready === "" ? providerKey.description : `${providerKey.description}. Ready: ${ready}`
    const terminal = { args: ["login"], ...(program === undefined ? {} : { program }) }
    return [...(authRequired ? [gatewayToken] : []), { ...providerKey, description }, { ...login, terminal }]
  })

  const acceptToken = Effect.fnUntraced(function* (sent: Redacted.Redacted<string> | undefined) {
    const token = sent ?? (yield* settings.current).gatewayToken
    if (token === undefined) {
      return yield* refuse(
        "No gateway token was sent: send it as _meta.token, or set SUPER_PI_GATEWAY_TOKEN and start the agent again"
      )
    }
    if (!(yield* isAccepted(token))) {
      return yield* refuse(
        "The gateway token is not valid: use a token made by `super-pi token create` on the agent's machine"
      )
    }
    return token
  })

  const connect = Effect.gen(function* () {
    const signed = yield* Ref.make<Signed>({ _tag: "Environment" })

    const require = Effect.gen(function* () {
      const value = yield* settings.current
      yield* requireToken(value, yield* Ref.get(signed))
      yield* requireModel(value)
    }).pipe(Effect.withSpan("Auth.require"))

    const authenticate = Effect.fn("Auth.authenticate")(function* (
      methodId: string,
      token: Redacted.Redacted<string> | undefined
    ) {
      if (methodId === gatewayToken.id) {
        yield* Ref.set(signed, { _tag: "Token", token: yield* acceptToken(token) })
      } else if (methodId !== providerKey.id) {
        const known = (yield* methods).filter(({ terminal }) => terminal === undefined).map(({ id }) => id)
        const message =
          methodId === login.id
            ? "this method runs in a terminal: run super-pi login there, then connect again"
            : `there is no such method; choose one of: ${known.join(", ")}`
        return yield* new InvalidInput({ field: "methodId", message })
      }
      // A sign-in succeeds only if a session can be opened next (F106).
      yield* require
    })

    const logout = Ref.set(signed, { _tag: "Out" })

    return { methods, require, authenticate, logout } satisfies AuthConnection
  })

  return { connect } satisfies AuthShape
})

/** Nobody has to sign in and no provider is asked for. */
export const openAuth: AuthShape = {
  connect: Effect.succeed({
    methods: Effect.succeed([]),
    require: Effect.void,
    authenticate: () =>
      Effect.fail(new InvalidInput({ field: "methodId", message: "there is no way to sign in, and no need to" })),
    logout: Effect.void
  })
}
