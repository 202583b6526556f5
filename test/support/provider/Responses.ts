import type { Dialect, Finish, Piece, Usage, Writer } from "./Dialect.ts"
import { event } from "./Dialect.ts"

const errorCode: { readonly [status: number]: string } = {
  400: "context_length_exceeded",
  401: "invalid_api_key",
  429: "rate_limit_exceeded",
  529: "server_overloaded"
}

const writer = (model: string): Writer => {
  let sequence = 0
  let index = -1
  let text: string | undefined
  const output: Array<unknown> = []
  const tell = (type: string, value: { readonly [key: string]: unknown }): string =>
    event(type, { type, sequence_number: sequence++, ...value })
  const response = (status: string, more: { readonly [key: string]: unknown }) => ({
    id: "resp_01",
    object: "response",
    created_at: 1767225600,
    status,
    model,
    output,
    error: null,
    incomplete_details: null,
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    usage: null,
    ...more
  })
  const done = (item: unknown): string => {
    output.push(item)
    return tell("response.output_item.done", { output_index: index, item })
  }
  const closeText = (): string => {
    if (text === undefined) return ""
    const part = { type: "output_text", text, annotations: [] }
    const place = { item_id: "msg_01", output_index: index, content_index: 0 }
    const closed =
      tell("response.output_text.done", { ...place, text, logprobs: [] }) +
      tell("response.content_part.done", { ...place, part }) +
      done({ id: "msg_01", type: "message", status: "completed", role: "assistant", content: [part] })
    text = undefined
    return closed
  }
  const openText = (): string => {
    if (text !== undefined) return ""
    text = ""
    index += 1
    return (
      tell("response.output_item.added", {
        output_index: index,
        item: { id: "msg_01", type: "message", status: "in_progress", role: "assistant", content: [] }
      }) +
      tell("response.content_part.added", {
        item_id: "msg_01",
        output_index: index,
        content_index: 0,
        part: { type: "output_text", text: "", annotations: [] }
      })
    )
  }
  const piece = (piece: Piece): string => {
    if ("text" in piece) {
      const start = openText()
      text += piece.text
      return (
        start +
        tell("response.output_text.delta", {
          item_id: "msg_01",
          output_index: index,
          content_index: 0,
          delta: piece.text,
          logprobs: []
        })
      )
    }
    const closed = closeText()
    index += 1
    if ("thought" in piece) {
      const place = { item_id: "rs_01", output_index: index, summary_index: 0 }
      const summary = { type: "summary_text", text: piece.thought }
      return (
        closed +
        tell("response.output_item.added", {
          output_index: index,
          item: { id: "rs_01", type: "reasoning", summary: [], encrypted_content: "" }
        }) +
        tell("response.reasoning_summary_part.added", { ...place, part: { type: "summary_text", text: "" } }) +
        tell("response.reasoning_summary_text.delta", { ...place, delta: piece.thought }) +
        tell("response.reasoning_summary_text.done", { ...place, text: piece.thought }) +
        tell("response.reasoning_summary_part.done", { ...place, part: summary }) +
        done({ id: "rs_01", type: "reasoning", summary: [summary], encrypted_content: piece.signature })
      )
    }
    const { args, id, name } = piece.call
    const item = { id: `fc_${id}`, type: "function_call", call_id: id, name }
    return (
      closed +
      tell("response.output_item.added", {
        output_index: index,
        item: { ...item, status: "in_progress", arguments: "" }
      }) +
      tell("response.function_call_arguments.delta", { item_id: item.id, output_index: index, delta: args }) +
      tell("response.function_call_arguments.done", { item_id: item.id, output_index: index, name, arguments: args }) +
      done({ ...item, status: "completed", arguments: args })
    )
  }
  return {
    open: () =>
      tell("response.created", { response: response("in_progress", {}) }) +
      tell("response.in_progress", { response: response("in_progress", {}) }),
    piece,
    close: (finish: Finish, usage: Usage): string => {
      const closed = closeText()
      const counted = {
        usage: {
          input_tokens: usage.input,
          input_tokens_details: { cached_tokens: usage.cached },
          output_tokens: usage.output,
          output_tokens_details: { reasoning_tokens: usage.reasoning },
          total_tokens: usage.input + usage.output
        }
      }
      if (finish === "stop" || finish === "calls") {
        return closed + tell("response.completed", { response: response("completed", counted) })
      }
      const reason = finish === "length" ? "max_output_tokens" : "content_filter"
      return (
        closed +
        tell("response.incomplete", {
          response: response("incomplete", { ...counted, incomplete_details: { reason } })
        })
      )
    },
    overloaded: () =>
      tell("response.failed", {
        response: response("failed", { error: { code: "server_error", message: "The server is overloaded" } })
      })
  }
}

export const responses: Dialect = {
  writer,
  refusal: (status, message) =>
    JSON.stringify({
      error: {
        message,
        type: status === 401 ? "authentication_error" : "request_error",
        param: null,
        code: errorCode[status] ?? null
      }
    }),
  overflow: "Your input exceeds the context window of this model. Please adjust your input and try again."
}
