/** From a configured provider to a model of its package. Each package is loaded when the first model of its kind is. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { ProviderKind, ProviderSettings } from "../../Settings.ts"
import type { PromptRules } from "./ModelPrompt.ts"
import type { ProviderHttp } from "./ProviderHttp.ts"

/** A model of a package, and how this kind of provider wants to be asked. */
export interface ProviderModel {
  readonly model: LanguageModelV4
  readonly rules: PromptRules
  /** Thoughts may come as `<think>` tags inside the text. */
  readonly thinkTags: boolean
  /** What each request of a conversation has; see `Conversation`. */
  readonly defaults: (
    conversation: string | undefined
  ) => Pick<LanguageModelV4CallOptions, "maxOutputTokens" | "providerOptions" | "reasoning">
}

/** The package of a provider could not be loaded. */
export class PackageMissing extends Schema.TaggedError<PackageMissing>()("PackageMissing", {
  message: Schema.String
}) {}

/** What to load: `effort` is one of the model's efforts; `thinks` says that it has any. */
export interface ModelRequest {
  readonly settings: ProviderSettings
  readonly modelId: string
  readonly effort: string | undefined
  readonly thinks: boolean
}

/** For servers that want no key, where a package insists on one. */
const NO_KEY = "none"

/** Models that the Anthropic package does not know would get 4,096 tokens, too few to write a file. */
const UNKNOWN_MAX_OUTPUT = 32_000

const isEffort = Schema.is(Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh", "max"]))

const officialUrl: { readonly [K in Exclude<ProviderKind, "openai-compatible">]: string } = {
  anthropic: "https://api.anthropic.com/v1",
  openai: "https://api.openai.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta"
}

/**
 * The address that a package appends paths to. The variables of Anthropic and Google usually name a host only, so the
 * version of their API is added where the address has none.
 */
export const baseUrlOf = ({ baseUrl, kind }: Pick<ProviderSettings, "kind" | "baseUrl">): string => {
  if (kind === "openai-compatible") return (baseUrl ?? officialUrl.openai).replace(/\/+$/, "")
  if (baseUrl === undefined) return officialUrl[kind]
  const given = baseUrl.replace(/\/+$/, "")
  if (/\/v\d+(alpha|beta)?$/.test(given)) return given
  const bare = URL.parse(given)?.pathname === "/"
  return bare || kind === "anthropic" ? `${given}${kind === "google" ? "/v1beta" : "/v1"}` : given
}

const load = <A>(name: string, module: () => Promise<A>): Effect.Effect<A, PackageMissing> =>
  Effect.tryPromise({
    try: module,
    catch: () => new PackageMissing({ message: `The package ${name} could not be loaded: install Super-Pi again` })
  })

const reasoningOf = (effort: string | undefined): Pick<LanguageModelV4CallOptions, "reasoning"> =>
  isEffort(effort) ? { reasoning: effort } : {}

export const loadModel = Effect.fn("Providers.loadModel")(function* (
  { effort, modelId, settings, thinks }: ModelRequest,
  http: ProviderHttp
): Effect.fn.Return<ProviderModel, PackageMissing> {
  const key = settings.apiKey === undefined ? undefined : Redacted.value(settings.apiKey)
  const options = { baseURL: baseUrlOf(settings), apiKey: key ?? NO_KEY, fetch: http.fetch }
  switch (settings.kind) {
    case "anthropic": {
      const { createAnthropic } = yield* load("@ai-sdk/anthropic", () => import("@ai-sdk/anthropic"))
      return {
        model: createAnthropic(options)(modelId),
        rules: { cache: true, plainCallIds: true, imageResults: true, failedResults: true },
        thinkTags: false,
        defaults: () => ({
          ...reasoningOf(effort),
          ...(modelId.includes("claude") ? {} : { maxOutputTokens: UNKNOWN_MAX_OUTPUT })
        })
      }
    }
    case "openai": {
      const { createOpenAI } = yield* load("@ai-sdk/openai", () => import("@ai-sdk/openai"))
      return {
        model: createOpenAI(options).responses(modelId),
        rules: { cache: false, plainCallIds: false, imageResults: true, failedResults: false },
        thinkTags: false,
        defaults: (conversation) => ({
          ...reasoningOf(effort),
          // Nothing is kept at the provider; thoughts come back to it encrypted, inside the history.
          providerOptions: {
            openai: {
              store: false,
              ...(thinks ? { forceReasoning: true, reasoningSummary: "auto" } : {}),
              // Requests with one key go to where the beginning of the prompt is in a cache.
              ...(conversation === undefined ? {} : { promptCacheKey: conversation })
            }
          }
        })
      }
    }
    case "google": {
      const { createGoogle } = yield* load("@ai-sdk/google", () => import("@ai-sdk/google"))
      return {
        model: createGoogle(options)(modelId),
        rules: { cache: false, plainCallIds: false, imageResults: true, failedResults: true },
        thinkTags: false,
        defaults: () => ({
          ...reasoningOf(effort),
          ...(thinks ? { providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } } : {})
        })
      }
    }
    case "openai-compatible": {
      const { createOpenAICompatible } = yield* load(
        "@ai-sdk/openai-compatible",
        () => import("@ai-sdk/openai-compatible")
      )
      const provider = createOpenAICompatible({
        baseURL: options.baseURL,
        fetch: options.fetch,
        // A constant, since it names the metadata of earlier answers.
        name: "openaiCompatible",
        includeUsage: true,
        ...(key === undefined ? {} : { apiKey: key })
      })
      return {
        model: provider.chatModel(modelId),
        rules: { cache: false, plainCallIds: false, imageResults: false, failedResults: false },
        thinkTags: true,
        // Such a server may have efforts of its own, so its word goes out as it is.
        defaults: () =>
          effort === undefined ? {} : { providerOptions: { openaiCompatible: { reasoningEffort: effort } } }
      }
    }
  }
})
