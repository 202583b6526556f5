/** Settings that lead to a provider on this machine, and what it was asked. */
import type { DialectName, ProviderServer, Seen } from "./ProviderServer.ts"
import { at } from "./Schema.ts"

export interface LocalOptions {
  /** Default `openai-compatible`. */
  readonly kind?: DialectName
  /** TOML of `models`; the first is the default. */
  readonly models?: ReadonlyArray<string>
  /** Further sections. */
  readonly more?: string
}

/** A `config.toml` with the provider `local`, whose model is `qwen`. */
export const configFor = (server: Pick<ProviderServer, "origin">, options: LocalOptions = {}): string => {
  const { kind = "openai-compatible", models = ['"qwen"'], more = "" } = options
  const [, first = "qwen"] = /"([^"]+)"/.exec(models[0] ?? "") ?? []
  return [
    "[models]",
    `default = "local/${first}"`,
    "[providers.local]",
    `kind = "${kind}"`,
    `base_url = "${server.origin}${kind === "google" ? "/v1beta" : "/v1"}"`,
    'api_key = "sk-local-0123456789"',
    `models = [${models.join(", ")}]`,
    more
  ].join("\n")
}

/** Providers of every kind, each named like its kind, with a model that thinks. */
export const everyKind: { readonly [K in DialectName]: string } = {
  anthropic: "anthropic/claude-sonnet-5-5",
  openai: "openai/gpt-6-sol",
  "openai-compatible": "openai-compatible/qwen",
  google: "google/gemini-4-hydrogen"
}

/** A `config.toml` with a provider of every kind. */
export const configForAll = ({ origin }: Pick<ProviderServer, "origin">): string =>
  Object.entries(everyKind)
    .map(([kind, id]) => {
      const base = `${origin}${kind === "google" ? "/v1beta" : "/v1"}`
      const models = `["${id.slice(kind.length + 1)}"]`
      return `[providers.${kind}]\nkind = "${kind}"\nbase_url = "${base}"\napi_key = "sk-0123456789"\nmodels = ${models}`
    })
    .join("\n")

const itemsOf = (seen: Seen | undefined, key: string): ReadonlyArray<unknown> => {
  const body = seen?.body
  const items: unknown = typeof body === "object" && body !== null ? Reflect.get(body, key) : undefined
  return Array.isArray(items) ? items : []
}

/** Names of the tools that a request of the `openai-compatible` dialect offers. */
export const toolsOf = (seen: Seen | undefined): ReadonlyArray<string> =>
  itemsOf(seen, "tools").map((tool) => String(at(JSON.parse(JSON.stringify(tool)), "function", "name")))

/** The conversation that a request of the `openai-compatible` dialect holds: a line for each message. */
export const conversationOf = (seen: Seen | undefined): ReadonlyArray<string> =>
  itemsOf(seen, "messages").map((message) => JSON.stringify(message))

/** What a request sets beside the conversation. */
export const settingOf = (seen: Seen | undefined, key: string): unknown => at(JSON.parse(seen?.text ?? "{}"), key)
