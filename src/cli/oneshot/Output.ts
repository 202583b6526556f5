/**
 * What a single task prints for programs: `--output-format stream-json` has a line for each thing that happens and a result at
 * the end, `json` has the result alone. Every line is a JSON object; readers must ignore types and members that they do not know.
 */
import * as Schema from "effect/Schema"
import { PlanEntry } from "../../domain/Event.ts"
import { ToolKind, ToolLocation, ToolStatus } from "../../domain/Tool.ts"
import { StopReason, TurnUsage } from "../../domain/Turn.ts"

/** The first line. `resumed`: the session is an earlier one. */
const SessionLine = Schema.Struct({
  type: Schema.tag("session"),
  sessionId: Schema.String,
  cwd: Schema.String,
  model: Schema.String,
  mode: Schema.String,
  resumed: Schema.Boolean,
  version: Schema.String
})

/** What a person sent; in exports, since whoever gives a task knows it. */
const UserLine = Schema.Struct({ type: Schema.tag("user"), messageId: Schema.String, text: Schema.String })

/** A piece of what the agent says; pieces with one `messageId` are one message. */
const TextLine = Schema.Struct({ type: Schema.tag("text"), messageId: Schema.String, text: Schema.String })

/** The same of what it thinks. */
const ThoughtLine = Schema.Struct({ type: Schema.tag("thought"), messageId: Schema.String, text: Schema.String })

/** A call of a tool began. `name` is what the model called, `title` is for people. */
const ToolCallLine = Schema.Struct({
  type: Schema.tag("tool_call"),
  id: Schema.String,
  name: Schema.String,
  title: Schema.String,
  kind: ToolKind,
  status: ToolStatus,
  locations: Schema.Array(ToolLocation),
  input: Schema.optionalKey(Schema.Json),
  /** The call of `task` in which a subagent made it. */
  parent: Schema.optionalKey(Schema.String)
})

/** It changed: only what did. `output` is what it shows so far, as text; a later one replaces it. */
const ToolCallUpdateLine = Schema.Struct({
  type: Schema.tag("tool_call_update"),
  id: Schema.String,
  title: Schema.optionalKey(Schema.String),
  status: Schema.optionalKey(ToolStatus),
  locations: Schema.optionalKey(Schema.Array(ToolLocation)),
  input: Schema.optionalKey(Schema.Json),
  output: Schema.optionalKey(Schema.String)
})

/** The complete plan, every time. */
const PlanLine = Schema.Struct({ type: Schema.tag("plan"), entries: Schema.Array(PlanEntry) })

/** Tokens of the context window, and the US dollars of the session so far where prices are known. */
const UsageLine = Schema.Struct({
  type: Schema.tag("usage"),
  used: Schema.Int,
  size: Schema.Int,
  cost: Schema.optionalKey(Schema.Finite)
})

const NoticeLine = Schema.Struct({
  type: Schema.tag("notice"),
  severity: Schema.Literals(["info", "warning", "error"]),
  title: Schema.String,
  description: Schema.optionalKey(Schema.String)
})

/** A call that was not allowed, because nobody could be asked or somebody said no. */
const Refusal = Schema.Struct({ toolCallId: Schema.String, title: Schema.String, reason: Schema.String })

/** A question about a call, and what came of it. */
const PermissionLine = Schema.Struct({
  type: Schema.tag("permission"),
  toolCallId: Schema.String,
  title: Schema.String,
  allowed: Schema.Boolean
})

/** The last line. `exitCode` is that of the program; `text` is the answer, whole or as far as it came. */
export const ResultLine = Schema.Struct({
  type: Schema.tag("result"),
  outcome: Schema.Literals(["done", "failed", "refused", "cancelled"]),
  exitCode: Schema.Int,
  text: Schema.String,
  sessionId: Schema.optionalKey(Schema.String),
  model: Schema.optionalKey(Schema.String),
  stopReason: Schema.optionalKey(StopReason),
  error: Schema.optionalKey(
    Schema.Struct({
      message: Schema.String,
      kind: Schema.optionalKey(Schema.String),
      status: Schema.optionalKey(Schema.Int),
      retryAfter: Schema.optionalKey(Schema.Finite)
    })
  ),
  refused: Schema.Array(Refusal),
  usage: Schema.optionalKey(TurnUsage),
  cost: Schema.optionalKey(Schema.Finite),
  durationMs: Schema.Int
})
export type ResultLine = typeof ResultLine.Type

/** A line of `stream-json`. */
export const StreamLine = Schema.Union([
  SessionLine,
  UserLine,
  TextLine,
  ThoughtLine,
  ToolCallLine,
  ToolCallUpdateLine,
  PlanLine,
  UsageLine,
  NoticeLine,
  PermissionLine,
  ResultLine
])
export type StreamLine = typeof StreamLine.Type

/** Every line as JSON Schema, as it is shipped in `docs`. */
export const streamJsonSchema = () => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(StreamLine)
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A line of super-pi -p --output-format stream-json",
    ...schema,
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions })
  }
}
