/** Reads one `[providers.<name>]` table. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { ModelPrice } from "../../domain/Model.ts"
import type { ModelSettings, ProviderKind } from "../Settings.ts"
import { baseUrlExpected, parseBaseUrl } from "./BaseUrl.ts"
import {
  type Complain,
  configKey,
  type ConfigKey,
  type ListItem,
  readItem,
  type Section,
  sectionOfItem
} from "./ConfigKey.ts"
import { providerVariables } from "./Environment.ts"
import type { FileProvider } from "./FileSettings.ts"

const kinds: ReadonlyArray<ProviderKind> = ["anthropic", "openai", "google", "openai-compatible"]

const text = Schema.NonEmptyString
const kindKey = configKey(Schema.Literals(kinds), `one of ${kinds.map((kind) => `"${kind}"`).join(", ")}`)
const missingKind = `needs a kind, ${kindKey.expected}; the provider is left out`
const apiKeyKey = configKey(
  Schema.RedactedFromValue(Schema.Trim.check(Schema.isNonEmpty())),
  "the key as a text in double quotes"
)
const apiKeyEnvKey = configKey(
  text.check(Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_]*$/)),
  "the name of an environment variable, such as MY_PROVIDER_KEY; a key itself belongs into api_key"
)
const decodeText = Schema.decodeUnknownOption(text)
const baseUrlKey: ConfigKey<string> = {
  ...configKey(text, baseUrlExpected),
  decode: (value) => Option.flatMap(decodeText(value), (address) => Option.fromUndefinedOr(parseBaseUrl(address)))
}
const modelIdKey = configKey(text.check(Schema.isPattern(/^\S{1,200}$/)), "the id of a model, a text without spaces")
const contextWindowKey = configKey(
  Schema.Int.check(Schema.isGreaterThan(0)),
  "a whole number of tokens without quotes, such as 128000"
)
const imageKey = configKey(Schema.Boolean, "true or false without quotes")
const effortsKey = configKey(Schema.Array(text), 'a list of texts, such as ["low", "high"]')
const nameKey = configKey(text.check(Schema.isPattern(/^[^\p{Cc}]{1,100}$/u)), "a text on one line")
const outputLimitKey = configKey(
  Schema.Int.check(Schema.isGreaterThan(0)),
  "a whole number of tokens without quotes, such as 32000"
)
const dollarsKey = configKey(
  Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)),
  "a number of US dollars per million tokens",
  "it counts as 0"
)

const readPrice = (section: Section): ModelPrice => ({
  input: section.read("input", dollarsKey) ?? 0,
  output: section.read("output", dollarsKey) ?? 0,
  cacheRead: section.read("cache_read", dollarsKey) ?? section.read("input", dollarsKey) ?? 0,
  cacheWrite: section.read("cache_write", dollarsKey) ?? section.read("input", dollarsKey) ?? 0
})

const readModel = (item: ListItem, complain: Complain): ModelSettings | undefined => {
  const table = sectionOfItem(item, complain)
  if (table === undefined) {
    const id = readItem(item, modelIdKey, complain)
    return id === undefined ? undefined : { id }
  }
  if (!table.has("id")) complain(table.path, 'needs an id, such as id = "qwen"; the model is ignored')
  const id = table.read("id", modelIdKey)
  const contextWindow = table.read("context_window", contextWindowKey)
  const image = table.read("image", imageKey)
  const efforts = table.read("efforts", effortsKey)
  const name = table.read("name", nameKey)
  const outputLimit = table.read("output_limit", outputLimitKey)
  const price = table.has("price") ? readPrice(table.section("price")) : undefined
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
export const readProvider = (name: string, section: Section, complain: Complain): FileProvider | undefined => {
  const usualKind = providerVariables.find((variables) => variables.name === name)?.kind
  const kind = section.has("kind") ? section.read("kind", kindKey) : usualKind
  const baseUrl = section.read("base_url", baseUrlKey)
  const apiKey = section.read("api_key", apiKeyKey)
  const apiKeyEnv = section.read("api_key_env", apiKeyEnvKey)
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
