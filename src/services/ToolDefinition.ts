/** What a tool is: a description for the model, and a way from raw input to a call that can be judged and run. */
import type * as AiTool from "effect/ai/Tool"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { PlanEntry } from "../domain/Event.ts"
import type { Access } from "../domain/permission/Permission.ts"
import type { ToolCallPatch, ToolContent, ToolKind, ToolLocation } from "../domain/Tool.ts"
import type { Readable } from "./PermissionBroker.ts"
import type { Workspace } from "./Workspace.ts"

/** The model's input does not fit. `message` goes back to the model and names the field. */
export class ToolInputInvalid extends Schema.TaggedError<ToolInputInvalid>()("ToolInputInvalid", {
  message: Schema.String
}) {}

/** What a running call may tell while it runs. */
export interface ToolContext {
  readonly workspace: Workspace
  /** Replaces the plan of the session. */
  readonly plan: (entries: ReadonlyArray<PlanEntry>) => Effect.Effect<void>
  /** What a tool that looks below a folder may show of it; none: everything. The folder itself was judged with the call. */
  readonly readable: Effect.Effect<Option.Option<Readable>>
  /** Shows unfinished work; superseded by the outcome. */
  readonly progress: (patch: ToolCallPatch) => Effect.Effect<void>
}

/** How a call ended. A failed call is an outcome and no error: the model reads `text` either way. */
export interface ToolOutcome {
  readonly status: "completed" | "failed"
  /** What the model reads. */
  readonly text: string
  /** What a person sees. */
  readonly content: ReadonlyArray<ToolContent>
  readonly locations?: ReadonlyArray<ToolLocation>
  readonly rawOutput?: Schema.Json
}

/** A call whose input is understood: it can be shown, judged and run. */
export interface PreparedCall {
  readonly title: string
  readonly kind: ToolKind
  readonly locations: ReadonlyArray<ToolLocation>
  /** What a person needs to judge the call, such as the diff of an edit. */
  readonly preview: ReadonlyArray<ToolContent>
  readonly access: Access
  readonly run: (context: ToolContext) => Effect.Effect<ToolOutcome>
}

/** A tool: what the model is told of it, and how its input becomes a call. */
export interface ToolDefinition {
  /** Name, description and parameters, as `effect/ai` gives them to the model. */
  readonly tool: AiTool.Any
  readonly kind: ToolKind
  /** Shown until the input is understood. */
  readonly title: string
  /** `shared` calls of one step run side by side; an `exclusive` one runs alone, in order. */
  readonly concurrency: "shared" | "exclusive"
  readonly prepare: (input: unknown, workspace: Workspace) => Effect.Effect<PreparedCall, ToolInputInvalid>
}
