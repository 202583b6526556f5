/** Facts about models, made by `scripts/catalogue.ts` from version 1.6.0 of its source: change them there. */

/** Tokens of the window and of the longest answer, and US dollars per million tokens. */
export type Row = readonly [
  id: string,
  name: string,
  contextWindow: number,
  outputLimit: number,
  efforts: string,
  image: boolean,
  price: readonly [input: number, output: number, cacheRead: number, cacheWrite: number]
]

export const anthropic: ReadonlyArray<Row> = [
  ["claude-sonnet-5-5", "Claude Sonnet 5.5", 1_000_000, 128_000, "low medium high xhigh max", true, [2, 10, 0.1, 2.5]],
  ["claude-opus-5-5", "Claude Opus 5.5", 1_000_000, 128_000, "low medium high xhigh max", true, [4, 20, 0.2, 5]],
  [
    "claude-haiku-5-5",
    "Claude Haiku 5.5",
    1_000_000,
    128_000,
    "none low medium high xhigh max",
    true,
    [0.1, 0.5, 0.01, 0.125]
  ],
  ["claude-fable-5-2", "Claude Fable 5.2", 1_000_000, 128_000, "low medium high xhigh max", true, [8, 40, 0.2, 10]],
  ["claude-fable-5-1", "Claude Fable 5.1", 1_000_000, 128_000, "low medium high xhigh max", true, [10, 50, 0.25, 12.5]],
  ["claude-fable-5", "Claude Fable 5", 1_000_000, 128_000, "low medium high xhigh max", true, [10, 50, 1, 12.5]],
  ["claude-opus-5", "Claude Opus 5", 1_000_000, 128_000, "none low medium high xhigh max", true, [5, 25, 0.5, 6.25]],
  ["claude-sonnet-5", "Claude Sonnet 5", 1_000_000, 128_000, "none low medium high xhigh max", true, [2, 10, 0.2, 2.5]],
  [
    "claude-opus-4-8",
    "Claude Opus 4.8",
    1_000_000,
    128_000,
    "none low medium high xhigh max",
    true,
    [5, 25, 0.5, 6.25]
  ],
  [
    "claude-opus-4-7",
    "Claude Opus 4.7",
    1_000_000,
    128_000,
    "none low medium high xhigh max",
    true,
    [5, 25, 0.5, 6.25]
  ],
  ["claude-opus-4-6", "Claude Opus 4.6", 1_000_000, 128_000, "none low medium high max", true, [5, 25, 0.5, 6.25]],
  ["claude-sonnet-4-6", "Claude Sonnet 4.6", 1_000_000, 128_000, "none low medium high max", true, [3, 15, 0.3, 3.75]],
  ["claude-opus-4-5", "Claude Opus 4.5", 200_000, 64_000, "none low medium high", true, [5, 25, 0.5, 6.25]],
  ["claude-sonnet-4-5", "Claude Sonnet 4.5", 200_000, 64_000, "none low medium high", true, [3, 15, 0.3, 3.75]],
  ["claude-haiku-4-5", "Claude Haiku 4.5", 200_000, 64_000, "none low medium high", true, [1, 5, 0.1, 1.25]]
]

export const openai: ReadonlyArray<Row> = [
  ["gpt-6.2-sol", "GPT-6.2 Sol", 272_000, 128_000, "low medium high xhigh max", true, [2, 10, 0.1, 2.5]],
  ["gpt-6.2-astra", "GPT-6.2 Astra", 272_000, 128_000, "low medium high xhigh max", true, [8, 40, 0.4, 10]],
  ["gpt-6.1-sol", "GPT-6.1 Sol", 272_000, 128_000, "low medium high xhigh max", true, [2, 10, 0.1, 2.5]],
  ["gpt-6.1-terra", "GPT-6.1 Terra", 272_000, 128_000, "none low medium high xhigh max", true, [1, 5, 0.05, 1.25]],
  ["gpt-6-astra", "GPT-6 Astra", 272_000, 128_000, "low medium high xhigh max", true, [10, 50, 1, 12.5]],
  ["gpt-6-sol", "GPT-6 Sol", 272_000, 128_000, "none low medium high xhigh max", true, [2, 10, 0.2, 2.5]],
  ["gpt-6-luna", "GPT-6 Luna", 272_000, 128_000, "none low medium high xhigh max", true, [0.1, 0.5, 0.01, 0.125]],
  ["gpt-5.6-sol", "GPT-5.6 Sol", 272_000, 128_000, "none low medium high xhigh max", true, [4, 20, 0.4, 5]],
  ["gpt-5.6-terra", "GPT-5.6 Terra", 272_000, 128_000, "none low medium high xhigh max", true, [2, 12, 0.2, 2.5]],
  ["gpt-5.6-luna", "GPT-5.6 Luna", 272_000, 128_000, "none low medium high xhigh max", true, [0.2, 1.2, 0.02, 0.25]],
  ["gpt-5.5", "GPT-5.5", 272_000, 128_000, "none low medium high xhigh", true, [5, 30, 0.5, 0]],
  ["gpt-5.5-pro", "GPT-5.5 Pro", 1_050_000, 128_000, "medium high xhigh", true, [30, 180, 0, 0]],
  ["gpt-5.4", "GPT-5.4", 272_000, 128_000, "none low medium high xhigh", true, [2.5, 15, 0.25, 0]],
  ["gpt-5.4-mini", "GPT-5.4 mini", 400_000, 128_000, "none low medium high xhigh", true, [0.75, 4.5, 0.075, 0]],
  ["gpt-5.4-nano", "GPT-5.4 nano", 400_000, 128_000, "none low medium high xhigh", true, [0.2, 1.25, 0.02, 0]],
  ["gpt-5.3-codex", "GPT-5.3 Codex", 400_000, 128_000, "none low medium high xhigh", true, [1.75, 14, 0.175, 0]],
  ["gpt-5.3-codex-spark", "GPT-5.3 Codex Spark", 128_000, 32_000, "low medium high xhigh", true, [1.75, 14, 0.175, 0]],
  ["gpt-5.2", "GPT-5.2", 400_000, 128_000, "none low medium high xhigh", true, [1.75, 14, 0.175, 0]],
  ["gpt-5.1", "GPT-5.1", 400_000, 128_000, "none low medium high", true, [1.25, 10, 0.125, 0]],
  ["gpt-5", "GPT-5", 400_000, 128_000, "minimal low medium high", true, [1.25, 10, 0.125, 0]],
  ["gpt-5-mini", "GPT-5 Mini", 400_000, 128_000, "minimal low medium high", true, [0.25, 2, 0.025, 0]],
  ["gpt-4.1", "GPT-4.1", 1_047_576, 32_768, "", true, [2, 8, 0.5, 0]],
  ["gpt-4.1-mini", "GPT-4.1 mini", 1_047_576, 32_768, "", true, [0.4, 1.6, 0.1, 0]],
  ["gpt-4o", "GPT-4o", 128_000, 16_384, "", true, [2.5, 10, 1.25, 0]],
  ["o3", "o3", 200_000, 100_000, "low medium high", true, [2, 8, 0.5, 0]],
  ["o4-mini", "o4-mini", 200_000, 100_000, "low medium high", true, [1.1, 4.4, 0.275, 0]]
]

export const google: ReadonlyArray<Row> = [
  ["gemini-4-hydrogen", "Gemini 4 Hydrogen", 1_048_576, 65_536, "low medium high xhigh", true, [1.5, 7.5, 0.075, 0]],
  ["gemini-4-neon", "Gemini 4 Neon", 1_048_576, 65_536, "low medium high xhigh", true, [3, 15, 0.15, 0]],
  ["gemini-4-argon", "Gemini 4 Argon", 1_048_576, 32_768, "low medium high", true, [2, 10, 0.1, 0]],
  ["gemini-4-carbon", "Gemini 4 Carbon", 1_048_576, 32_768, "low medium high", true, [2, 10, 0.1, 0]],
  ["gemini-3.8-flash", "Gemini 3.8 Flash", 1_048_576, 65_536, "low medium high", true, [0.75, 3.75, 0.075, 0]],
  ["gemini-3.7-flash", "Gemini 3.7 Flash", 1_048_576, 65_536, "low medium high", true, [0.75, 3.75, 0.075, 0]],
  ["gemini-3.6-flash", "Gemini 3.6 Flash", 1_048_576, 65_536, "minimal low medium high", true, [0.75, 3.75, 0.075, 0]],
  ["gemini-3.5-flash", "Gemini 3.5 Flash", 1_048_576, 65_536, "minimal low medium high", true, [1.5, 9, 0.15, 0]],
  [
    "gemini-3.5-flash-lite",
    "Gemini 3.5 Flash Lite",
    1_048_576,
    65_536,
    "minimal low medium high",
    true,
    [0.3, 2.5, 0.03, 0]
  ],
  ["gemini-3.1-pro-preview", "Gemini 3.1 Pro Preview", 1_048_576, 65_536, "low medium high", true, [2, 12, 0.2, 0]],
  [
    "gemini-3.1-flash-lite",
    "Gemini 3.1 Flash Lite",
    1_048_576,
    65_536,
    "minimal low medium high",
    true,
    [0.25, 1.5, 0.025, 0]
  ],
  ["gemini-2.5-pro", "Gemini 2.5 Pro", 1_048_576, 65_536, "low medium high", true, [1.25, 10, 0.125, 0]],
  ["gemini-2.5-flash", "Gemini 2.5 Flash", 1_048_576, 65_536, "none low medium high", true, [0.3, 2.5, 0.03, 0]],
  [
    "gemini-2.5-flash-lite",
    "Gemini 2.5 Flash-Lite",
    1_048_576,
    65_536,
    "none low medium high",
    true,
    [0.1, 0.4, 0.01, 0]
  ]
]
