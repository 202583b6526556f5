/** Which messages a summary stands for, and which stay as they are. */
import type * as Prompt from "effect/ai/Prompt"
import { tokensOf } from "./Size.ts"

export interface Plan {
  readonly older: ReadonlyArray<Prompt.Message>
  readonly kept: ReadonlyArray<Prompt.Message>
}

/**
 * Keeps the newest messages that take no more tokens than that, and a prompt that nobody answered yet in any case. What is
 * kept begins with no result, so that each has its call.
 */
export const plan = (messages: ReadonlyArray<Prompt.Message>, tokens: number): Plan => {
  const isAsked = messages.at(-1)?.role === "user"
  let start = isAsked ? messages.length - 1 : messages.length
  let left = tokens
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]
    if (message === undefined) break
    left -= tokensOf([message])
    if (left < 0) break
    if (message.role !== "tool") start = Math.min(start, at)
  }
  return { older: messages.slice(0, start), kept: messages.slice(start) }
}
