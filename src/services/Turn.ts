/** One turn: the model and its tools, in a loop, until an outcome. Loaded at the first prompt. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { Content } from "../domain/Content.ts"
import type { Elicitation, ElicitationAnswer } from "../domain/Elicitation.ts"
import type { CustomAgent } from "../domain/CustomAgent.ts"
import type { Event } from "../domain/Event.ts"
import type { ExecutionMode } from "../domain/permission/ExecutionMode.ts"
import type { StoreFailed } from "../domain/Failure.ts"
import type { Harness } from "../domain/Harness.ts"
import type { Answer, Grant, Question } from "../domain/permission/Permission.ts"
import type { Entry } from "../domain/session/Session.ts"
import type { Outcome, TurnUsage } from "../domain/Turn.ts"
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
  /** What the model is told of skills that it can open; nothing where there are none. */
  readonly skills: Effect.Effect<string>
  /** Tools beside those of the harness: of the session's MCP servers, and for its skills. Read before each request. */
  readonly ownTools: Effect.Effect<ReadonlyArray<ToolDefinition>>
  /** Those that a task can be handed to, beside the built-in ones. */
  readonly agents: Effect.Effect<ReadonlyArray<CustomAgent>>
  /** What the model has seen so far, as encoded `effect/ai` prompt messages. */
  readonly context: Effect.Effect<ReadonlyArray<Schema.Json>>
  readonly grants: Effect.Effect<ReadonlyArray<Grant>>
  /** Tokens of the last request and its answer, if its provider told. */
  readonly used: Effect.Effect<number | undefined>
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

/** What became of the conversation that a model reads. `before` and `after` are guessed, `usage` is what it took. `Failed` says why, for a person. */
export type CompactionResult =
  | { readonly _tag: "Compacted"; readonly before: number; readonly after: number; readonly usage?: TurnUsage }
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Failed"; readonly message: string }

/** How a tool call ended that no model made. `text` is what a model would read. */
export interface CallResult {
  readonly isFailure: boolean
  readonly text: string
}

/** What `Turn` promises. */
export interface TurnShape {
  /**
   * Never fails: a model failure is an outcome. Interruption is a cancel (CAN-03). Whoever runs it settles the session
   * when it was interrupted or died, so that no implementation has to.
   */
  readonly run: (session: TurnSession, prompt: ReadonlyArray<Content>) => Effect.Effect<Outcome>
  /** Puts a summary in the place of what the model has read. `focus` is what the person wants to be kept. */
  readonly compact: (session: TurnSession, focus: string | undefined) => Effect.Effect<CompactionResult>
  /** One tool call on behalf of the person: told, judged and kept like one of the model, which does not learn of it. */
  readonly call: (session: TurnSession, name: string, input: Schema.Json) => Effect.Effect<CallResult>
}

/** Runs the turns of sessions. Replace it to bring a loop of your own. */
export class Turn extends Context.Service<Turn, TurnShape>()("super-pi/Turn") {
  /** A loop that can do nothing but run turns: conversations are not summed up, and no call is made for the person. */
  static readonly layerOf = (run: TurnShape["run"]): Layer.Layer<Turn> =>
    Layer.succeed(Turn, {
      run,
      compact: () => Effect.succeed({ _tag: "Failed", message: "This agent cannot do that." }),
      call: () => Effect.succeed({ isFailure: true, text: "This agent cannot do that." })
    })
}
