/**
 * What an application imports to embed the agent. Importing it has no effect and loads no provider. Each module below
 * `domain`, `services` and `transports` is also there by its own path, such as `super-pi/services/Agent`.
 */

/** The agent, ready to be given a model and served. */
export * as AcpAgent from "./composition/AcpAgent.ts"

// Services: each class has its usual layers; those that need code of their own stand below.
export * from "./services/Agent.ts"
export * from "./services/Auth.ts"
export * from "./services/Changes.ts"
export * from "./services/ClientFS.ts"
export * from "./services/Commands.ts"
export * from "./services/Confinements.ts"
export * from "./services/CustomAgents.ts"
export * from "./services/Editor.ts"
export * as Harnesses from "./services/Harnesses.ts"
export * from "./services/Hooks.ts"
export * from "./services/McpManager.ts"
export * from "./services/Models.ts"
export * from "./services/Notes.ts"
export * from "./services/permission/Grants.ts"
export * from "./services/PermissionBroker.ts"
export * from "./services/Plugins.ts"
export * from "./services/Projects.ts"
export * from "./services/SandboxRunner.ts"
export * from "./services/SessionStore.ts"
export * from "./services/Settings.ts"
export * from "./services/ToolDefinition.ts"
export * from "./services/Tools.ts"
export * from "./services/Turn.ts"
export * from "./services/Web.ts"
export * from "./services/Workspace.ts"

/** `Agent` in terms of sessions. */
export * as AgentLive from "./services/AgentLive.ts"
/** `ClientFS` on the disk of this machine and the buffers of the editor. */
export * as ClientFSLocal from "./services/files/ClientFSLocal.ts"
/** `CustomAgents` from the files of this machine. */
export * as CustomAgentsLive from "./services/agents/CustomAgentsLive.ts"
/** `Models` of the providers that the settings name; a provider is loaded at its first use. */
export * as ModelsLive from "./services/models/ModelsLive.ts"
/** The form of a script, which `Models.scripted` plays. */
export { parseScript, Script } from "./services/models/script/Script.ts"
/** `Notes` in a SQLite file or in memory. */
export * as NotesSqlite from "./services/notes/NotesSqlite.ts"
/** `SandboxRunner` as child processes of this one. */
export * as SandboxRunnerLocal from "./services/sandbox/SandboxRunnerLocal.ts"
/** `Sessions`, which `AgentLive` stands on. */
export * as Sessions from "./services/Sessions.ts"
/** `SessionStore` in a SQLite file or in memory. */
export * as SessionStoreSqlite from "./services/store/SessionStoreSqlite.ts"
/** `Tools` for files, searches, commands and the plan. */
export * as BuiltInTools from "./services/tools/BuiltInTools.ts"
/** `Turn`: the model and its tools in a loop. */
export * as TurnLoop from "./services/turn/TurnLoop.ts"

// Domain: the data that services speak of. Names that are schemas are types as well.
export { type EditorCapabilities, noCapabilities } from "./domain/Capability.ts"
export { ConfigOption } from "./domain/session/Config.ts"
export type { Elicitation, ElicitationAnswer } from "./domain/Elicitation.ts"
export { Content } from "./domain/Content.ts"
export { type Event, type Notice, PlanEntry, StoredEvent, type TransientEvent } from "./domain/Event.ts"
export { ExecutionMode, type ModeDescription } from "./domain/permission/ExecutionMode.ts"
export * from "./domain/Failure.ts"
export { defaultHarness, type Harness, HarnessId, harnesses } from "./domain/Harness.ts"
export { HookEvent, type HookSettings } from "./domain/Hook.ts"
export * from "./domain/Ids.ts"
export type { McpSpec } from "./domain/McpSpec.ts"
export { ModelInfo, ModelPrice } from "./domain/Model.ts"
export { type Note, NoteId, NoteScope } from "./domain/Note.ts"
export * from "./domain/permission/Permission.ts"
export { SandboxProfile } from "./domain/sandbox/Profile.ts"
export { Entry, SessionRecord } from "./domain/session/Session.ts"
export {
  CommandOutput,
  FileDiff,
  ToolCall,
  ToolCallPatch,
  ToolContent,
  ToolKind,
  ToolLocation,
  ToolStatus
} from "./domain/Tool.ts"
export { Outcome, StopReason, TurnError, TurnUsage } from "./domain/Turn.ts"
export { version } from "./domain/Version.ts"

// Transports: text frames, the JSON-RPC peer, and the protocol over both.
export * from "./transports/Frames.ts"
export * from "./transports/Limits.ts"
export * from "./transports/Routes.ts"
/** One connection of an editor with the agent. */
export * as Connection from "./transports/acp/Connection.ts"
/** Two linked transports. */
export * as Memory from "./transports/Memory.ts"
/** The JSON-RPC engine, for other protocols and for clients. */
export * as Peer from "./transports/Peer.ts"
/** Lines over Node streams. */
export * as Stdio from "./transports/Stdio.ts"
/** Protocol version 1 as `RpcGroup`s, for clients, proxies and tests. */
export * as ContractV1 from "./domain/wire/v1/Contract.ts"

/** An editor without a screen. */
export * as ScriptedEditor from "./testing/ScriptedEditor.ts"
