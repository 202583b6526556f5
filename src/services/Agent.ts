/** The facade that every surface calls: version-free intents of one connection. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { ConfigOption } from "../domain/session/Config.ts"
import type { Content } from "../domain/Content.ts"
import type { FoundAgent } from "../domain/CustomAgent.ts"
import type { ExecutionMode } from "../domain/permission/ExecutionMode.ts"
import type { AuthRequired, Busy, InvalidInput, SessionNotFound, StoreFailed } from "../domain/Failure.ts"
import type { Harness } from "../domain/Harness.ts"
import type { SessionId } from "../domain/Ids.ts"
import type { McpSpec } from "../domain/McpSpec.ts"
import type { Position } from "../domain/session/Position.ts"
import type { Outcome } from "../domain/Turn.ts"
import type { AuthMethod } from "./Auth.ts"
import type { DiffResult, UndoResult } from "./Changes.ts"
import type { NewAgent } from "./CustomAgents.ts"
import type { Editor } from "./Editor.ts"
import type { ModeChoice } from "./session/SessionOptions.ts"
import type { SessionFilter, SessionPage } from "./SessionStore.ts"

/** Where a session works. Paths are absolute. */
export interface Place {
  readonly cwd: string
  readonly additionalDirectories: ReadonlyArray<string>
  readonly mcpServers: ReadonlyArray<McpSpec>
}

/** What a client may ask for beside the place. */
export interface SessionWishes {
  readonly harness?: string
  readonly model?: string
  readonly effort?: string
  readonly mode?: ExecutionMode
  /** Wins over `mode` where it is offered, and is no wish where it is not. */
  readonly preferredMode?: ExecutionMode
  /** At the start alone. */
  readonly rules?: string
  /** Added to `rules`. When a session is opened again, it takes the place of what was added before. */
  readonly appended?: string
  readonly systemPrompt?: string
  /** At the start alone: the name of an agent, or one as its fields and `prompt` say. Else that of the settings. */
  readonly agentProfile?: string | Readonly<Record<string, unknown>>
}

/** What `new`, `load`, `resume` and `fork` answer. */
export interface SessionSnapshot {
  readonly sessionId: SessionId
  /** Of `modes`: an execution mode, or the name of a custom agent. */
  readonly mode: string
  readonly modes: ReadonlyArray<ModeChoice>
  readonly options: ReadonlyArray<ConfigOption>
  /** Whether a turn runs at this moment. */
  readonly working: boolean
}

/** The custom agents that a session can have. */
export interface AgentsSnapshot {
  readonly agents: ReadonlyArray<FoundAgent>
  /** The name of the one that it has. */
  readonly current: string | undefined
}

/** What `initialize` advertises; derived from what is installed. */
export interface AgentDescription {
  readonly authMethods: ReadonlyArray<AuthMethod>
  readonly harnesses: ReadonlyArray<Harness>
  /** The id of the one that sessions get which name none. */
  readonly defaultHarness: string
  /** Some model that can be chosen takes images. */
  readonly image: boolean
  readonly mcpHttp: boolean
}

type Open = AuthRequired | InvalidInput | SessionNotFound | StoreFailed

/** The intents of one connection. Sessions that it opens attach its editor as a view. */
export interface AgentConnection {
  readonly describe: Effect.Effect<AgentDescription>
  readonly authenticate: (
    methodId: string,
    token: Redacted.Redacted<string> | undefined
  ) => Effect.Effect<void, AuthRequired | InvalidInput>
  readonly logout: Effect.Effect<void>
  readonly newSession: (place: Place, wishes: SessionWishes) => Effect.Effect<SessionSnapshot, Open>
  /**
   * Tells the history, the whole of it or what came `after`, to this connection's editor, then the present state, then
   * answers (SES-06, SES-07).
   */
  readonly loadSession: (
    id: SessionId,
    place: Place,
    wishes: SessionWishes,
    after?: Position
  ) => Effect.Effect<SessionSnapshot, Open>
  /** Restores the context without telling the history (SES-10). */
  readonly resumeSession: (id: SessionId, place: Place, wishes: SessionWishes) => Effect.Effect<SessionSnapshot, Open>
  readonly forkSession: (id: SessionId, place: Place) => Effect.Effect<SessionSnapshot, Open>
  readonly listSessions: (filter: SessionFilter) => Effect.Effect<SessionPage, InvalidInput | StoreFailed>
  /** Cancels what runs, frees what the session holds; it stays loadable (SES-18). */
  readonly closeSession: (id: SessionId) => Effect.Effect<void, SessionNotFound>
  readonly deleteSession: (id: SessionId) => Effect.Effect<void, StoreFailed>
  /** Waits for the turn. A second prompt on a busy session queues. Interruption cancels this turn. */
  readonly prompt: (
    id: SessionId,
    content: ReadonlyArray<Content>
  ) => Effect.Effect<Outcome, SessionNotFound | InvalidInput | Busy | StoreFailed>
  /** Ends the open questions, then the running turn; harmless on an idle or unknown session (CAN-05). */
  readonly cancel: (id: SessionId) => Effect.Effect<void>
  /** The same as `setOption` for the option of the modes. */
  readonly setMode: (id: SessionId, value: string) => Effect.Effect<void, SessionNotFound | InvalidInput | StoreFailed>
  readonly setOption: (
    id: SessionId,
    option: string,
    value: string
  ) => Effect.Effect<ReadonlyArray<ConfigOption>, SessionNotFound | InvalidInput | StoreFailed>
  readonly listAgents: (id: SessionId) => Effect.Effect<AgentsSnapshot, SessionNotFound>
  /** Writes down an agent that `setMode` can choose then. Refused under the ceiling `plan`. */
  readonly createAgent: (id: SessionId, agent: NewAgent) => Effect.Effect<FoundAgent, SessionNotFound | InvalidInput>
  /** Takes back what the last turn changed in files, all of it or nothing. Refused while a turn runs. */
  readonly undo: (id: SessionId) => Effect.Effect<UndoResult, SessionNotFound | Busy | StoreFailed>
  /** What the session changed in files so far. */
  readonly diff: (id: SessionId) => Effect.Effect<DiffResult, SessionNotFound>
  /** Tells the state that follows the answer of `session/new`: commands, mode and options (SES-05). */
  readonly announce: (id: SessionId) => Effect.Effect<void>
}

/** What a transport decides for its connections. */
export interface ConnectOptions {
  /** The highest mode of the transport. */
  readonly ceiling: ExecutionMode
  /**
   * Whether a turn goes on when the connection is lost, as long as `remoteGrace` of the settings lets it. Default: it
   * ends with the connection.
   */
  readonly lingers?: boolean
  /** What new sessions of this connection start with where the client wishes nothing else. */
  readonly wishes?: SessionWishes
}

/** What `Agent` promises. */
export interface AgentShape {
  /** The scope is the connection: when it closes, its views leave, and its turns are cancelled unless they linger. */
  readonly connect: (editor: Editor, options: ConnectOptions) => Effect.Effect<AgentConnection, never, Scope.Scope>
  /** The sessions in which a turn runs at this moment. */
  readonly working: Effect.Effect<ReadonlyArray<SessionId>>
  /** Waits until no turn runs. */
  readonly idle: Effect.Effect<void>
}

/** The agent of this process: for the protocol, and for hosts that want sessions without one. */
export class Agent extends Context.Service<Agent, AgentShape>()("super-pi/Agent") {}
