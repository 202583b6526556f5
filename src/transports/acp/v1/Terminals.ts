/**
 * Commands in terminals that belong to the agent, for clients that have those: a call is announced with its terminal, and
 * `_meta` of its updates feeds it, each with what is new. Only such a client ever gets terminal content (TOL-08).
 */
import type { EditorCapabilities } from "../../../domain/Capability.ts"
import type { Event, ToolCallProgress } from "../../../domain/Event.ts"
import type { SessionId, ToolCallId } from "../../../domain/Ids.ts"
import {
  type CommandOutput,
  isFinal,
  type ToolCall,
  type ToolCallPatch,
  type ToolContent
} from "../../../domain/Tool.ts"
import { parentMeta } from "../Extensions.ts"
import { toolCallFields, toUpdates, type Update } from "./Updates.ts"

export type Projection = (sessionId: SessionId, event: Event) => ReadonlyArray<Update>

/** Open calls of one connection; of older ones that were never told to end, no more is known. */
const MAX_OPEN = 1_024

const isOutput = (item: ToolContent): item is CommandOutput => item.type === "output"

const terminal = (id: ToolCallId) => ({ type: "terminal", terminalId: id }) as const

type Changes = Omit<Extract<Update, { readonly sessionUpdate: "tool_call_update" }>, "sessionUpdate" | "toolCallId">

const update = (id: ToolCallId, changes: Changes): Update => ({
  sessionUpdate: "tool_call_update",
  toolCallId: id,
  ...changes
})

const terminals = (
  name: NonNullable<EditorCapabilities["terminals"]>,
  capabilities: EditorCapabilities
): Projection => {
  /** Calls that have a terminal, and whether it got anything yet. */
  const open = new Map<string, boolean>()

  const remember = (key: string, fed: boolean): void => {
    open.delete(key)
    open.set(key, fed)
    const [oldest] = open.keys()
    if (open.size > MAX_OPEN && oldest !== undefined) open.delete(oldest)
  }

  const feed = (id: ToolCallId, data: string) => (data === "" ? {} : { [name]: { terminal_id: id, data } })

  /** A client makes the terminal when the call is announced, and not later. */
  const started = (key: string, call: ToolCall): ReadonlyArray<Update> => {
    const { content, id, parent, ...rest } = call
    const data = content.find(isOutput)?.text ?? ""
    remember(key, data !== "")
    return [
      {
        sessionUpdate: "tool_call",
        toolCallId: id,
        ...rest,
        content: [terminal(id)],
        _meta: { terminal_info: { terminal_id: id }, ...parentMeta(parent) }
      },
      ...(data === "" ? [] : [update(id, { _meta: feed(id, data) })])
    ]
  }

  /** `fresh` is absent when a view of what was shown before is told; a client that was fed has it already. */
  const progressed = (key: string, { fresh, id, patch }: ToolCallProgress, fed: boolean): ReadonlyArray<Update> => {
    const { content = [], ...rest } = patch
    const output = content.find(isOutput)
    if (output === undefined && fresh === undefined) return [update(id, toolCallFields(patch))]
    const data = fresh ?? (fed ? "" : (output?.text ?? ""))
    if (data === "" && Object.keys(rest).length === 0) return []
    remember(key, fed || data !== "")
    return [update(id, { ...rest, _meta: feed(id, data) })]
  }

  const ended = (key: string, id: ToolCallId, patch: ToolCallPatch, fed: boolean): Update => {
    open.delete(key)
    const { content = [], ...rest } = patch
    const output = content.find(isOutput)
    const _meta = {
      ...feed(id, fed ? "" : (output?.text ?? "")),
      terminal_exit: { terminal_id: id, exit_code: output?.exitCode ?? null, signal: output?.signal ?? null }
    }
    if (output === undefined) return update(id, { ...toolCallFields(patch), _meta })
    const beside = toolCallFields({ content: content.filter((item) => !isOutput(item)) }).content ?? []
    return update(id, { ...rest, content: [terminal(id), ...beside], _meta })
  }

  /** What a question showed goes when the command starts; until then it keeps the terminal out of sight. */
  const changed = (id: ToolCallId, { content, ...rest }: ToolCallPatch): Update =>
    update(id, {
      ...rest,
      ...(rest.status === "in_progress" || content?.some(isOutput) === true ? { content: [terminal(id)] } : {})
    })

  return (sessionId, event) => {
    if (event._tag === "ToolCallStarted" && event.call.kind === "execute") {
      return started(`${sessionId} ${event.call.id}`, event.call)
    }
    if (event._tag !== "ToolCallProgress" && event._tag !== "ToolCallUpdated") return toUpdates(event, capabilities)
    const key = `${sessionId} ${event.id}`
    const fed = open.get(key)
    if (fed === undefined) return toUpdates(event, capabilities)
    if (event._tag === "ToolCallProgress") return progressed(key, event, fed)
    const { id, patch } = event
    return [patch.status !== undefined && isFinal(patch.status) ? ended(key, id, patch, fed) : changed(id, patch)]
  }
}

/** What a connection is told of the events of its sessions. It knows which calls of theirs are open. */
export const makeProjection = (capabilities: EditorCapabilities): Projection =>
  capabilities.terminals === undefined
    ? (_sessionId, event) => toUpdates(event, capabilities)
    : terminals(capabilities.terminals, capabilities)
