/**
 * What a log means: a total fold over entries, the same however the log was cut into appends, and the entries that
 * close a log whose process was killed in mid-turn.
 */
import type * as Schema from "effect/Schema"
import type { Content } from "../Content.ts"
import { type TurnChanges, withChange, withoutChanges } from "./Changes.ts"
import type { AgentChoice } from "../CustomAgent.ts"
import { assistantMessage, roleOf, userMessage } from "./ContextMessage.ts"
import type { PlanEntry } from "../Event.ts"
import type { CompactionId, ToolCallId } from "../Ids.ts"
import type { Grant } from "../permission/Permission.ts"
import type { Entry } from "./Session.ts"
import type { ToolCall, ToolCallPatch } from "../Tool.ts"
import { isFinal, textContent } from "../Tool.ts"
import type { ExecutionMode } from "../permission/ExecutionMode.ts"

/** The last choices of the user. An absent key was never chosen. */
export interface ChosenSettings {
  readonly mode?: ExecutionMode
  readonly agent?: AgentChoice | null
  readonly model?: string
  readonly effort?: string
  readonly rules?: string
  readonly appended?: string
  readonly systemPrompt?: string
}

/** What a client wants to be added to the usual instructions. */
export const instructionsOf = ({ appended, rules }: ChosenSettings): string | undefined =>
  rules === undefined || appended === undefined ? (rules ?? appended) : `${rules}\n\n${appended}`

/** Tokens of the context window; `cost` is the session's sum in US dollars, absent while no model had a price. */
export interface SessionUsage {
  readonly used: number
  readonly size: number
  readonly cost?: number
}

export interface SessionState {
  /** What the model has seen, as encoded `effect/ai` prompt messages. */
  readonly context: ReadonlyArray<Schema.Json>
  /** Announced calls without a final status, with everything that was patched so far. */
  readonly openCalls: ReadonlyMap<ToolCallId, ToolCall>
  /** A summing up that began and has no end yet. */
  readonly openCompaction: CompactionId | undefined
  readonly plan: ReadonlyArray<PlanEntry>
  readonly title: string | undefined
  readonly usage: SessionUsage | undefined
  readonly settings: ChosenSettings
  /** One per subject: a later answer replaces the earlier one. */
  readonly grants: ReadonlyArray<Grant>
  readonly turnOpen: boolean
  /** How many turns began. */
  readonly turns: number
  /** What turns changed in files and was not taken back, the last turn last. */
  readonly changes: ReadonlyArray<TurnChanges>
  /** User messages that were logged and are not in the context yet. */
  readonly unreadPrompts: ReadonlyArray<ReadonlyArray<Content>>
  /** Text of the running turn that was told and is not in the context yet. */
  readonly uncommitted: string
}

export const empty: SessionState = {
  context: [],
  openCalls: new Map(),
  openCompaction: undefined,
  plan: [],
  title: undefined,
  usage: undefined,
  settings: {},
  grants: [],
  turnOpen: false,
  turns: 0,
  changes: [],
  unreadPrompts: [],
  uncommitted: ""
}

const withCall = (state: SessionState, call: ToolCall): SessionState => {
  const openCalls = new Map(state.openCalls)
  if (isFinal(call.status)) openCalls.delete(call.id)
  else openCalls.set(call.id, call)
  return { ...state, openCalls }
}

const withGrant = (state: SessionState, grant: Grant): SessionState => ({
  ...state,
  grants: [...state.grants.filter(({ access, subject }) => access !== grant.access || subject !== grant.subject), grant]
})

/** Everything that an entry changes, except that messages are left for the caller to add. */
const advance = (state: SessionState, entry: Entry): SessionState => {
  switch (entry._tag) {
    case "UserMessage":
      return { ...state, unreadPrompts: [...state.unreadPrompts, entry.content] }
    case "TextDelta":
      return state.turnOpen ? { ...state, uncommitted: state.uncommitted + entry.text } : state
    case "ThoughtDelta":
      return state
    case "ToolCallStarted":
      return withCall(state, entry.call)
    case "ToolCallUpdated": {
      const call = state.openCalls.get(entry.id)
      return call === undefined ? state : withCall(state, { ...call, ...entry.patch })
    }
    case "PlanUpdated":
      return { ...state, plan: entry.entries }
    case "UsageUpdated": {
      const cost = entry.cost ?? state.usage?.cost
      return { ...state, usage: { used: entry.used, size: entry.size, ...(cost === undefined ? {} : { cost }) } }
    }
    case "CompactionUpdated":
      return { ...state, openCompaction: entry.status === "in_progress" ? entry.id : undefined }
    case "InfoUpdated":
      return entry.title === undefined ? state : { ...state, title: entry.title }
    case "ContextAppended":
      return {
        ...state,
        uncommitted: "",
        unreadPrompts: entry.messages.some((message) => roleOf(message) === "user") ? [] : state.unreadPrompts
      }
    case "ContextTruncated":
      return { ...state, uncommitted: "", unreadPrompts: [] }
    case "Compacted":
      return { ...state, uncommitted: "" }
    case "Configured": {
      const { _tag, ...chosen } = entry
      return { ...state, settings: { ...state.settings, ...chosen } }
    }
    case "Granted":
      return withGrant(state, entry.grant)
    case "FileChanged":
      return { ...state, changes: withChange(state.changes, state.turns, entry.change) }
    case "ChangesUndone":
      return { ...state, changes: withoutChanges(state.changes, entry.turn, entry.count) }
    case "Reopened":
      return state
    case "TurnStarted":
      return { ...state, turnOpen: true, turns: state.turns + 1, uncommitted: "" }
    case "TurnEnded":
      // A turn that ended has decided what the model keeps; text it left out, such as a shown error, stays out.
      return { ...state, turnOpen: false, uncommitted: "", unreadPrompts: [] }
  }
}

/** Folds many entries at once: linear in the log, where one copy of the context per entry would not be. */
export const foldAll = (state: SessionState, entries: Iterable<Entry>): SessionState => {
  let context: Array<Schema.Json> | undefined
  let next = state
  for (const entry of entries) {
    next = advance(next, entry)
    switch (entry._tag) {
      case "ContextAppended":
        context ??= [...state.context]
        for (const message of entry.messages) context.push(message)
        break
      case "ContextTruncated":
        context ??= [...state.context]
        context.length = Math.min(context.length, entry.length)
        break
      case "Compacted":
        context = [...entry.messages]
        break
      default:
    }
  }
  return context === undefined ? next : { ...next, context }
}

export const fold = (state: SessionState, entry: Entry): SessionState => foldAll(state, [entry])

/**
 * The entries that close what a turn left open when it was stopped: calls end `failed`, showing `why` beside what they
 * showed, and what was told stays in the context (F22). None after a turn that came to its end.
 */
export const closing = (state: SessionState, why: string): ReadonlyArray<Entry> => {
  const entries: Array<Entry> = []
  for (const [id, { content, rawOutput }] of state.openCalls) {
    const patch: ToolCallPatch = {
      status: "failed",
      content: [...content, textContent(why)],
      ...(rawOutput === undefined ? {} : { rawOutput })
    }
    entries.push({ _tag: "ToolCallUpdated", id, patch })
  }
  if (state.openCompaction !== undefined) {
    entries.push({ _tag: "CompactionUpdated", id: state.openCompaction, status: "cancelled" })
  }
  const messages = state.unreadPrompts.map(userMessage)
  if (state.uncommitted !== "") messages.push(assistantMessage(state.uncommitted))
  if (messages.length > 0) entries.push({ _tag: "ContextAppended", messages })
  return entries
}

const STOPPED = "The agent stopped before this call finished; whether it had an effect is unknown."

/**
 * The entries that close a torn log, in the order in which a turn would have written them; none for a log that ended
 * well. After them nothing is open. Calls that the context holds without a result are left to the next turn.
 */
export const repair = (state: SessionState): ReadonlyArray<Entry> => [
  ...closing(state, STOPPED),
  ...(state.turnOpen ? [{ _tag: "TurnEnded", outcome: { stopReason: "cancelled" } } as const] : [])
]
