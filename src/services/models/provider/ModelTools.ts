/** Tools, the choice among them and the form of the answer, as a provider package takes them. */
import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice
} from "@ai-sdk/provider"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Tool from "effect/ai/Tool"
import * as Predicate from "effect/Predicate"

/** A JSON schema is opaque here: it goes to the provider as it is. */
const isJsonSchema: (value: unknown) => value is JSONSchema7 = Predicate.isObject

const asJsonSchema = (value: unknown): JSONSchema7 => (isJsonSchema(value) ? value : { type: "object" })

/** Bounds that every whole number has, and that only cost room. */
const isNoBound = (key: string, value: unknown): boolean =>
  (key === "minimum" && value === Number.MIN_SAFE_INTEGER) || (key === "maximum" && value === Number.MAX_SAFE_INTEGER)

/**
 * `closed`: objects that are open by default get closed, which keeps a model from inventing keys. A schema that somebody
 * wrote by hand means what it says.
 */
const tidy = (value: unknown, closed: boolean): unknown => {
  if (Array.isArray(value)) return value.map((entry) => tidy(entry, closed))
  if (!Predicate.isObject(value)) return value
  const kept = Object.fromEntries(
    Object.entries(value).flatMap(([key, entry]) => (isNoBound(key, entry) ? [] : [[key, tidy(entry, closed)]]))
  )
  return closed && "properties" in kept && kept["additionalProperties"] === true
    ? { ...kept, additionalProperties: false }
    : kept
}

/** Some servers refuse the schema of an object that names no properties. */
const parametersOf = (tool: Tool.Any): JSONSchema7 => {
  const schema = tidy(Tool.getJsonSchema(tool), !Tool.isDynamic(tool))
  return { type: "object", properties: {}, ...(isJsonSchema(schema) ? schema : {}) }
}

const described = new WeakMap<Tool.Any, LanguageModelV4FunctionTool>()

/** Derived once per tool. */
const functionTool = (tool: Tool.Any): LanguageModelV4FunctionTool => {
  const known = described.get(tool)
  if (known !== undefined) return known
  const description = Tool.getDescription(tool)
  const made: LanguageModelV4FunctionTool = {
    type: "function",
    name: tool.name,
    ...(description === undefined ? {} : { description }),
    inputSchema: parametersOf(tool)
  }
  described.set(tool, made)
  return made
}

const toolChoice = (choice: LanguageModel.ProviderOptions["toolChoice"]): LanguageModelV4ToolChoice => {
  if (typeof choice === "string") return { type: choice }
  if ("tool" in choice) return { type: "tool", toolName: String(choice.tool) }
  // The tools were narrowed to the allowed ones already.
  return { type: choice.mode ?? "auto" }
}

/** `cache` marks the last tool as the end of what the provider should cache. */
export const toolOptions = (
  options: LanguageModel.ProviderOptions,
  cache: boolean
): Pick<LanguageModelV4CallOptions, "tools" | "toolChoice"> => {
  if (options.tools.length === 0) return {}
  const tools = options.tools.map(functionTool)
  const last = tools.length - 1
  return {
    tools: cache
      ? tools.map((tool, index) =>
          index === last ? { ...tool, providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } } : tool
        )
      : tools,
    toolChoice: toolChoice(options.toolChoice)
  }
}

/** A structured answer is asked for by name and JSON schema. */
export const formatOptions = (
  format: LanguageModel.ProviderOptions["responseFormat"]
): Pick<LanguageModelV4CallOptions, "responseFormat"> =>
  format.type === "text"
    ? {}
    : {
        responseFormat: {
          type: "json",
          name: format.objectName,
          schema: asJsonSchema(LanguageModel.defaultCodecTransformer(format.schema).jsonSchema)
        }
      }
