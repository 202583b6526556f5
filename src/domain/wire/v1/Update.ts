/** What an agent tells about a session while it works, and again when the session is loaded. */
import * as Schema from "effect/Schema"
import { SessionId } from "../../Ids.ts"
import { PlanEntry as DomainPlanEntry } from "../../Event.ts"
import * as Lenient from "../Lenient.ts"
import { ConfigOption } from "./Config.ts"
import { ContentBlock } from "./Content.ts"
import { toolCall, toolCallUpdate } from "./Tool.ts"

const variant = <const Tag extends string, const Fields extends Schema.Struct.Fields>(tag: Tag, fields: Fields) =>
  Schema.Struct({ sessionUpdate: Schema.Literal(tag), ...fields })

/** One piece of a message; pieces with the same `messageId` belong together (TRN-05). */
const chunk = { content: ContentBlock, messageId: Lenient.drop(Schema.String), _meta: Lenient.meta }

export const PlanEntry = Schema.Struct({ ...DomainPlanEntry.fields, _meta: Lenient.meta })

export const AvailableCommand = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  input: Lenient.drop(Schema.Struct({ hint: Schema.String, _meta: Lenient.meta })),
  _meta: Lenient.meta
})

export const Cost = Schema.Struct({ amount: Schema.Finite, currency: Schema.String, _meta: Lenient.meta })

export const UserMessageChunk = variant("user_message_chunk", chunk)
export const AgentMessageChunk = variant("agent_message_chunk", chunk)
export const AgentThoughtChunk = variant("agent_thought_chunk", chunk)
export const ToolCall = variant("tool_call", toolCall)
export const ToolCallUpdate = variant("tool_call_update", toolCallUpdate)
export const Plan = variant("plan", { entries: Schema.Array(PlanEntry), _meta: Lenient.meta })
export const AvailableCommands = variant("available_commands_update", {
  availableCommands: Schema.Array(AvailableCommand),
  _meta: Lenient.meta
})
export const CurrentMode = variant("current_mode_update", { currentModeId: Schema.String, _meta: Lenient.meta })
export const ConfigOptions = variant("config_option_update", {
  configOptions: Schema.Array(ConfigOption),
  _meta: Lenient.meta
})
/** `null` clears, a missing key changes nothing (SES-27). */
export const SessionInfo = variant("session_info_update", {
  title: Lenient.drop(Schema.NullOr(Schema.String)),
  updatedAt: Lenient.drop(Schema.NullOr(Schema.String)),
  _meta: Lenient.meta
})
/** `used` and `size` are tokens of the context window. */
export const Usage = variant("usage_update", {
  used: Schema.Natural,
  size: Schema.Natural,
  cost: Lenient.drop(Cost),
  _meta: Lenient.meta
})
/** `severity` is info, warning, error, or a name that starts with an underscore. */
export const Notice = variant("notice", {
  severity: Schema.String,
  title: Schema.NonEmptyString,
  description: Lenient.drop(Schema.String),
  _meta: Lenient.meta
})
/** `status` is in_progress, completed, failed, cancelled, or a name that starts with an underscore. */
export const Compaction = variant("compaction_update", {
  compactionId: Schema.String,
  status: Schema.String,
  summary: Lenient.drop(Schema.Array(ContentBlock)),
  error: Lenient.drop(Schema.String),
  _meta: Lenient.meta
})
export const CompactionSummaryChunk = variant("compaction_summary_chunk", {
  compactionId: Schema.String,
  content: ContentBlock,
  _meta: Lenient.meta
})

export const SessionUpdate = Schema.Union([
  UserMessageChunk,
  AgentMessageChunk,
  AgentThoughtChunk,
  ToolCall,
  ToolCallUpdate,
  Plan,
  AvailableCommands,
  CurrentMode,
  ConfigOptions,
  SessionInfo,
  Usage,
  Notice,
  Compaction,
  CompactionSummaryChunk
])

export const SessionNotification = Schema.Struct({
  sessionId: SessionId,
  update: SessionUpdate,
  _meta: Lenient.meta
})
