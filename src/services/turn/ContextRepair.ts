/**
 * Providers refuse a history in which a tool call has no result, or a result no call. A cancel or a crash leaves such
 * calls, a log that could not be read whole such results.
 */
import * as Prompt from "effect/ai/Prompt"

const INTERRUPTED = "This call was interrupted before it finished; its effect is unknown."

const callsOf = (message: Prompt.Message): ReadonlyArray<Prompt.ToolCallPart> =>
  message.role === "assistant" ? message.content.filter((part) => part.type === "tool-call") : []

const resultsOf = (message: Prompt.Message): ReadonlyArray<Prompt.ToolResultPart> =>
  message.role === "tool" || message.role === "assistant"
    ? message.content.filter((part) => part.type === "tool-result")
    : []

const idsOf = (parts: ReadonlyArray<{ readonly id: string }>): ReadonlySet<string> => new Set(parts.map(({ id }) => id))

const interrupted = ({ id, name }: Prompt.ToolCallPart): Prompt.ToolResultPart =>
  Prompt.toolResultPart({ id, name, isFailure: true, result: INTERRUPTED, providerExecuted: false })

const withoutStrayResults = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<Prompt.Message> => {
  const called = idsOf(messages.flatMap(callsOf))
  return messages.flatMap((message) => {
    if (message.role !== "tool" || resultsOf(message).every(({ id }) => called.has(id))) return [message]
    const content = message.content.filter((part) => part.type !== "tool-result" || called.has(part.id))
    return content.length === 0 ? [] : [Prompt.toolMessage({ content, options: message.options })]
  })
}

/** Drops results without a call, and adds a failed result behind the results of a step for each call without one. */
export const repairCalls = (history: ReadonlyArray<Prompt.Message>): ReadonlyArray<Prompt.Message> => {
  const messages = withoutStrayResults(history)
  const answered = idsOf(messages.flatMap(resultsOf))
  const repaired: Array<Prompt.Message> = []
  let open: ReadonlyArray<Prompt.ToolCallPart> = []
  const close = () => {
    if (open.length > 0) repaired.push(Prompt.toolMessage({ content: open.map(interrupted) }))
    open = []
  }
  for (const message of messages) {
    if (message.role !== "tool") close()
    repaired.push(message)
    open = [...open, ...callsOf(message).filter(({ id }) => !answered.has(id))]
  }
  close()
  return repaired
}
