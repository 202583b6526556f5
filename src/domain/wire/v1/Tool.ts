/** Tool calls as a client shows them, and the question whether one may run. */
import * as Schema from "effect/Schema"
import { SessionId } from "../../Ids.ts"
import { OptionKind } from "../../permission/Permission.ts"
import { ToolKind, ToolStatus } from "../../Tool.ts"
import * as Lenient from "../Lenient.ts"
import { ContentBlock } from "./Content.ts"

/** `oldText` is `null` or left out only for a file that did not exist (TOL-07). */
export const DiffContent = Schema.Struct({
  type: Schema.Literal("diff"),
  path: Schema.String,
  oldText: Lenient.drop(Schema.NullOr(Schema.String)),
  newText: Schema.String,
  _meta: Lenient.meta
})

export const ToolCallContent = Schema.Union([
  Schema.Struct({ type: Schema.Literal("content"), content: ContentBlock, _meta: Lenient.meta }),
  DiffContent,
  Schema.Struct({ type: Schema.Literal("terminal"), terminalId: Schema.String, _meta: Lenient.meta })
])

/** `line` counts from 1. */
export const ToolCallLocation = Schema.Struct({
  path: Schema.String,
  line: Lenient.drop(Schema.Natural),
  _meta: Lenient.meta
})

const details = {
  toolCallId: Schema.String,
  name: Lenient.drop(Schema.String),
  kind: Lenient.drop(ToolKind),
  status: Lenient.drop(ToolStatus),
  content: Lenient.drop(Schema.Array(ToolCallContent)),
  locations: Lenient.drop(Schema.Array(ToolCallLocation)),
  rawInput: Schema.optionalKey(Schema.Json),
  rawOutput: Schema.optionalKey(Schema.Json),
  _meta: Lenient.meta
}

/** Announces a call. */
export const toolCall = { ...details, title: Schema.String }

/** Changes an announced call; arrays replace the whole collection (TOL-05). */
export const toolCallUpdate = { ...details, title: Lenient.drop(Schema.String) }

export const PermissionOption = Schema.Struct({
  optionId: Schema.String,
  name: Schema.String,
  kind: OptionKind,
  _meta: Lenient.meta
})

export const RequestPermissionRequest = Schema.Struct({
  sessionId: SessionId,
  toolCall: Schema.Struct(toolCallUpdate),
  options: Schema.Array(PermissionOption),
  _meta: Lenient.meta
})

export const RequestPermissionResponse = Schema.Struct({
  outcome: Schema.Union([
    Schema.Struct({ outcome: Schema.Literal("cancelled") }),
    Schema.Struct({ outcome: Schema.Literal("selected"), optionId: Schema.String, _meta: Lenient.meta })
  ]),
  _meta: Lenient.meta
})
