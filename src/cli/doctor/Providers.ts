/** Keys, tried with one real call each; models; and servers of this machine that could be used. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { providerTitle } from "../../services/models/Description.ts"
import * as LocalServers from "../../services/models/LocalServers.ts"
import { hasOwnList, keyAdvice } from "../../services/models/ModelList.ts"
import { baseUrlOf } from "../../services/models/provider/Providers.ts"
import type { ModelsShape } from "../../services/Models.ts"
import type { ProviderSettings, SettingsValue } from "../../services/Settings.ts"
import { type Finding, found, ok } from "./Finding.ts"
import { get } from "./Http.ts"

/** The list of models costs nothing, and no provider gives it to a wrong key. */
const authorization = ({ apiKey, kind }: ProviderSettings): Readonly<Record<string, string>> => {
  if (apiKey === undefined) return {}
  const key = Redacted.value(apiKey)
  switch (kind) {
    case "anthropic":
      return { "x-api-key": key, "anthropic-version": "2023-06-01" }
    case "google":
      return { "x-goog-api-key": key }
    case "openai":
    case "openai-compatible":
      return { authorization: `Bearer ${key}` }
  }
}

/** The same port of this machine, by whichever name. */
const isSame = (one: string, other: string): boolean =>
  URL.parse(one)?.port === URL.parse(other)?.port && /^(127\.|localhost$|\[::1\])/.test(URL.parse(one)?.hostname ?? "")

const NOT_FOUND = 404
const REFUSED: ReadonlySet<number> = new Set([400, 401, 403])

const checkKey = Effect.fnUntraced(function* (provider: ProviderSettings, file: string): Effect.fn.Return<Finding> {
  const { name } = provider
  const base = baseUrlOf(provider)
  const answered = yield* get({ url: `${base}/models`, headers: authorization(provider), patience: "10 seconds" })
  if (answered._tag === "Unreached") {
    const remedy =
      provider.baseUrl === undefined ? "check the network, or a proxy in HTTPS_PROXY" : "start it, or correct base_url"
    return found("broken", "key", `${base} cannot be reached: ${answered.reason}`, remedy, name)
  }
  const { status } = answered
  if (REFUSED.has(status))
    return found("broken", "key", `it was refused (HTTP ${status})`, keyAdvice(provider, file), name)
  if (status < 300) return ok("key", provider.apiKey === undefined ? `${base} answers` : "it was accepted", name)
  if (status === NOT_FOUND) {
    return found("note", "key", `${base} answers, and has no list of models to try the key on`, undefined, name)
  }
  return found("warning", "key", `${base} answered with HTTP ${status}`, "try again later, or check the address", name)
})

/** What a file says that cannot be read is not there, and a provider may be a part of it. */
const toHaveOne = ({ warnings }: SettingsValue, file: string): string =>
  warnings.length === 0
    ? `run super-pi login, or name a provider in ${file}`
    : `correct first what is said of the config above; or run super-pi login, or name a provider in ${file}`

export const keys = Effect.fnUntraced(function* (input: {
  readonly settings: SettingsValue
  readonly models: ModelsShape
  readonly file: string
  readonly offline: boolean
}) {
  const { file, offline } = input
  const { providers } = input.settings
  if (providers.length === 0) {
    // A script needs no provider.
    if ((yield* input.models.list).length > 0) return []
    const message = "there is no provider, so no session can start"
    return [found("broken", "key", message, toHaveOne(input.settings, file))]
  }
  if (offline) {
    return providers.map(({ name }) => found("note", "key", "not tried, because of --offline", undefined, name))
  }
  return yield* Effect.forEach(providers, (provider) => checkKey(provider, file), { concurrency: "unbounded" })
})

export const models = Effect.fnUntraced(function* (
  settings: SettingsValue,
  { list }: ModelsShape,
  file: string,
  offline: boolean
) {
  if (offline && settings.providers.some(hasOwnList)) {
    return [found("note", "models", "not listed, because of --offline: some are known to their endpoints alone")]
  }
  const known = yield* list
  const [first] = known
  if (first === undefined) {
    const remedy =
      settings.providers.length === 0
        ? toHaveOne(settings, file)
        : `name one of the provider's models in ${file}, or start its server`
    return [found("broken", "models", "there is none to choose", remedy)]
  }
  const { defaultModel } = settings
  const count = `${known.length} to choose from`
  return defaultModel === undefined || defaultModel === first.id
    ? [ok("models", `${count}, and new sessions begin with ${first.id}`)]
    : [
        found(
          "warning",
          "models",
          `the default ${defaultModel} is not there, so new sessions begin with ${first.id}`,
          `set models.default in ${file} to one of: super-pi models`
        )
      ]
})

/** Servers that nobody needs are no finding; one that is there and not used is worth a line. */
export const localServers = Effect.fnUntraced(function* ({ providers }: SettingsValue) {
  const servers = yield* LocalServers.find
  return servers.map(({ baseUrl, models, name }): Finding => {
    const user = providers.find((provider) => provider.baseUrl !== undefined && isSame(provider.baseUrl, baseUrl))
    const message = `${providerTitle(name)} answers at ${baseUrl} with ${models.length} models`
    return user === undefined
      ? found("note", "local server", message, `to use it, run super-pi login --provider ${name}`)
      : ok("local server", `${message}, as ${user.name}`)
  })
})
