/** Providers refuse a history in which a tool call has no result. A cancel or a crash leaves such calls: close them. */
import * as Prompt from "effect/ai/Prompt"

const INTERRUPTED = "This call was interrupted before it finished; its effect is unknown."

const callsOf = (message: Prompt.Message): ReadonlyArray<Prompt.ToolCallPart> =>
  message.role === "assistant" ? message.content.filter((part) => part.type === "tool-call") : []

const answeredBy = (messages: ReadonlyArray<Prompt.Message>): ReadonlySet<string> =>
  new Set(
    messages.flatMap((message) =>
      message.role === "tool" || message.role === "assistant"
        ? message.content.flatMap((part) => (part.type === "tool-result" ? [part.id] : []))
        : []
    )
  )

/** A result for a call that never got one. */
export const interruptedResult = (call: { readonly id: string; readonly name: string }): Prompt.ToolResultPart =>
  Prompt.toolResultPart({
    id: call.id,
    name: call.name,
    isFailure: true,
    result: INTERRUPTED,
    providerExecuted: false
  })

/** Adds a failed result right behind the tool results that follow each unanswered call. */
export const closeOpenCalls = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<Prompt.Message> => {
  const answered = answeredBy(messages)
  const repaired: Array<Prompt.Message> = []
  let open: ReadonlyArray<Prompt.ToolCallPart> = []
  const close = () => {
    if (open.length > 0) repaired.push(Prompt.toolMessage({ content: open.map(interruptedResult) }))
    open = []
  }
  for (const message of messages) {
    if (message.role !== "tool") close()
    repaired.push(message)
    open = [...open, ...callsOf(message).filter((call) => !answered.has(call.id))]
  }
  close()
  return repaired
}
