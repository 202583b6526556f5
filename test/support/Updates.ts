/** What a client makes of the updates of a session: texts, tool calls, plans, and a form that two streams share. */
import type * as Schema from "effect/Schema"
import type { JsonObject, RawAgent } from "./RawAgent.ts"
import { at, isObject } from "./Schema.ts"

type Json = Schema.Json

/** A place in the stream, from which on updates are looked at. */
export const mark = (agent: RawAgent): number => agent.seen.length

/** The updates of a session, in order. */
export const updatesOf = (agent: RawAgent, sessionId: string, from = 0): ReadonlyArray<JsonObject> =>
  agent.seen.slice(from).flatMap(({ method, params }) => {
    const update = at(params, "update")
    return method === "session/update" && at(params, "sessionId") === sessionId && isObject(update) ? [update] : []
  })

export const ofKind = (updates: ReadonlyArray<JsonObject>, kind: string): ReadonlyArray<JsonObject> =>
  updates.filter(({ sessionUpdate }) => sessionUpdate === kind)

const textsOf = (updates: ReadonlyArray<JsonObject>, kind: string): ReadonlyArray<string> =>
  ofKind(updates, kind).map((update) => String(at(update, "content", "text")))

/** The agent's text, joined. */
export const textOf = (updates: ReadonlyArray<JsonObject>): string => textsOf(updates, "agent_message_chunk").join("")

export const thoughtOf = (updates: ReadonlyArray<JsonObject>): string =>
  textsOf(updates, "agent_thought_chunk").join("")

export interface ToolCall {
  readonly id: string
  /** Everything that was told of it, the latest of each key. */
  readonly latest: JsonObject
  readonly statuses: ReadonlyArray<Json>
  readonly updates: ReadonlyArray<JsonObject>
}

/** Tool calls in the order in which they were told of first, announced or not. */
export const callsOf = (updates: ReadonlyArray<JsonObject>): ReadonlyArray<ToolCall> => {
  const calls = new Map<string, Array<JsonObject>>()
  for (const update of updates) {
    const { sessionUpdate, toolCallId } = update
    if (sessionUpdate !== "tool_call" && sessionUpdate !== "tool_call_update") continue
    const id = String(toolCallId)
    calls.set(id, [...(calls.get(id) ?? []), update])
  }
  return Array.from(calls, ([id, told]) => {
    const { sessionUpdate: _, ...latest }: JsonObject = Object.assign({}, ...told)
    return { id, latest, statuses: told.flatMap(({ status }) => (status === undefined ? [] : [status])), updates: told }
  })
}

/** The texts that a tool call shows. */
export const shownBy = ({ content }: JsonObject): string =>
  Array.isArray(content) ? content.map((block) => String(at(block, "content", "text") ?? "")).join("\n") : ""

/** Texts of the content of all updates of a call: what somebody saw who watched. */
export const watched = (call: ToolCall): string => call.updates.map(shownBy).join("\n")

/**
 * What is left of a stream when the cutting into chunks and the steps of a tool call are forgotten: messages, thoughts,
 * calls in their last state, the last plan. Two streams that tell the same have the same form.
 */
export const formOf = (updates: ReadonlyArray<JsonObject>): ReadonlyArray<Json> => {
  const form: Array<Json> = []
  const calls = new Map(callsOf(updates).map((call) => [call.id, call.latest]))
  let open: { readonly kind: Json; readonly messageId: Json; text: string } | undefined
  for (const update of updates) {
    const { content, messageId = null, sessionUpdate: kind = null, toolCallId } = update
    if (kind === "tool_call") form.push({ tool: calls.get(String(toolCallId)) ?? null })
    if (typeof kind !== "string" || !kind.endsWith("_chunk")) continue
    const text = at(content, "text")
    if (open?.kind === kind && open.messageId === messageId && typeof text === "string") {
      open.text += text
      form[form.length - 1] = { ...open }
      continue
    }
    open = typeof text === "string" ? { kind, messageId, text } : undefined
    form.push(open === undefined ? { kind, content: content ?? null } : { ...open })
  }
  const plan = ofKind(updates, "plan").at(-1)
  return plan === undefined ? form : [...form, plan]
}
