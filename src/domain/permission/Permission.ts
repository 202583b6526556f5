/** What a tool call wants to touch, the question that follows from it, and what a person can answer. */
import * as Schema from "effect/Schema"
import type { SessionId, ToolCallId } from "../Ids.ts"
import type { ToolCallPatch } from "../Tool.ts"

/**
 * What must be allowed before a call runs. Paths are absolute; `outside` lists those outside the workspace roots, of a
 * command only those to which a link in the workspace leads.
 */
export type Access =
  | { readonly _tag: "None" }
  | { readonly _tag: "Read"; readonly paths: ReadonlyArray<string>; readonly outside: ReadonlyArray<string> }
  | {
      readonly _tag: "Edit"
      readonly paths: ReadonlyArray<string>
      readonly outside: ReadonlyArray<string>
      /** Those of `paths` whose content gets another name, under which rules for reading would no longer know it. */
      readonly reads?: ReadonlyArray<string>
    }
  | {
      readonly _tag: "Execute"
      readonly command: string
      readonly cwd: string
      readonly outside?: ReadonlyArray<string>
      /** The model wants it to run outside of the sandbox. */
      readonly unsandboxed?: boolean
    }
  | { readonly _tag: "Fetch"; readonly url: string }
  | { readonly _tag: "Mcp"; readonly server: string; readonly tool: string }

/** What choosing an option means. Editors pick icons by it. */
export const OptionKind = Schema.Literals(["allow_once", "allow_always", "reject_once", "reject_always"])
export type OptionKind = typeof OptionKind.Type

/** One possible answer to a question. `id` is unique within the question; `name` is its label. */
export interface PermissionOption {
  readonly id: string
  readonly name: string
  readonly kind: OptionKind
}

/** `call` refers to a tool call that was announced before (PRM-02); `patch` is what a person needs to judge it. */
export interface Question {
  readonly sessionId: SessionId
  readonly call: { readonly id: ToolCallId; readonly patch: ToolCallPatch }
  readonly options: ReadonlyArray<PermissionOption>
}

/**
 * Anything that is not an offered option is no approval (PRM-03); `Unanswered` covers errors and malformed answers, `Gone`
 * an editor that went away before it answered.
 */
export type Answer =
  | { readonly _tag: "Selected"; readonly optionId: string; readonly message?: string }
  | { readonly _tag: "Cancelled" }
  | { readonly _tag: "Unanswered"; readonly reason: string }
  | { readonly _tag: "Gone" }

/** Why a call may run or not. `reason` is told to the model and shown in the failed call. */
export type Decision = { readonly _tag: "Allowed" } | { readonly _tag: "Denied"; readonly reason: string }

/**
 * An "always" answer: one exact subject of one kind of access. `Unsandboxed` is a command with nothing to confine it. A
 * command was allowed in `folder` alone; absent, in the session's.
 */
export const Grant = Schema.Struct({
  verdict: Schema.Literals(["allow", "reject"]),
  access: Schema.Literals(["Edit", "Execute", "Unsandboxed", "Fetch", "Mcp", "Read"]),
  subject: Schema.String,
  folder: Schema.optionalKey(Schema.String)
})
export type Grant = typeof Grant.Type
