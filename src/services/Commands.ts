/** Answers slash commands, without a model. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { CommandName } from "../domain/Command.ts"
import type { Entry } from "../domain/session/Session.ts"
import type { SessionState } from "../domain/session/SessionState.ts"
import type { DiffResult, UndoResult } from "./Changes.ts"
import type { Workspace } from "./Workspace.ts"

/** The session that a command is for. */
export interface CommandSession {
  readonly workspace: Workspace
  readonly state: () => SessionState
  readonly log: (entry: Entry) => Effect.Effect<void>
  /** The MCP servers, in words. */
  readonly servers: Effect.Effect<string>
}

/** What `Commands` promises. */
export interface CommandsShape {
  /** What is said to the person, as Markdown. */
  readonly run: (name: CommandName, session: CommandSession) => Effect.Effect<string>
  readonly undo: (session: CommandSession) => Effect.Effect<UndoResult>
  readonly diff: (session: CommandSession) => Effect.Effect<DiffResult>
}

/** The commands that need no model. */
export class Commands extends Context.Service<Commands, CommandsShape>()("super-pi/Commands") {}
