/** What can be chosen, as a function of the settings and the catalogue; and what to say when a choice fails. */
import * as Result from "effect/Result"
import { type ModelInfo, UNKNOWN_CONTEXT_WINDOW } from "../../domain/Model.ts"
import { closest } from "../../domain/text/Similar.ts"
import type { ModelSettings, ProviderKind, ProviderSettings, SettingsValue } from "../Settings.ts"
import { providerVariables } from "../settings/Environment.ts"
import type { KnownModel } from "./Catalogue.ts"

type Catalogue = { readonly [K in ProviderKind]?: ReadonlyArray<KnownModel> }

export const SCRIPTED = "scripted/"

/** Whether a session can go on with this model. A script needs no list. */
export const isOffered = (id: string, listed: ReadonlyArray<ModelInfo>): boolean =>
  id.startsWith(SCRIPTED) || listed.some((info) => info.id === id)

/** The two halves of `provider/model`; the model may hold slashes. */
export const splitId = (id: string): { readonly provider: string; readonly model: string } | undefined => {
  const slash = id.indexOf("/")
  return slash <= 0 || slash === id.length - 1
    ? undefined
    : { provider: id.slice(0, slash), model: id.slice(slash + 1) }
}

/** What the file says of a model wins over what its endpoint says, and that over what is known of it. */
const describe = (
  provider: string,
  id: string,
  known: KnownModel | undefined,
  offered: ModelSettings | undefined,
  said: ModelSettings | undefined
): ModelInfo => {
  const facts = { ...known, ...offered, ...said }
  return {
    id: `${provider}/${id}`,
    name: facts.name ?? id,
    contextWindow: facts.contextWindow ?? UNKNOWN_CONTEXT_WINDOW,
    ...(facts.outputLimit === undefined ? {} : { outputLimit: facts.outputLimit }),
    image: facts.image ?? false,
    efforts: facts.efforts ?? [],
    ...(facts.price === undefined ? {} : { price: facts.price })
  }
}

/** What endpoints say that they offer, by provider. */
export type Offered = (provider: ProviderSettings) => ReadonlyArray<ModelSettings>

export const nothingOffered: Offered = () => []

const modelsOf = (provider: ProviderSettings, catalogue: Catalogue, offered: Offered): ReadonlyArray<ModelInfo> => {
  const sources = [provider.models, catalogue[provider.kind] ?? [], offered(provider)] as const
  const [said, known, listed] = sources
  const ids = new Set(sources.flatMap((models) => models.map(({ id }) => id)))
  const named = (models: ReadonlyArray<ModelSettings>, id: string) => models.find((model) => model.id === id)
  return Array.from(ids, (id) =>
    describe(
      provider.name,
      id,
      known.find((model) => model.id === id),
      named(listed, id),
      named(said, id)
    )
  )
}

const scripted = (id: string): ModelInfo => ({
  id,
  name: `Script ${id.slice(SCRIPTED.length)}`,
  contextWindow: UNKNOWN_CONTEXT_WINDOW,
  image: true,
  efforts: []
})

/** A default that nobody described is taken at its word if its provider is configured. */
const defaultModel = (settings: SettingsValue, listed: ReadonlyArray<ModelInfo>): ReadonlyArray<ModelInfo> => {
  const id = settings.defaultModel
  if (id === undefined) return []
  if (id.startsWith(SCRIPTED)) return [scripted(id)]
  const known = listed.find((model) => model.id === id)
  if (known !== undefined) return [known]
  const parts = splitId(id)
  return parts !== undefined &&
    settings.providers.some((provider) => provider.name === parts.provider && isUsable(provider))
    ? [describe(parts.provider, parts.model, undefined, undefined, undefined)]
    : []
}

/** A provider that could answer: one with a key, or with an address of its own, which may want none. */
const isUsable = ({ apiKey, baseUrl, kind }: ProviderSettings): boolean =>
  baseUrl !== undefined || (kind !== "openai-compatible" && apiKey !== undefined)

/** Whether a provider is a server on this machine. */
export const isLoopback = ({ baseUrl = "" }: ProviderSettings): boolean =>
  /^https?:\/\/(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$)/.test(baseUrl)

/** Whether the endpoint is asked what it offers: where nobody named its models, and on this machine, where they come and go. */
export const hasOwnList = (provider: ProviderSettings): boolean =>
  provider.kind === "openai-compatible" &&
  provider.baseUrl !== undefined &&
  (provider.models.length === 0 || isLoopback(provider))

/** The default first; without one, the first of the first provider. */
export const listModels = (
  settings: SettingsValue,
  catalogue: Catalogue = {},
  offered: Offered = nothingOffered
): ReadonlyArray<ModelInfo> => {
  const listed = settings.providers.filter(isUsable).flatMap((provider) => modelsOf(provider, catalogue, offered))
  const first = defaultModel(settings, listed)
  return [...first, ...listed.filter(({ id }) => id !== first[0]?.id)]
}

/** Providers have long names that are alike: only the models tell what was meant. */
const bareName = (id: string): string => splitId(id)?.model ?? id

/** A question to follow a sentence, or nothing when no name is close. */
export const suggestions = (id: string, listed: ReadonlyArray<ModelInfo>): string => {
  const names = closest(
    bareName(id),
    listed.map((info) => info.id),
    bareName
  )
  return names.length === 0 ? "" : ` Did you mean ${names.join(" or ")}?`
}

const notConfigured = (name: string, settings: SettingsValue, file: string): string => {
  const section = `add [providers.${name}] to ${file}`
  const usual = providerVariables.find((variables) => variables.name === name)
  const remedy = usual === undefined ? section : `run super-pi login, set ${usual.apiKey}, or ${section}`
  const configured = settings.providers.map((provider) => provider.name)
  const others = configured.length === 0 ? "" : `, or choose a model of ${configured.join(", ")}`
  return `The provider "${name}" is not configured: ${remedy}${others}.`
}

const notUsable = ({ kind, name }: ProviderSettings, file: string): string => {
  const usual = providerVariables.find((variables) => variables.kind === kind)
  return usual === undefined
    ? `The provider "${name}" has no address: set base_url under [providers.${name}] in ${file}, such as http://127.0.0.1:8080/v1.`
    : `The provider "${name}" has no API key: run super-pi login --provider ${name}, set ${usual.apiKey}, or api_key under [providers.${name}] in ${file}.`
}

/** What to do when the provider does not accept the key: says where it came from, never what it is. */
export const keyAdvice = ({ apiKey, keySource, name }: ProviderSettings, file: string): string => {
  if (apiKey === undefined) {
    return `The provider ${name} wants an API key and none is set. Run super-pi login --provider ${name}, or set api_key_env or api_key under [providers.${name}] in ${file}, then send the prompt again.`
  }
  const refused = `The provider ${name} did not accept the API key`
  switch (keySource?.kind) {
    case "variable":
      return `${refused} from the environment variable ${keySource.name}. Correct it and start the agent again.`
    case "file":
      return `${refused} from ${keySource.name} in ${file}. Correct it, then send the prompt again.`
    case "login":
      return `${refused} that was stored. Run super-pi login --provider ${name}, then send the prompt again.`
    case undefined:
      return `${refused}. Check it, then send the prompt again.`
  }
}

/** What `id` stands for, or why it stands for nothing and what to do about it. `file` is the path of the settings. */
export const findModel = (
  id: string,
  settings: SettingsValue,
  listed: ReadonlyArray<ModelInfo>,
  file: string,
  offered: Offered = nothingOffered
): Result.Result<{ readonly provider: ProviderSettings; readonly info: ModelInfo; readonly model: string }, string> => {
  const hint = () => suggestions(id, listed)
  const parts = splitId(id)
  if (parts === undefined) {
    return Result.fail(`"${id}" names no model: write provider/model, such as anthropic/claude-sonnet-5-5.${hint()}`)
  }
  const provider = settings.providers.find(({ name }) => name === parts.provider)
  if (provider === undefined) return Result.fail(`${notConfigured(parts.provider, settings, file)}${hint()}`)
  if (!isUsable(provider)) return Result.fail(notUsable(provider, file))
  // An endpoint that said nothing yet may have it.
  const isUnheard = hasOwnList(provider) && provider.models.length === 0 && offered(provider).length === 0
  const unheard = isUnheard ? describe(provider.name, parts.model, undefined, undefined, undefined) : undefined
  const info = listed.find((known) => known.id === id) ?? unheard
  return info === undefined
    ? Result.fail(
        `The provider "${provider.name}" has no model "${parts.model}" that is known here.${hint()} ` +
          `To use it anyway, name it in models under [providers.${provider.name}] in ${file}, or start with --model ${id}.`
      )
    : Result.succeed({ provider, info, model: parts.model })
}
