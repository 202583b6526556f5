/** What a tool is: a description for the model, and a way from raw input to a call that can be judged and run. */
import type * as AiTool from "effect/ai/Tool"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Elicitation, ElicitationAnswer } from "../domain/Elicitation.ts"
import type { PlanEntry } from "../domain/Event.ts"
import type { ToolCallId } from "../domain/Ids.ts"
import type { Access } from "../domain/permission/Permission.ts"
import type { SandboxProfile } from "../domain/sandbox/Profile.ts"
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
  readonly callId: ToolCallId
  /** How closely commands are confined at this moment. */
  readonly sandbox: Effect.Effect<SandboxProfile>
  /** Asks a person; absent when nobody can be asked in that way. */
  readonly elicit: ((request: Elicitation) => Effect.Effect<ElicitationAnswer>) | undefined
  /** Runs a change of these files, absolute paths, and keeps what they were and what they are, so that it can be undone. */
  readonly recording: <A, E>(paths: ReadonlyArray<string>, change: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** The same for a command that may change any file of the workspace. */
  readonly recordingAll: <A, E>(change: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Replaces the plan of the session. */
  readonly plan: (entries: ReadonlyArray<PlanEntry>) => Effect.Effect<void>
  /** What a tool that looks below a folder may show of it; none: everything. The folder itself was judged with the call. */
  readonly readable: Effect.Effect<Option.Option<Readable>>
  /**
   * Shows unfinished work; superseded by the outcome. `fresh` is what is new of the output since the last time, for clients
   * that keep what they were shown.
   */
  readonly progress: (patch: ToolCallPatch, fresh?: string) => Effect.Effect<void>
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
