/** The four ways in which providers stream an answer, as far as the bench needs them: text, one tool call, an end. */

/** A request, as far as the answer depends on it. */
export interface Asked {
  /** Texts of the user, in order. */
  readonly user: ReadonlyArray<string>
  /** The last message is the result of a tool. */
  readonly toolResult: boolean
}

export interface Dialect {
  readonly path: RegExp
  readonly asked: (body: Body) => Asked
  readonly open: string
  readonly delta: (text: string) => string
  readonly call: (name: string, input: object) => string
  readonly close: (reason: "stop" | "call") => string
}

interface Part {
  readonly type?: string
  readonly text?: string
  readonly functionResponse?: unknown
}
interface Message {
  readonly type?: string
  readonly role?: string
  readonly content?: string | ReadonlyArray<Part>
  readonly parts?: ReadonlyArray<Part>
}
export interface Body {
  readonly messages?: ReadonlyArray<Message>
  readonly input?: ReadonlyArray<Message>
  readonly contents?: ReadonlyArray<Message>
}

const textOf = ({ content, parts }: Message): string =>
  typeof content === "string" ? content : (content ?? parts ?? []).map((part) => part.text ?? "").join("")

const askedBy = (messages: ReadonlyArray<Message>, isResult: (message: Message) => boolean): Asked => {
  const last = messages.at(-1)
  return {
    user: messages.filter((message) => message.role === "user" && !isResult(message)).map(textOf),
    toolResult: last !== undefined && isResult(last)
  }
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const event = (type: string, fields: object): string => `event: ${type}\n${data({ type, ...fields })}`

const chunk = (delta: object, reason: string | null = null): string =>
  data({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "bench",
    choices: [{ index: 0, delta, finish_reason: reason }]
  })

const chat: Dialect = {
  path: /\/chat\/completions$/,
  asked: ({ messages = [] }) => askedBy(messages, ({ role }) => role === "tool"),
  open: chunk({ role: "assistant", content: "" }),
  delta: (content) => chunk({ content }),
  call: (name, input) =>
    chunk({
      tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name, arguments: JSON.stringify(input) } }]
    }),
  close: (reason) =>
    chunk({}, reason === "stop" ? "stop" : "tool_calls") +
    data({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } }) +
    "data: [DONE]\n\n"
}

const usage = { input_tokens: 100, output_tokens: 10 }

const anthropic: Dialect = {
  path: /\/messages$/,
  asked: ({ messages = [] }) =>
    askedBy(messages, ({ content }) => typeof content !== "string" && content?.[0]?.type === "tool_result"),
  open:
    event("message_start", {
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "bench",
        content: [],
        stop_reason: null,
        usage
      }
    }) + event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  delta: (text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
  call: (name, input) =>
    event("content_block_start", { index: 1, content_block: { type: "tool_use", id: "call_1", name, input: {} } }) +
    event("content_block_delta", {
      index: 1,
      delta: { type: "input_json_delta", partial_json: JSON.stringify(input) }
    }) +
    event("content_block_stop", { index: 1 }),
  close: (reason) =>
    event("content_block_stop", { index: 0 }) +
    event("message_delta", { delta: { stop_reason: reason === "stop" ? "end_turn" : "tool_use" }, usage }) +
    event("message_stop", {})
}

const item = { id: "msg_1", type: "message", status: "completed", role: "assistant", content: [] }

const responses: Dialect = {
  path: /\/responses$/,
  asked: ({ input = [] }) => askedBy(input, ({ type }) => type === "function_call_output"),
  open:
    event("response.created", { response: { id: "resp_1", created_at: 1, model: "bench" } }) +
    event("response.output_item.added", { output_index: 0, item: { ...item, status: "in_progress" } }),
  delta: (delta) => event("response.output_text.delta", { item_id: item.id, output_index: 0, content_index: 0, delta }),
  call: (name, input) => {
    const call = { id: "fc_1", type: "function_call", call_id: "call_1", name, status: "completed" }
    return (
      event("response.output_item.added", { output_index: 1, item: { ...call, arguments: "" } }) +
      event("response.output_item.done", { output_index: 1, item: { ...call, arguments: JSON.stringify(input) } })
    )
  },
  close: () =>
    event("response.output_item.done", { output_index: 0, item }) +
    event("response.completed", { response: { id: "resp_1", created_at: 1, model: "bench", output: [item], usage } })
}

const candidate = (parts: ReadonlyArray<object>, finishReason?: string): string =>
  data({
    candidates: [{ content: { role: "model", parts }, index: 0, finishReason }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 }
  })

const google: Dialect = {
  path: /:streamGenerateContent/,
  asked: ({ contents = [] }) => askedBy(contents, ({ parts }) => parts?.[0]?.functionResponse !== undefined),
  open: "",
  delta: (text) => candidate([{ text }]),
  call: (name, args) => candidate([{ functionCall: { name, args } }]),
  close: () => candidate([], "STOP")
}

/** By the name of the package that speaks it. */
export const dialects = { "openai-compatible": chat, anthropic, openai: responses, google }
export type DialectName = keyof typeof dialects
