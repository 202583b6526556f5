/** The conversation as a provider package takes it. Metadata of earlier answers goes back unchanged. */
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart
} from "@ai-sdk/provider"
import type * as Prompt from "effect/ai/Prompt"
import * as Predicate from "effect/Predicate"
import { isEmpty, type Metadata, plainJson, plainMetadata } from "./PlainJson.ts"

/** What a kind of provider wants to be treated in its own way. */
export interface PromptRules {
  /** Marks the system prompt, what was asked last and what was asked before that as ends of what the provider should cache. */
  readonly cache: boolean
  /** Ids of calls may hold letters, digits, `_` and `-` only. */
  readonly plainCallIds: boolean
  /** Tool results may hold images. */
  readonly imageResults: boolean
  /** A failed result is marked as such; elsewhere its text has to say so. */
  readonly failedResults: boolean
}

const CACHE_HERE: Metadata = { anthropic: { cacheControl: { type: "ephemeral" } } }

const withOptions = (options: Prompt.ProviderOptions): { readonly providerOptions?: Metadata } => {
  const metadata = plainMetadata(options)
  return isEmpty(metadata) ? {} : { providerOptions: metadata }
}

const callIdOf = (id: string, rules: PromptRules): string => (rules.plainCallIds ? id.replaceAll(/[^\w-]/g, "_") : id)

/** A text is base64 unless it is an address. */
const fileData = (data: Prompt.FilePart["data"]): LanguageModelV4FilePart["data"] => {
  if (data instanceof URL) return { type: "url", url: data }
  if (typeof data !== "string") return { type: "data", data }
  const url = /^https?:\/\//i.test(data) ? URL.parse(data) : null
  if (url !== null) return { type: "url", url }
  return { type: "data", data: data.replace(/^data:[^,]*,/, "") }
}

const filePart = (part: Prompt.FilePart): LanguageModelV4FilePart => ({
  type: "file",
  mediaType: part.mediaType,
  data: fileData(part.data),
  ...(part.fileName === undefined ? {} : { filename: part.fileName }),
  ...withOptions(part.options)
})

const toolCall = (part: Prompt.ToolCallPart, rules: PromptRules): LanguageModelV4ToolCallPart => ({
  type: "tool-call",
  toolCallId: callIdOf(part.id, rules),
  toolName: part.name,
  // Providers take objects only; a call whose input was none went wrong, and its result says so.
  input: Predicate.isObject(part.params) ? part.params : { invalid: part.params },
  ...withOptions(part.options)
})

const describeOmitted = (part: Prompt.FilePart): string =>
  `[${part.mediaType} left out: it cannot be shown to this model]`

const modelOutput = (
  parts: ReadonlyArray<Prompt.ToolModelOutputPart>,
  rules: PromptRules
): LanguageModelV4ToolResultOutput => {
  if (!rules.imageResults || parts.every((part) => part.type === "text")) {
    return {
      type: "text",
      value: parts.map((part) => (part.type === "text" ? part.text : describeOmitted(part))).join("\n")
    }
  }
  return {
    type: "content",
    value: parts.map((part) =>
      part.type === "text"
        ? { type: "text", text: part.text }
        : { type: "file", mediaType: part.mediaType, data: fileData(part.data) }
    )
  }
}

const resultOutput = (part: Prompt.ToolResultPart, rules: PromptRules): LanguageModelV4ToolResultOutput => {
  const failed = part.isFailure && rules.failedResults
  if (part.modelOutput !== undefined && !failed) return modelOutput(part.modelOutput, rules)
  return typeof part.result === "string"
    ? { type: failed ? "error-text" : "text", value: part.result }
    : { type: failed ? "error-json" : "json", value: plainJson(part.result) }
}

const toolResult = (part: Prompt.ToolResultPart, rules: PromptRules): LanguageModelV4ToolResultPart => ({
  type: "tool-result",
  toolCallId: callIdOf(part.id, rules),
  toolName: part.name,
  output: resultOutput(part, rules),
  ...withOptions(part.options)
})

type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number]

const assistantPart = (part: Prompt.AssistantMessagePart, rules: PromptRules): ReadonlyArray<AssistantPart> => {
  switch (part.type) {
    case "text":
      // Providers refuse an empty text; one with metadata carries a signature.
      return part.text === "" && Object.keys(part.options).length === 0
        ? []
        : [{ type: "text", text: part.text, ...withOptions(part.options) }]
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...withOptions(part.options) }]
    case "file":
      return [filePart(part)]
    case "tool-call":
      return [toolCall(part, rules)]
    case "tool-result":
      return [toolResult(part, rules)]
    case "tool-approval-request":
      return []
  }
}

const message = (source: Prompt.Message, rules: PromptRules): LanguageModelV4Message => {
  const options = withOptions(source.options)
  switch (source.role) {
    case "system":
      return { role: "system", content: source.content, ...options }
    case "user":
      return {
        role: "user",
        content: source.content.map((part) =>
          part.type === "text" ? { type: "text", text: part.text, ...withOptions(part.options) } : filePart(part)
        ),
        ...options
      }
    case "assistant":
      return { role: "assistant", content: source.content.flatMap((part) => assistantPart(part, rules)), ...options }
    case "tool":
      return {
        role: "tool",
        content: source.content.flatMap((part) => (part.type === "tool-result" ? [toolResult(part, rules)] : [])),
        ...options
      }
  }
}

const cachedHere = (source: LanguageModelV4Message): LanguageModelV4Message => ({
  ...source,
  providerOptions: { ...source.providerOptions, ...CACHE_HERE }
})

/** Messages that say nothing are left out. */
export const toProviderPrompt = (prompt: Prompt.Prompt, rules: PromptRules): LanguageModelV4Prompt => {
  const messages = prompt.content.map((source) => message(source, rules)).filter(({ content }) => content.length > 0)
  if (!rules.cache) return messages
  const last = messages.length - 1
  const system = messages.findLastIndex(({ role }) => role === "system")
  // The end of the request before: an answer with many calls puts it further back than a provider looks by itself.
  const before = messages.findLastIndex(({ role }, index) => role === "assistant" && index < last) - 1
  const ends = new Set([system, before, last])
  return messages.map((source, index) => (ends.has(index) ? cachedHere(source) : source))
}
