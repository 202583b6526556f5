import type { Dialect, Finish, Piece, Usage, Writer } from "./Dialect.ts"
import { event } from "./Dialect.ts"

const stopReason: { readonly [K in Finish]: string } = {
  stop: "end_turn",
  length: "max_tokens",
  filter: "refusal",
  calls: "tool_use"
}

const errorType: { readonly [status: number]: string } = {
  400: "invalid_request_error",
  401: "authentication_error",
  429: "rate_limit_error",
  529: "overloaded_error"
}

const delta = (index: number, value: unknown): string =>
  event("content_block_delta", { type: "content_block_delta", index, delta: value })

const writer = (model: string): Writer => {
  let index = -1
  let open: "text" | undefined
  const close = (): string => {
    const closed = open === undefined ? "" : event("content_block_stop", { type: "content_block_stop", index })
    open = undefined
    return closed
  }
  const block = (start: unknown, deltas: string): string =>
    `${close()}${event("content_block_start", { type: "content_block_start", index: ++index, content_block: start })}${deltas}`
  const stop = (): string => event("content_block_stop", { type: "content_block_stop", index })
  return {
    open: () =>
      event("message_start", {
        type: "message_start",
        message: {
          id: "msg_01A",
          type: "message",
          role: "assistant",
          model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 }
        }
      }) + event("ping", { type: "ping" }),
    piece: (piece: Piece): string => {
      if ("text" in piece) {
        const start = open === "text" ? "" : block({ type: "text", text: "" }, "")
        open = "text"
        return start + delta(index, { type: "text_delta", text: piece.text })
      }
      if ("thought" in piece) {
        const start = block({ type: "thinking", thinking: "", signature: "" }, "")
        return (
          start +
          delta(index, { type: "thinking_delta", thinking: piece.thought }) +
          delta(index, { type: "signature_delta", signature: piece.signature }) +
          stop()
        )
      }
      const { args, id, name } = piece.call
      const start = block({ type: "tool_use", id, name, input: {} }, "")
      const half = Math.ceil(args.length / 2)
      return (
        start +
        [args.slice(0, half), args.slice(half)]
          .map((part) => delta(index, { type: "input_json_delta", partial_json: part }))
          .join("") +
        stop()
      )
    },
    close: (finish: Finish, usage: Usage): string =>
      close() +
      event("message_delta", {
        type: "message_delta",
        delta: { stop_reason: stopReason[finish], stop_sequence: null },
        usage: {
          input_tokens: usage.input - usage.cached,
          cache_read_input_tokens: usage.cached,
          cache_creation_input_tokens: 0,
          output_tokens: usage.output,
          output_tokens_details: { thinking_tokens: usage.reasoning }
        }
      }) +
      event("message_stop", { type: "message_stop" }),
    overloaded: () => event("error", { type: "error", error: { type: "overloaded_error", message: "Overloaded" } })
  }
}

export const anthropic: Dialect = {
  writer,
  refusal: (status, message) =>
    JSON.stringify({ type: "error", error: { type: errorType[status] ?? "api_error", message }, request_id: "req_01" }),
  overflow: "prompt is too long: 210000 tokens > 200000 maximum"
}
