/** Keys, tried with one real call each; models; and servers of this machine that could be used. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { keyAdvice } from "../../services/models/ModelList.ts"
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
    return [found("broken", "key", message, `run super-pi login, or name a provider in ${file}`)]
  }
  if (offline) {
    return providers.map(({ name }) => found("note", "key", "not tried, because of --offline", undefined, name))
  }
  return yield* Effect.forEach(providers, (provider) => checkKey(provider, file), { concurrency: "unbounded" })
})

export const models = Effect.fnUntraced(function* (settings: SettingsValue, { list }: ModelsShape, file: string) {
  const known = yield* list
  const [first] = known
  if (first === undefined) return [found("broken", "models", "there is none to choose", `add a provider to ${file}`)]
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

/** Where the usual programs listen that serve models on one's own machine. */
const locals = [
  { title: "Ollama", port: 11_434 },
  { title: "LM Studio", port: 1_234 },
  { title: "vLLM", port: 8_000 },
  { title: "llama.cpp", port: 8_080 }
] as const

const modelNames = (body: unknown): ReadonlyArray<string> | undefined => {
  if (!Predicate.hasProperty(body, "data") || !Array.isArray(body.data)) return undefined
  return body.data.flatMap((one: unknown) =>
    Predicate.hasProperty(one, "id") && typeof one.id === "string" ? [one.id] : []
  )
}

/** Servers that nobody needs are no finding; one that is there and not used is worth a line. */
export const localServers = Effect.fnUntraced(function* ({ providers }: SettingsValue, file: string) {
  const findings = yield* Effect.forEach(
    locals,
    Effect.fnUntraced(function* ({ port, title }) {
      const base = `http://127.0.0.1:${port}/v1`
      const answered = yield* get({ url: `${base}/models`, patience: "1 second" })
      const names = answered._tag === "Reached" && answered.status === 200 ? modelNames(answered.body) : undefined
      if (names === undefined) return []
      const user = providers.find(({ baseUrl }) => baseUrl !== undefined && new URL(baseUrl).port === String(port))
      const message = `${title} or one like it answers on port ${port} with ${names.length} models`
      return user === undefined
        ? [found("note", "local server", message, `to use it, run super-pi login, or add it to ${file}`)]
        : [ok("local server", `${message}, as ${user.name}`)]
    }),
    { concurrency: "unbounded" }
  )
  return findings.flat()
})
