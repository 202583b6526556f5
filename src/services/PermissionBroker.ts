/** One decision per tool call: deny > ask > allow rules, remembered answers, the read-only list, the mode. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ExecutionMode } from "../domain/ExecutionMode.ts"
import type { SessionId, ToolCallId } from "../domain/Ids.ts"
import type { Access, Answer, Decision, Grant, Question } from "../domain/Permission.ts"
import type { ToolCallPatch } from "../domain/Tool.ts"

export interface PermissionRequest {
  readonly sessionId: SessionId
  readonly call: { readonly id: ToolCallId; readonly patch: ToolCallPatch }
  readonly access: Access
  readonly cwd: string
  readonly mode: ExecutionMode
  /** "Always" answers of this session so far. */
  readonly grants: ReadonlyArray<Grant>
  /** Absent when nobody can be asked: what would be asked is denied. */
  readonly ask: ((question: Question) => Effect.Effect<Answer>) | undefined
  /** Keeps an "always" answer with the session. */
  readonly remember: (grant: Grant) => Effect.Effect<void>
}

export interface PermissionBrokerShape {
  readonly decide: (request: PermissionRequest) => Effect.Effect<Decision>
}

export class PermissionBroker extends Context.Service<PermissionBroker, PermissionBrokerShape>()(
  "super-pi/PermissionBroker"
) {}
