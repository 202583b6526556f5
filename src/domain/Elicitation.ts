/** A question to a person beside permissions: a form, or a page to open. Nothing secret goes through a form (ELI-04). */
import type * as Schema from "effect/Schema"
import type { SessionId, ToolCallId } from "./Ids.ts"

interface Asked {
  readonly sessionId: SessionId
  /** The call that asks, if it is one (ELI-09). */
  readonly callId?: ToolCallId
  readonly message: string
}

/** `schema` is a flat JSON Schema of an object (ELI-03). `elicitationId` is unique among the open ones (ELI-05). */
export type Elicitation =
  | (Asked & { readonly _tag: "Form"; readonly schema: Schema.JsonObject })
  | (Asked & { readonly _tag: "Url"; readonly url: string; readonly elicitationId: string })

/** `Unanswered` covers errors and malformed answers, `Gone` an editor that went away before it answered. */
export type ElicitationAnswer =
  | { readonly _tag: "Accepted"; readonly content: Schema.JsonObject }
  | { readonly _tag: "Declined" }
  | { readonly _tag: "Cancelled" }
  | { readonly _tag: "Unanswered"; readonly reason: string }
  | { readonly _tag: "Gone" }
