/** Tool calls as a client sees them: what was announced, with every later change. */
import type { SessionUpdate, ToolCall, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk"
import { assert } from "@effect/vitest"
import type { Where } from "./McpServers.ts"

export interface Call extends ToolCall {
  /** Every status that was told, in order. */
  readonly statuses: ReadonlyArray<string>
}

/** The calls among some updates, in the order of their announcement, as they are in the end. */
export const callsIn = (updates: ReadonlyArray<SessionUpdate>): ReadonlyArray<Call> => {
  const calls = new Map<string, Call>()
  for (const update of updates) {
    if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update") continue
    const { sessionUpdate: _, ...told } = update
    const known = calls.get(update.toolCallId)
    const statuses = [...(known?.statuses ?? []), ...(typeof update.status === "string" ? [update.status] : [])]
    calls.set(update.toolCallId, { ...known, ...(told as ToolCall), statuses })
  }
  return [...calls.values()]
}

/** The only call. */
export const callIn = (updates: ReadonlyArray<SessionUpdate>): Call => {
  const [call, ...others] = callsIn(updates)
  if (call === undefined || others.length > 0) return assert.fail(`one call, not ${JSON.stringify(updates)}`)
  return call
}

const textOf = (item: ToolCallContent): string =>
  item.type === "content" && item.content.type === "text" ? item.content.text : ""

/** The text that a call, or an update of one, shows. */
export const outputOf = ({ content }: Pick<ToolCallUpdate, "content">): string => (content ?? []).map(textOf).join("\n")

/** What the odd MCP server said of itself. */
export const whereIn = (updates: ReadonlyArray<SessionUpdate>): Where => JSON.parse(outputOf(callIn(updates)))
