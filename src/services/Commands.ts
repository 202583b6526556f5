/** Slash commands: what can be typed after a slash, and what becomes of it. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { CommandInfo, Typed } from "../domain/Command.ts"
import type { Content } from "../domain/Content.ts"
import type { Event } from "../domain/Event.ts"
import type { InvalidInput, StoreFailed } from "../domain/Failure.ts"
import type { Harness } from "../domain/Harness.ts"
import type { ConfigOption } from "../domain/session/Config.ts"
import type { NumberedEntry } from "../domain/session/Position.ts"
import type { Entry } from "../domain/session/Session.ts"
import type { SessionState } from "../domain/session/SessionState.ts"
import type { TurnUsage } from "../domain/Turn.ts"
import type { DiffResult, UndoResult } from "./Changes.ts"
import type { McpPrompt, McpStatus } from "./McpManager.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"
import type { TurnSession } from "./Turn.ts"
import type { Workspace } from "./Workspace.ts"

/** What of a session decides which commands it has. */
export interface CommandPlace {
  readonly cwd: string
  readonly harness: Harness
  /** Of the MCP servers that are there. Does not wait for any. */
  readonly prompts: Effect.Effect<ReadonlyArray<McpPrompt>>
}

/** The session that a command is for, as the one who typed it sees it. */
export interface CommandSession extends CommandPlace {
  readonly workspace: Workspace
  readonly state: () => SessionState
  readonly emit: (event: Event) => Effect.Effect<void>
  readonly log: (entry: Entry) => Effect.Effect<void>
  /** The whole log, until now. */
  readonly history: Stream.Stream<NumberedEntry, StoreFailed>
  readonly servers: Effect.Effect<ReadonlyArray<McpStatus>>
  /** The same as its client is shown, and the same as when its client chooses. */
  readonly options: Effect.Effect<ReadonlyArray<ConfigOption>>
  readonly choose: (option: string, value: string) => Effect.Effect<void, InvalidInput>
  readonly turn: TurnSession
}

/** `Said` is for the person, as Markdown, and may have taken a model's tokens. `Asks` is a prompt for the model, which may want a model of its own. */
export type CommandAnswer =
  | { readonly _tag: "Said"; readonly text: string; readonly usage?: TurnUsage }
  | { readonly _tag: "Asks"; readonly content: ReadonlyArray<Content>; readonly model?: string }

/** The skills that a model can open. */
export interface SkillOffer {
  /** What it is told of them; nothing where there are none. */
  readonly text: string
  readonly tools: ReadonlyArray<ToolDefinition>
}

/** What can be typed in a session. */
export interface CommandList {
  readonly commands: ReadonlyArray<CommandInfo>
  /** What is wrong in files of commands, for the person. */
  readonly problems: ReadonlyArray<string>
}

/** What `Commands` promises. */
export interface CommandsShape {
  /** All that can be typed, the built-in ones first. Names are unique. Looks at the files each time. */
  readonly list: (place: CommandPlace) => Effect.Effect<CommandList>
  /** Undefined for a name that no command has: then it is a text for the model. */
  readonly run: (typed: Typed, session: CommandSession) => Effect.Effect<CommandAnswer | undefined>
  readonly skills: (place: CommandPlace) => Effect.Effect<SkillOffer>
  readonly undo: (session: CommandSession) => Effect.Effect<UndoResult>
  readonly diff: (session: CommandSession) => Effect.Effect<DiffResult>
}

/** The slash commands of sessions. */
export class Commands extends Context.Service<Commands, CommandsShape>()("super-pi/Commands") {}
