/** Models of the real provider packages, pointed at a provider on this machine. */
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ProviderSettings } from "../../../src/services/Settings.ts"
import * as AiSdkModel from "../../../src/services/models/provider/AiSdkModel.ts"
import * as ProviderHttp from "../../../src/services/models/provider/ProviderHttp.ts"
import * as Providers from "../../../src/services/models/provider/Providers.ts"
import type { DialectName, ProviderServer } from "../ProviderServer.ts"

export const kinds: ReadonlyArray<DialectName> = ["anthropic", "openai", "openai-compatible", "google"]

/** One model of each kind that thinks. */
export const thinker: { readonly [K in DialectName]: string } = {
  anthropic: "claude-sonnet-5-5",
  openai: "gpt-6-sol",
  "openai-compatible": "qwen",
  google: "gemini-4-hydrogen"
}

export interface OpenOptions {
  readonly modelId?: string
  readonly effort?: string
  readonly key?: string
  readonly baseUrl?: string
  readonly idleTimeout?: Duration.Duration
}

export const openModel = Effect.fnUntraced(function* (
  kind: DialectName,
  server: ProviderServer,
  options: OpenOptions = {}
): Effect.fn.Return<LanguageModel.LanguageModel, Providers.PackageMissing, Scope.Scope> {
  const key = options.key ?? "sk-test-0123456789"
  const settings: ProviderSettings = {
    name: `my-${kind}`,
    kind,
    baseUrl: options.baseUrl ?? `${server.origin}${kind === "google" ? "/v1beta" : "/v1"}`,
    apiKey: Redacted.make(key),
    models: []
  }
  const http = yield* ProviderHttp.make
  const provider = yield* Providers.loadModel(
    { settings, modelId: options.modelId ?? thinker[kind], effort: options.effort, thinks: true },
    http
  )
  return yield* AiSdkModel.make({
    provider,
    http,
    failure: { provider: settings.name, secrets: [key] },
    ...(options.idleTimeout === undefined ? {} : { idleTimeout: options.idleTimeout })
  })
})

const read = Tool.make("read", {
  description: "Reads a file",
  parameters: Schema.Struct({ path: Schema.String, line: Schema.optionalKey(Schema.Int) })
})
const now = Tool.make("now", { description: "Tells the time" })

/** Two tools that the test runs itself. */
export const toolkit: Toolkit.WithHandler<{ readonly read: typeof read; readonly now: typeof now }> = {
  tools: { read, now },
  handle: () => Effect.die("the test runs its tools itself")
}

export const streamOf = (model: LanguageModel.LanguageModel, prompt: Prompt.RawInput) =>
  model.streamText({ prompt, toolkit, disableToolCallResolution: true, toolCallValidation: "deferred" })

export const ask = (model: LanguageModel.LanguageModel, prompt: Prompt.RawInput) =>
  Stream.runCollect(streamOf(model, prompt))

export const textOf = (parts: ReadonlyArray<{ readonly type: string; readonly delta?: string }>): string =>
  parts.map((part) => (part.type === "text-delta" ? (part.delta ?? "") : "")).join("")

export const thoughtOf = (parts: ReadonlyArray<{ readonly type: string; readonly delta?: string }>): string =>
  parts.map((part) => (part.type === "reasoning-delta" ? (part.delta ?? "") : "")).join("")
