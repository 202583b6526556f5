/**
 * What a session tells the world, free of any protocol version. One pure function per version turns an event into
 * updates, live and on replay alike, so the two cannot drift.
 */
import * as Schema from "effect/Schema"
import { Content } from "./Content.ts"
import type { ConfigOption } from "./session/Config.ts"
import { CompactionId, MessageId, ToolCallId } from "./Ids.ts"
import { ToolCall, ToolCallPatch } from "./Tool.ts"
import type { Outcome } from "./Turn.ts"

/** A step of a plan. */
export const PlanEntry = Schema.Struct({
  content: Schema.String,
  priority: Schema.Literals(["high", "medium", "low"]),
  status: Schema.Literals(["pending", "in_progress", "completed"])
})
export type PlanEntry = typeof PlanEntry.Type

export const CommandInfo = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  hint: Schema.optionalKey(Schema.String)
})

export const UserMessage = Schema.TaggedStruct("UserMessage", {
  messageId: MessageId,
  content: Schema.Array(Content)
})
export const TextDelta = Schema.TaggedStruct("TextDelta", { messageId: MessageId, text: Schema.String })
export const ThoughtDelta = Schema.TaggedStruct("ThoughtDelta", { messageId: MessageId, text: Schema.String })
export const ToolCallStarted = Schema.TaggedStruct("ToolCallStarted", { call: ToolCall })
export const ToolCallUpdated = Schema.TaggedStruct("ToolCallUpdated", { id: ToolCallId, patch: ToolCallPatch })
/** The complete list, every time (PLN-01). */
export const PlanUpdated = Schema.TaggedStruct("PlanUpdated", { entries: Schema.Array(PlanEntry) })
/** `used` and `size` are tokens of the context window; `cost` is the session's sum so far in US dollars. */
export const UsageUpdated = Schema.TaggedStruct("UsageUpdated", {
  used: Schema.Int,
  size: Schema.Int,
  cost: Schema.optionalKey(Schema.Finite)
})
/** The older part of what the model reads becomes a summary: it begins, and comes to one end. `summary` comes with success. */
export const CompactionUpdated = Schema.TaggedStruct("CompactionUpdated", {
  id: CompactionId,
  status: Schema.Literals(["in_progress", "completed", "failed", "cancelled"]),
  summary: Schema.optionalKey(Schema.String),
  error: Schema.optionalKey(Schema.String)
})
export type CompactionUpdated = typeof CompactionUpdated.Type
/** `updatedAt` is RFC 3339. */
export const InfoUpdated = Schema.TaggedStruct("InfoUpdated", {
  title: Schema.optionalKey(Schema.String),
  updatedAt: Schema.optionalKey(Schema.String)
})

/** Told and kept: these replay. */
export const StoredEvent = Schema.Union([
  UserMessage,
  TextDelta,
  ThoughtDelta,
  ToolCallStarted,
  ToolCallUpdated,
  PlanUpdated,
  UsageUpdated,
  CompactionUpdated,
  InfoUpdated
])
export type StoredEvent = typeof StoredEvent.Type

/** Output of a running call; the final `ToolCallUpdated` supersedes it. */
export interface ToolCallProgress {
  readonly _tag: "ToolCallProgress"
  readonly id: ToolCallId
  readonly patch: ToolCallPatch
  /** What is new of its output; absent when `patch` does not follow what was shown before. */
  readonly fresh?: string
}
export interface ModeChanged {
  readonly _tag: "ModeChanged"
  /** An execution mode, or the name of an agent. */
  readonly mode: string
}
export interface ConfigChanged {
  readonly _tag: "ConfigChanged"
  readonly options: ReadonlyArray<ConfigOption>
}
export interface CommandsChanged {
  readonly _tag: "CommandsChanged"
  readonly commands: ReadonlyArray<typeof CommandInfo.Type>
}
/** A turn began or ended; `outcome` comes with its end. For views that did not send its prompt and get no answer. */
export interface ActivityChanged {
  readonly _tag: "ActivityChanged"
  readonly state: "working" | "idle"
  readonly outcome?: Outcome
}
/** Never carries information that is needed (TRN-13), and is not replayed (SES-09). */
export interface Notice {
  readonly _tag: "Notice"
  readonly severity: "info" | "warning" | "error"
  readonly title: string
  readonly description?: string
}

/** Told and forgotten: a load sends the present state instead. */
export type TransientEvent = ToolCallProgress | ModeChanged | ConfigChanged | CommandsChanged | ActivityChanged | Notice

/** Anything that a session tells its views. */
export type Event = StoredEvent | TransientEvent

/** A record, so that the compiler asks for each of them. */
const transient: Readonly<Record<TransientEvent["_tag"], true>> = {
  ToolCallProgress: true,
  ModeChanged: true,
  ConfigChanged: true,
  CommandsChanged: true,
  ActivityChanged: true,
  Notice: true
}

export const isStored = (event: Event): event is StoredEvent => !Object.hasOwn(transient, event._tag)
