/** Reads one `[providers.<name>]` table. */
import type { ModelPrice } from "../../domain/Model.ts"
import type { ModelSettings } from "../Settings.ts"
import { type Complain, type ListItem, readItem, type Section, sectionOfItem, tellUnknown } from "./ConfigKey.ts"
import * as keys from "./ConfigKeys.ts"
import { providerVariables } from "./Environment.ts"
import type { FileProvider } from "./FileSettings.ts"

const missingKind = `needs a kind, ${keys.provider.kind.expected}; the provider is left out`

const readPrice = (section: Section, complain: Complain): ModelPrice => {
  tellUnknown(section, Object.keys(keys.price), complain)
  return {
    input: section.read("input", keys.price.input) ?? 0,
    output: section.read("output", keys.price.output) ?? 0,
    cacheRead: section.read("cache_read", keys.price.cache_read) ?? section.read("input", keys.price.input) ?? 0,
    cacheWrite: section.read("cache_write", keys.price.cache_write) ?? section.read("input", keys.price.input) ?? 0
  }
}

const readModel = (item: ListItem, complain: Complain): ModelSettings | undefined => {
  const table = sectionOfItem(item, complain)
  if (table === undefined) {
    const id = readItem(item, keys.model.id, complain)
    return id === undefined ? undefined : { id }
  }
  if (!table.has("id")) complain(table.path, 'needs an id, such as id = "qwen"; the model is ignored')
  tellUnknown(table, [...Object.keys(keys.model), "price"], complain)
  const id = table.read("id", keys.model.id)
  const contextWindow = table.read("context_window", keys.model.context_window)
  const image = table.read("image", keys.model.image)
  const efforts = table.read("efforts", keys.model.efforts)
  const name = table.read("name", keys.model.name)
  const outputLimit = table.read("output_limit", keys.model.output_limit)
  const price = table.has("price") ? readPrice(table.section("price"), complain) : undefined
  if (id === undefined) return undefined
  return {
    id,
    ...(name === undefined ? {} : { name }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(outputLimit === undefined ? {} : { outputLimit }),
    ...(price === undefined ? {} : { price }),
    ...(image === undefined ? {} : { image }),
    ...(efforts === undefined ? {} : { efforts })
  }
}

const isDefined = <A>(value: A | undefined): value is A => value !== undefined

/** Undefined, with a complaint, when the section cannot be followed as it was meant. */
/** Model ids are `provider/model`, and `scripted/…` is taken. */
export const isProviderName = (name: string): boolean => /^(?!scripted$)[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name)

export const readProvider = (name: string, section: Section, complain: Complain): FileProvider | undefined => {
  const usualKind = providerVariables.find((variables) => variables.name === name)?.kind
  const kind = section.has("kind") ? section.read("kind", keys.provider.kind) : usualKind
  tellUnknown(section, Object.keys(keys.provider), complain)
  const baseUrl = section.read("base_url", keys.provider.base_url)
  const apiKey = section.read("api_key", keys.provider.api_key)
  const apiKeyEnv = section.read("api_key_env", keys.provider.api_key_env)
  const models = section
    .items("models")
    .map((item) => readModel(item, complain))
    .filter(isDefined)
  const unreadable = Object.entries({ base_url: baseUrl, api_key: apiKey, api_key_env: apiKeyEnv }).some(
    ([key, value]) => value === undefined && section.has(key)
  )
  if (kind === undefined || unreadable) {
    complain(section.path, kind === undefined ? missingKind : "is left out until these keys are corrected")
    return undefined
  }
  return { name, kind, baseUrl, apiKey, apiKeyEnv, models }
}
