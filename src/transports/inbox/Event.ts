/** What the inbox tells over its streams: small events that a page or a script reads without knowing the protocol. */
import * as Schema from "effect/Schema"
import { OptionKind } from "../../domain/permission/Permission.ts"
import { ToolStatus } from "../../domain/Tool.ts"
import { StopReason } from "../../domain/Turn.ts"

/** `local`: it was posted to this inbox, and not by another client of the conversation. */
const User = Schema.Struct({
  type: Schema.tag("user"),
  role: Schema.tag("user"),
  text: Schema.String,
  local: Schema.optionalKey(Schema.Literal(true))
})
/** A turn began. */
const Typing = Schema.Struct({ type: Schema.tag("typing") })
/** The next piece of the answer. */
const Text = Schema.Struct({ type: Schema.tag("text"), role: Schema.tag("assistant"), text: Schema.String })
/** The next piece of what the model thinks, or of what the agent has to say beside the answer. */
const Thought = Schema.Struct({ type: Schema.tag("thought"), text: Schema.String })
/** A tool call, told anew whenever its title or state changes. */
const Tool = Schema.Struct({
  type: Schema.tag("tool"),
  toolCallId: Schema.String,
  title: Schema.String,
  state: ToolStatus
})
/** A question that somebody has to answer before the turn goes on; the answer names this event's `id`. */
const Permission = Schema.Struct({
  type: Schema.tag("permission"),
  toolCallId: Schema.String,
  title: Schema.String,
  options: Schema.Array(Schema.Struct({ optionId: Schema.String, name: Schema.String, kind: OptionKind }))
})
/** The question is answered, with `optionId` if it was here, or withdrawn. */
const PermissionClosed = Schema.Struct({
  type: Schema.tag("permission_closed"),
  permissionId: Schema.String,
  optionId: Schema.optionalKey(Schema.String)
})
/** The turn ended; the reason is absent where only the log is left to tell of it. */
const Done = Schema.Struct({ type: Schema.tag("done"), stopReason: Schema.optionalKey(StopReason) })
const Failed = Schema.Struct({ type: Schema.tag("error"), text: Schema.String })

/** An event without the fields that all of them share. */
export type Body =
  | typeof User.Type
  | typeof Typing.Type
  | typeof Text.Type
  | typeof Thought.Type
  | typeof Tool.Type
  | typeof Permission.Type
  | typeof PermissionClosed.Type
  | typeof Done.Type
  | typeof Failed.Type

/** `ts` is when it was told, in milliseconds since 1970. `id` is what `since` and `Last-Event-ID` name. */
const head = { id: Schema.String, ts: Schema.Int, sessionId: Schema.String }

export const PermissionEvent = Schema.Struct({ ...head, ...Permission.fields })
export type PermissionEvent = typeof PermissionEvent.Type

export const InboxEvent = Schema.Union([
  Schema.Struct({ ...head, ...User.fields }),
  Schema.Struct({ ...head, ...Typing.fields }),
  Schema.Struct({ ...head, ...Text.fields }),
  Schema.Struct({ ...head, ...Thought.fields }),
  Schema.Struct({ ...head, ...Tool.fields }),
  PermissionEvent,
  Schema.Struct({ ...head, ...PermissionClosed.fields }),
  Schema.Struct({ ...head, ...Done.fields }),
  Schema.Struct({ ...head, ...Failed.fields })
]).annotate({ identifier: "InboxEvent" })
export type InboxEvent = typeof InboxEvent.Type
