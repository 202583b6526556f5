/** The environment variables that are settings. */
import type * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { SandboxProfile } from "../../domain/sandbox/Profile.ts"
import type { ProviderKind, RelaySettings } from "../Settings.ts"
import { baseUrlExpected, parseBaseUrl } from "./BaseUrl.ts"

export interface ProviderVariables {
  readonly name: string
  readonly kind: Exclude<ProviderKind, "openai-compatible">
  readonly apiKey: string
  readonly baseUrl: string
}

/** A provider that exists as soon as its key is in the environment. */
export const providerVariables: ReadonlyArray<ProviderVariables> = [
  { name: "anthropic", kind: "anthropic", apiKey: "ANTHROPIC_API_KEY", baseUrl: "ANTHROPIC_BASE_URL" },
  { name: "openai", kind: "openai", apiKey: "OPENAI_API_KEY", baseUrl: "OPENAI_BASE_URL" },
  { name: "google", kind: "google", apiKey: "GEMINI_API_KEY", baseUrl: "GEMINI_BASE_URL" }
]

export interface EnvironmentProvider {
  readonly name: string
  readonly kind: ProviderKind
  /** The name of the variable that holds the key. */
  readonly variable: string
  readonly apiKey: Redacted.Redacted<string> | undefined
  readonly baseUrl: string | undefined
}

export interface Environment {
  readonly providers: ReadonlyArray<EnvironmentProvider>
  /** Providers whose address cannot be used. */
  readonly brokenProviders: ReadonlyArray<string>
  readonly gatewayToken: Redacted.Redacted<string> | undefined
  readonly relay: RelaySettings
  /** `provider/model`. */
  readonly model: string | undefined
  readonly sandbox: SandboxProfile | undefined
  readonly warnings: ReadonlyArray<string>
}

/** The trimmed value; undefined when it is unset, blank or cannot be read. */
export const readVariable = (
  provider: ConfigProvider.ConfigProvider,
  name: string
): Effect.Effect<string | undefined> =>
  provider.load([name]).pipe(
    Effect.tapError(() => Effect.logWarning(`The environment variable ${name} could not be read and counts as unset`)),
    Effect.orElseSucceed(() => undefined),
    Effect.map((node) => node?.value?.trim() || undefined)
  )

/** The same for a value that no log may show. */
export const readSecret = (
  provider: ConfigProvider.ConfigProvider,
  name: string
): Effect.Effect<Redacted.Redacted<string> | undefined> =>
  Effect.map(readVariable(provider, name), (value) => (value === undefined ? undefined : Redacted.make(value)))

const readRelay = Effect.fnUntraced(function* (provider: ConfigProvider.ConfigProvider) {
  const url = yield* readVariable(provider, "SUPERCHARGE_WS_URL")
  const token = yield* readSecret(provider, "SUPERCHARGE_RELAY_TOKEN")
  const origin = yield* readVariable(provider, "SUPERCHARGE_WS_ORIGIN")
  return {
    ...(url === undefined ? {} : { url }),
    ...(token === undefined ? {} : { token }),
    ...(origin === undefined ? {} : { origin })
  } satisfies RelaySettings
})

export const readEnvironment = Effect.fnUntraced(function* (provider: ConfigProvider.ConfigProvider) {
  const providers: Array<EnvironmentProvider> = []
  const brokenProviders: Array<string> = []
  const warnings: Array<string> = []
  for (const variables of providerVariables) {
    const apiKey = yield* readSecret(provider, variables.apiKey)
    const address = yield* readVariable(provider, variables.baseUrl)
    const baseUrl = address === undefined ? undefined : parseBaseUrl(address)
    if (address !== undefined && baseUrl === undefined) {
      brokenProviders.push(variables.name)
      warnings.push(
        `The environment variable ${variables.baseUrl} must be ${baseUrlExpected}; ` +
          `the provider ${variables.name} is left out until it is corrected or unset`
      )
    }
    providers.push({ name: variables.name, kind: variables.kind, variable: variables.apiKey, apiKey, baseUrl })
  }
  const gatewayToken = yield* readSecret(provider, "SUPER_PI_GATEWAY_TOKEN")
  const relay = yield* readRelay(provider)
  const model = yield* readVariable(provider, "SUPERCHARGE_MODEL")
  const profile = yield* readVariable(provider, "SUPERCHARGE_SANDBOX")
  const sandbox = profile === undefined ? undefined : SandboxProfile.literals.find((known) => known === profile)
  if (profile !== undefined && sandbox === undefined) {
    const known = SandboxProfile.literals.join(", ")
    warnings.push(
      `The environment variable SUPERCHARGE_SANDBOX must be one of ${known}; the profile is strict until it is corrected or unset`
    )
  }
  return {
    providers,
    brokenProviders,
    gatewayToken,
    relay,
    model,
    // What was to protect the machine does so also where it is misspelt.
    sandbox: profile === undefined ? undefined : (sandbox ?? "strict"),
    warnings
  } satisfies Environment
})
