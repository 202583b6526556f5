/** How many tokens messages take, as a guess: no provider tells before it is asked. */
import type * as Prompt from "effect/ai/Prompt"

/** A little more than in plain words, so that the guess is too high sooner than too low. */
const CHARACTERS_PER_TOKEN = 3.5
/** Of an image, whose bytes say nothing. */
const IMAGE = 1_500
const MESSAGE = 4

const guessed = new WeakMap<Prompt.Message, number>()

const charactersOf = (value: unknown): number =>
  (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).length

const partTokens = (part: Exclude<Prompt.Message["content"], string>[number]): number => {
  switch (part.type) {
    case "file":
      return IMAGE
    case "text":
    case "reasoning":
      return part.text.length / CHARACTERS_PER_TOKEN
    case "tool-call":
      return charactersOf(part.params) / CHARACTERS_PER_TOKEN
    case "tool-result":
      return charactersOf(part.result) / CHARACTERS_PER_TOKEN
    default:
      return 0
  }
}

const tokensOfOne = (message: Prompt.Message): number => {
  const known = guessed.get(message)
  if (known !== undefined) return known
  const { content } = message
  const tokens =
    typeof content === "string"
      ? content.length / CHARACTERS_PER_TOKEN
      : content.reduce((sum, part) => sum + partTokens(part), 0)
  guessed.set(message, Math.ceil(tokens) + MESSAGE)
  return Math.ceil(tokens) + MESSAGE
}

export const tokensOf = (messages: ReadonlyArray<Prompt.Message>): number =>
  messages.reduce((sum, message) => sum + tokensOfOne(message), 0)
