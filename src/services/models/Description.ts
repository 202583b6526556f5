/** What is known of a model, in a few words for whoever chooses one. */
import type { ModelInfo, ModelPrice } from "../../domain/Model.ts"

const titles: ReadonlyMap<string, string> = new Map([
  ["anthropic", "Anthropic"],
  ["openai", "OpenAI"],
  ["google", "Google"],
  ["openrouter", "OpenRouter"],
  ["ollama", "Ollama"],
  ["lm-studio", "LM Studio"],
  ["vllm", "vLLM"],
  ["llama-cpp", "llama.cpp"],
  ["scripted", "Scripted"]
])

/** A provider as people write it; the name of one of their own as they chose it. */
export const providerTitle = (name: string): string => titles.get(name) ?? name

/** Such as `128k` or `1M`. */
export const tokens = (count: number): string => {
  if (count < 1000) return String(count)
  const [unit, size] = count < 999_500 ? (["k", 1000] as const) : (["M", 1_000_000] as const)
  return `${Number((count / size).toFixed(unit === "M" ? 2 : 0))}${unit}`
}

/** Such as `$2.50`, and as many digits as a small price needs. */
export const dollars = (amount: number): string =>
  `$${amount === 0 || Number.isInteger(amount * 100) ? amount.toFixed(Number.isInteger(amount) ? 0 : 2) : String(amount)}`

const priceInShort = ({ input, output }: ModelPrice): string =>
  input === 0 && output === 0 ? "free" : `${dollars(input)} in, ${dollars(output)} out per million tokens`

/** Such as `1M context · $2 in, $10 out per million tokens`. */
export const inShort = ({ contextWindow, price }: ModelInfo): string =>
  [`${tokens(contextWindow)} context`, ...(price === undefined ? [] : [priceInShort(price)])].join(" · ")
