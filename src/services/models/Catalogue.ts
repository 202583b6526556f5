/**
 * Facts about the current models of the three providers that have lists of their own: window, efforts, price. The first
 * model of a kind is the one that a new session gets when nothing was chosen.
 */
import type { ModelPrice } from "../../domain/Model.ts"
import type { ProviderKind } from "../Settings.ts"

/** A model without the name of a provider. All of these take images. */
export interface KnownModel {
  readonly id: string
  readonly name: string
  readonly contextWindow: number
  readonly efforts: ReadonlyArray<string>
  readonly price: ModelPrice
}

type Prices = readonly [input: number, output: number, cacheRead: number, cacheWrite?: number]

const ladder = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]

/** From the first to the last, both included. */
const between = (first: string, last: string): ReadonlyArray<string> =>
  ladder.slice(ladder.indexOf(first), ladder.indexOf(last) + 1)

const without = (efforts: ReadonlyArray<string>, effort: string): ReadonlyArray<string> =>
  efforts.filter((known) => known !== effort)

const noneToMax = without(between("none", "max"), "minimal")
const noneToXhigh = without(between("none", "xhigh"), "minimal")
const noneToHigh = without(between("none", "high"), "minimal")
const minimalToHigh = between("minimal", "high")
const lowToMax = between("low", "max")
const lowToXhigh = between("low", "xhigh")
const lowToHigh = between("low", "high")
const mediumToXhigh = between("medium", "xhigh")

const model = (
  id: string,
  name: string,
  contextWindow: number,
  efforts: ReadonlyArray<string>,
  [input, output, cacheRead, cacheWrite = 0]: Prices
): KnownModel => ({ id, name, contextWindow, efforts, price: { input, output, cacheRead, cacheWrite } })

const anthropic: ReadonlyArray<KnownModel> = [
  model("claude-sonnet-5-5", "Claude Sonnet 5.5", 1_000_000, lowToMax, [2, 10, 0.1, 2.5]),
  model("claude-opus-5-5", "Claude Opus 5.5", 1_000_000, lowToMax, [4, 20, 0.2, 5]),
  model("claude-haiku-5-5", "Claude Haiku 5.5", 1_000_000, noneToMax, [0.1, 0.5, 0.01, 0.125]),
  model("claude-fable-5-2", "Claude Fable 5.2", 1_000_000, lowToMax, [8, 40, 0.2, 10]),
  model("claude-fable-5-1", "Claude Fable 5.1", 1_000_000, lowToMax, [10, 50, 0.25, 12.5]),
  model("claude-fable-5", "Claude Fable 5", 1_000_000, lowToMax, [10, 50, 1, 12.5]),
  model("claude-opus-5", "Claude Opus 5", 1_000_000, noneToMax, [5, 25, 0.5, 6.25]),
  model("claude-sonnet-5", "Claude Sonnet 5", 1_000_000, noneToMax, [2, 10, 0.2, 2.5]),
  model("claude-opus-4-8", "Claude Opus 4.8", 1_000_000, noneToMax, [5, 25, 0.5, 6.25]),
  model("claude-opus-4-7", "Claude Opus 4.7", 1_000_000, noneToMax, [5, 25, 0.5, 6.25]),
  model("claude-opus-4-6", "Claude Opus 4.6", 1_000_000, without(noneToMax, "xhigh"), [5, 25, 0.5, 6.25]),
  model("claude-sonnet-4-6", "Claude Sonnet 4.6", 1_000_000, without(noneToMax, "xhigh"), [3, 15, 0.3, 3.75]),
  model("claude-opus-4-5", "Claude Opus 4.5", 200_000, noneToHigh, [5, 25, 0.5, 6.25]),
  model("claude-sonnet-4-5", "Claude Sonnet 4.5", 200_000, noneToHigh, [3, 15, 0.3, 3.75]),
  model("claude-haiku-4-5", "Claude Haiku 4.5", 200_000, noneToHigh, [1, 5, 0.1, 1.25])
]

// The window of the larger models ends where a request would begin to cost twice as much.
const openai: ReadonlyArray<KnownModel> = [
  model("gpt-6.2-sol", "GPT-6.2 Sol", 272_000, lowToMax, [2, 10, 0.1, 2.5]),
  model("gpt-6.2-astra", "GPT-6.2 Astra", 272_000, lowToMax, [8, 40, 0.4, 10]),
  model("gpt-6.1-sol", "GPT-6.1 Sol", 272_000, lowToMax, [2, 10, 0.1, 2.5]),
  model("gpt-6.1-terra", "GPT-6.1 Terra", 272_000, noneToMax, [1, 5, 0.05, 1.25]),
  model("gpt-6-astra", "GPT-6 Astra", 272_000, lowToMax, [10, 50, 1, 12.5]),
  model("gpt-6-sol", "GPT-6 Sol", 272_000, noneToMax, [2, 10, 0.2, 2.5]),
  model("gpt-6-luna", "GPT-6 Luna", 272_000, noneToMax, [0.1, 0.5, 0.01, 0.125]),
  model("gpt-5.6-sol", "GPT-5.6 Sol", 272_000, noneToMax, [4, 20, 0.4, 5]),
  model("gpt-5.6-terra", "GPT-5.6 Terra", 272_000, noneToMax, [2, 12, 0.2, 2.5]),
  model("gpt-5.6-luna", "GPT-5.6 Luna", 272_000, noneToMax, [0.2, 1.2, 0.02, 0.25]),
  model("gpt-5.5", "GPT-5.5", 272_000, noneToXhigh, [5, 30, 0.5]),
  model("gpt-5.5-pro", "GPT-5.5 Pro", 1_050_000, mediumToXhigh, [30, 180, 0]),
  model("gpt-5.4", "GPT-5.4", 272_000, noneToXhigh, [2.5, 15, 0.25]),
  model("gpt-5.4-mini", "GPT-5.4 mini", 400_000, noneToXhigh, [0.75, 4.5, 0.075]),
  model("gpt-5.4-nano", "GPT-5.4 nano", 400_000, noneToXhigh, [0.2, 1.25, 0.02]),
  model("gpt-5.3-codex", "GPT-5.3 Codex", 400_000, noneToXhigh, [1.75, 14, 0.175]),
  model("gpt-5.3-codex-spark", "GPT-5.3 Codex Spark", 128_000, lowToXhigh, [1.75, 14, 0.175]),
  model("gpt-5.2", "GPT-5.2", 400_000, noneToXhigh, [1.75, 14, 0.175]),
  model("gpt-5.1", "GPT-5.1", 400_000, noneToHigh, [1.25, 10, 0.125]),
  model("gpt-5", "GPT-5", 400_000, minimalToHigh, [1.25, 10, 0.125]),
  model("gpt-5-mini", "GPT-5 mini", 400_000, minimalToHigh, [0.25, 2, 0.025]),
  model("gpt-4.1", "GPT-4.1", 1_047_576, [], [2, 8, 0.5]),
  model("gpt-4.1-mini", "GPT-4.1 mini", 1_047_576, [], [0.4, 1.6, 0.1]),
  model("gpt-4o", "GPT-4o", 128_000, [], [2.5, 10, 1.25]),
  model("o3", "o3", 200_000, lowToHigh, [2, 8, 0.5]),
  model("o4-mini", "o4-mini", 200_000, lowToHigh, [1.1, 4.4, 0.275])
]

const google: ReadonlyArray<KnownModel> = [
  model("gemini-4-hydrogen", "Gemini 4 Hydrogen", 1_048_576, lowToXhigh, [1.5, 7.5, 0.075]),
  model("gemini-4-neon", "Gemini 4 Neon", 1_048_576, lowToXhigh, [3, 15, 0.15]),
  model("gemini-4-argon", "Gemini 4 Argon", 1_048_576, lowToHigh, [2, 10, 0.1]),
  model("gemini-4-carbon", "Gemini 4 Carbon", 1_048_576, lowToHigh, [2, 10, 0.1]),
  model("gemini-3.8-flash", "Gemini 3.8 Flash", 1_048_576, lowToHigh, [0.75, 3.75, 0.075]),
  model("gemini-3.7-flash", "Gemini 3.7 Flash", 1_048_576, lowToHigh, [0.75, 3.75, 0.075]),
  model("gemini-3.6-flash", "Gemini 3.6 Flash", 1_048_576, minimalToHigh, [0.75, 3.75, 0.075]),
  model("gemini-3.5-flash", "Gemini 3.5 Flash", 1_048_576, minimalToHigh, [1.5, 9, 0.15]),
  model("gemini-3.5-flash-lite", "Gemini 3.5 Flash-Lite", 1_048_576, minimalToHigh, [0.3, 2.5, 0.03]),
  model("gemini-3.1-pro-preview", "Gemini 3.1 Pro (preview)", 1_048_576, lowToHigh, [2, 12, 0.2]),
  model("gemini-3.1-flash-lite", "Gemini 3.1 Flash-Lite", 1_048_576, minimalToHigh, [0.25, 1.5, 0.025]),
  model("gemini-2.5-pro", "Gemini 2.5 Pro", 1_048_576, lowToHigh, [1.25, 10, 0.125]),
  model("gemini-2.5-flash", "Gemini 2.5 Flash", 1_048_576, noneToHigh, [0.3, 2.5, 0.03]),
  model("gemini-2.5-flash-lite", "Gemini 2.5 Flash-Lite", 1_048_576, noneToHigh, [0.1, 0.4, 0.01])
]

/** What is known of a kind, the default first; nothing of servers that may offer anything. */
export const catalogue: { readonly [K in ProviderKind]: ReadonlyArray<KnownModel> } = {
  anthropic,
  openai,
  google,
  "openai-compatible": []
}
