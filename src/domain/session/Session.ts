/** A session is its log. The record is what a list needs; everything else is a fold over entries. */
import * as Schema from "effect/Schema"
import { StoredEvent } from "../Event.ts"
import { AgentChoice } from "../CustomAgent.ts"
import { ExecutionMode } from "../permission/ExecutionMode.ts"
import { FileChange } from "./Changes.ts"
import { HarnessId } from "../Harness.ts"
import { SessionId } from "../Ids.ts"
import { Grant } from "../permission/Permission.ts"
import { Outcome } from "../Turn.ts"

/** Times are RFC 3339. `cwd` is absolute and fixed for the life of the session (SES-02). */
export const SessionRecord = Schema.Struct({
  id: SessionId,
  cwd: Schema.String,
  harness: HarnessId,
  title: Schema.optionalKey(Schema.String),
  parent: Schema.optionalKey(SessionId),
  createdAt: Schema.String,
  updatedAt: Schema.String
})
export type SessionRecord = typeof SessionRecord.Type

/** Messages added to what the model sees, encoded as `effect/ai` prompt messages; opaque here. */
export const ContextAppended = Schema.TaggedStruct("ContextAppended", { messages: Schema.Array(Schema.Json) })
/** What the model sees ends after that many messages, whatever was told since: it was an error, or refused (TRN-08). */
export const ContextTruncated = Schema.TaggedStruct("ContextTruncated", { length: Schema.Natural })
/** What the model sees is these messages from now on, such as a summary of what it saw before. The log keeps all of it. */
export const Compacted = Schema.TaggedStruct("Compacted", { messages: Schema.Array(Schema.Json) })
/** A choice of the user that must survive a reload. Absent keys are unchanged. */
export const Configured = Schema.TaggedStruct("Configured", {
  mode: Schema.optionalKey(ExecutionMode),
  /** Null: none any more. */
  agent: Schema.optionalKey(Schema.NullOr(AgentChoice)),
  model: Schema.optionalKey(Schema.String),
  effort: Schema.optionalKey(Schema.String),
  /** Instructions beside those of the project: of the beginning, and of whoever opened the session last. */
  rules: Schema.optionalKey(Schema.String),
  appended: Schema.optionalKey(Schema.String),
  /** In place of the harness's prompt. */
  systemPrompt: Schema.optionalKey(Schema.String)
})
export const Granted = Schema.TaggedStruct("Granted", { grant: Grant })
/**
 * The log was opened again. The numbers after it begin with the time of that, so that none is used again that a process
 * told somebody of and did not live to store.
 */
export const Reopened = Schema.TaggedStruct("Reopened", {})
/** A file that the turn changed which began last. */
export const FileChanged = Schema.TaggedStruct("FileChanged", { change: FileChange })
/** The first `count` changes of a turn, which are all that were known, were taken back. */
export const ChangesUndone = Schema.TaggedStruct("ChangesUndone", { turn: Schema.Natural, count: Schema.Natural })
export const TurnStarted = Schema.TaggedStruct("TurnStarted", {})
export const TurnEnded = Schema.TaggedStruct("TurnEnded", { outcome: Outcome })

/** One entry of a session's log. */
export const Entry = Schema.Union([
  StoredEvent,
  ContextAppended,
  ContextTruncated,
  Compacted,
  Configured,
  Granted,
  Reopened,
  FileChanged,
  ChangesUndone,
  TurnStarted,
  TurnEnded
])
export type Entry = typeof Entry.Type
