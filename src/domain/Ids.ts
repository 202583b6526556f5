/** Branded identifiers. All are opaque, non-empty strings chosen by this agent. */
import * as Schema from "effect/Schema"

/** One conversation, in one spelling everywhere: wire, store, logs. */
export const SessionId = Schema.NonEmptyString.pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

/** One message: the same on all of its chunks, new for the next message (TRN-05). */
export const MessageId = Schema.NonEmptyString.pipe(Schema.brand("MessageId"))
export type MessageId = typeof MessageId.Type

/** One summing up of a conversation, unique in its session (TRN-14). */
export const CompactionId = Schema.NonEmptyString.pipe(Schema.brand("CompactionId"))
export type CompactionId = typeof CompactionId.Type

/** One tool call, unique in its session whatever id the provider used (TOL-01). */
export const ToolCallId = Schema.NonEmptyString.pipe(Schema.brand("ToolCallId"))
export type ToolCallId = typeof ToolCallId.Type
