/** One turn: the model and its tools, in a loop, until an outcome. Loaded at the first prompt. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Content } from "../domain/Content.ts"
import type { Elicitation, ElicitationAnswer } from "../domain/Elicitation.ts"
import type { Event } from "../domain/Event.ts"
import type { ExecutionMode } from "../domain/permission/ExecutionMode.ts"
import type { StoreFailed } from "../domain/Failure.ts"
import type { Harness } from "../domain/Harness.ts"
import type { Answer, Grant, Question } from "../domain/permission/Permission.ts"
import type { Entry } from "../domain/session/Session.ts"
import type { Outcome } from "../domain/Turn.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"
import type { Workspace } from "./Workspace.ts"

/** What a turn needs of its session. Values are read when they are needed, so a change in mid-turn takes effect. */
export interface TurnSession {
  readonly workspace: Workspace
  readonly harness: Harness
  readonly model: Effect.Effect<{ readonly id: string; readonly effort: string | undefined }>
  readonly mode: Effect.Effect<ExecutionMode>
  /** Extra instructions of the client, and a replacement of the harness's prompt. */
  readonly rules: string | undefined
  readonly systemPrompt: string | undefined
  /** Tools of the session's MCP servers, read before each request to the model. */
  readonly mcpTools: Effect.Effect<ReadonlyArray<ToolDefinition>>
  /** What the model has seen so far, as encoded `effect/ai` prompt messages. */
  readonly context: Effect.Effect<ReadonlyArray<Schema.Json>>
  readonly grants: Effect.Effect<ReadonlyArray<Grant>>
  /** The cost of earlier turns in US dollars. */
  readonly cost: Effect.Effect<number>
  /** Tells every view and, if it is a stored one, logs it. */
  readonly emit: (event: Event) => Effect.Effect<void>
  /** Logs what nobody is told. */
  readonly log: (entry: Entry) => Effect.Effect<void>
  /**
   * Closes what an answer that broke off left open: its calls end `failed`, showing `why`, and what was told of it stays
   * in the context (F22).
   */
  readonly settle: (why: string) => Effect.Effect<void>
  /** Stores what was told and logged so far. */
  readonly keep: Effect.Effect<void, StoreFailed>
  /** Absent when nobody is there to ask. */
  readonly ask: ((question: Question) => Effect.Effect<Answer>) | undefined
  /** Absent when nobody is there to ask, or no view can show a form. */
  readonly elicit: () => ((request: Elicitation) => Effect.Effect<ElicitationAnswer>) | undefined
}

/** What `Turn` promises. */
export interface TurnShape {
  /**
   * Never fails: a model failure is an outcome. Interruption is a cancel (CAN-03). Whoever runs it settles the session
   * when it was interrupted or died, so that no implementation has to.
   */
  readonly run: (session: TurnSession, prompt: ReadonlyArray<Content>) => Effect.Effect<Outcome>
}

/** Runs the turns of sessions. Replace it to bring a loop of your own. */
export class Turn extends Context.Service<Turn, TurnShape>()("super-pi/Turn") {}
