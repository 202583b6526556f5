import type { Dialect, Finish, Piece, Usage, Writer } from "./Dialect.ts"
import { data } from "./Dialect.ts"

const finishReason: { readonly [K in Finish]: string } = {
  stop: "stop",
  length: "length",
  filter: "content_filter",
  calls: "tool_calls"
}

const writer = (model: string): Writer => {
  let calls = 0
  const base = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1767225600, model }
  const chunk = (delta: unknown, finish: string | null = null): string =>
    data({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] })
  return {
    open: () => chunk({ role: "assistant", content: "" }),
    piece: (piece: Piece): string => {
      if ("text" in piece) return chunk({ content: piece.text })
      if ("thought" in piece) return chunk({ reasoning_content: piece.thought })
      const { args, id, name } = piece.call
      const index = calls++
      const half = Math.ceil(args.length / 2)
      return (
        chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: args.slice(0, half) } }] }) +
        chunk({ tool_calls: [{ index, function: { arguments: args.slice(half) } }] })
      )
    },
    close: (finish: Finish, usage: Usage): string =>
      chunk({}, finishReason[finish]) +
      data({
        ...base,
        choices: [],
        usage: {
          prompt_tokens: usage.input,
          completion_tokens: usage.output,
          total_tokens: usage.input + usage.output,
          prompt_tokens_details: { cached_tokens: usage.cached },
          completion_tokens_details: { reasoning_tokens: usage.reasoning }
        }
      }) +
      "data: [DONE]\n\n",
    overloaded: () => data({ error: { message: "The engine is overloaded", type: "server_error", code: 503 } })
  }
}

export const chat: Dialect = {
  writer,
  refusal: (status, message) =>
    JSON.stringify({ error: { message, type: "error", param: null, code: String(status) } }),
  overflow: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."
}
