/** Tool calls as the world sees them: announced once, patched, and brought to exactly one final status. */
import * as Schema from "effect/Schema"
import { Content } from "./Content.ts"
import { ToolCallId } from "./Ids.ts"
import { fenced } from "./text/Fence.ts"

/** What a call does, for the icon that an editor shows. */
export const ToolKind = Schema.Literals([
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
  "other"
])
export type ToolKind = typeof ToolKind.Type

/** `pending` while the input streams or approval is open, `in_progress` only after approval (TOL-04). */
export const ToolStatus = Schema.Literals(["pending", "in_progress", "completed", "failed"])
export type ToolStatus = typeof ToolStatus.Type

/** `path` is absolute and normalised, never a glob; `line` counts from 1 (F74). */
export const ToolLocation = Schema.Struct({ path: Schema.String, line: Schema.optionalKey(Schema.Int) })
export type ToolLocation = typeof ToolLocation.Type

/** Whole texts before and after; `oldText` is null only for a file that did not exist (TOL-07). */
export const FileDiff = Schema.Struct({
  type: Schema.tag("diff"),
  path: Schema.String,
  oldText: Schema.NullOr(Schema.String),
  newText: Schema.String
})

/**
 * What a command wrote, without control sequences. `ending` says in words how it ended, `exitCode` or `signal` for
 * programs; all are absent while it runs. Each client is shown it in the way that it can.
 */
export const CommandOutput = Schema.Struct({
  type: Schema.tag("output"),
  text: Schema.String,
  ending: Schema.optionalKey(Schema.String),
  exitCode: Schema.optionalKey(Schema.Int),
  signal: Schema.optionalKey(Schema.String)
})
export type CommandOutput = typeof CommandOutput.Type

/** What a call shows to a person: content, the change of a file, or the output of a command. */
export const ToolContent = Schema.Union([
  Schema.Struct({ type: Schema.tag("content"), content: Content }),
  FileDiff,
  CommandOutput
])
export type ToolContent = typeof ToolContent.Type

/** `name` is the name that the model calls; `title` is for people. */
export const ToolCall = Schema.Struct({
  id: ToolCallId,
  name: Schema.String,
  title: Schema.String,
  kind: ToolKind,
  status: ToolStatus,
  locations: Schema.Array(ToolLocation),
  content: Schema.Array(ToolContent),
  rawInput: Schema.optionalKey(Schema.Json),
  rawOutput: Schema.optionalKey(Schema.Json),
  /** The call in which a subagent made this one. */
  parent: Schema.optionalKey(ToolCallId)
})
export type ToolCall = typeof ToolCall.Type

/** Only what changed; arrays replace the whole collection (TOL-05). */
export const ToolCallPatch = Schema.Struct({
  title: Schema.optionalKey(Schema.String),
  kind: Schema.optionalKey(ToolKind),
  status: Schema.optionalKey(ToolStatus),
  locations: Schema.optionalKey(Schema.Array(ToolLocation)),
  content: Schema.optionalKey(Schema.Array(ToolContent)),
  rawInput: Schema.optionalKey(Schema.Json),
  rawOutput: Schema.optionalKey(Schema.Json)
})
export type ToolCallPatch = typeof ToolCallPatch.Type

export const isFinal = (status: ToolStatus): boolean => status === "completed" || status === "failed"

export const textContent = (text: string): ToolContent => ({ type: "content", content: { type: "text", text } })

/** Output as text that a person reads, inside a fence. */
export const outputText = ({ ending, text }: CommandOutput): string =>
  [...(text === "" ? [] : [fenced(text)]), ...(ending === undefined ? [] : [ending])].join("\n")
