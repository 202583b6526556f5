/**
 * The agent for applications that embed it. Every service it is made of can be replaced, and nothing that belongs to the
 * person at the machine is read: no configuration, no key, no environment but the one that commands inherit.
 *
 * What is provided nearest to `layer` wins, so a replacement stands before `defaults`:
 *
 * ```ts
 * const agent = AcpAgent.layer.pipe(
 *   Layer.provide([Models.fromLanguageModel(info).pipe(Layer.provide(MyModel)), MyPermissionBroker]),
 *   Layer.provide(AcpAgent.defaults),
 *   Layer.provide(AcpAgent.settings({ home: "/var/lib/house-bot" }))
 * )
 * ```
 */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import type { SecureRandom } from "effect/crypto/SecureRandom"
import type * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import { version } from "../domain/Version.ts"
import type { Agent } from "../services/Agent.ts"
import * as AgentLive from "../services/AgentLive.ts"
import { Auth } from "../services/Auth.ts"
import { Changes } from "../services/Changes.ts"
import * as ChangesLive from "../services/changes/ChangesLive.ts"
import type { ClientFS } from "../services/ClientFS.ts"
import * as ClientFSLocal from "../services/files/ClientFSLocal.ts"
import { CommandFiles } from "../services/CommandFiles.ts"
import * as CommandsLive from "../services/commands/CommandsLive.ts"
import { Confinements } from "../services/Confinements.ts"
import { Hooks } from "../services/Hooks.ts"
import { McpManager } from "../services/McpManager.ts"
import type { Models } from "../services/Models.ts"
import type { Notes } from "../services/Notes.ts"
import * as NotesSqlite from "../services/notes/NotesSqlite.ts"
import { Grants } from "../services/permission/Grants.ts"
import { PermissionBroker } from "../services/PermissionBroker.ts"
import { Projects } from "../services/Projects.ts"
import type { SandboxRunner } from "../services/SandboxRunner.ts"
import * as SandboxRunnerLocal from "../services/sandbox/SandboxRunnerLocal.ts"
import * as Sessions from "../services/Sessions.ts"
import type { SessionStore } from "../services/SessionStore.ts"
import { Settings, type SettingsValue } from "../services/Settings.ts"
import type { ToolDefinition } from "../services/ToolDefinition.ts"
import { Tools } from "../services/Tools.ts"
import * as BuiltInTools from "../services/tools/BuiltInTools.ts"
import * as TurnLoop from "../services/turn/TurnLoop.ts"
import { Web } from "../services/Web.ts"
import * as Connection from "../transports/acp/Connection.ts"
import { Frames } from "../transports/Frames.ts"
import { platform as ownPlatform } from "./Platform.ts"
import * as Store from "./Store.ts"

/** The services that decide what the agent may do and where it keeps things. */
export type Capabilities =
  | Auth
  | Changes
  | ClientFS
  | Hooks
  | McpManager
  | Notes
  | PermissionBroker
  | Projects
  | SandboxRunner
  | SessionStore
  | Web

/** What they stand on: files, paths, randomness and processes of this machine. */
export type Platform = ChildProcessSpawner | FileSystem.FileSystem | Path.Path | SecureRandom

/** No files of commands and skills are read: an application says itself what can be typed. */
const commands = CommandsLive.layer.pipe(Layer.provide(CommandFiles.layerNone), Layer.provideMerge(TurnLoop.layer))

/** The agent without tools: for an application that gives its model none but its own. */
export const layerWithoutTools: Layer.Layer<
  Agent,
  never,
  Auth | McpManager | Models | PermissionBroker | SessionStore | Settings | Tools | Platform
> = AgentLive.layer.pipe(
  Layer.provide(Sessions.layer),
  Layer.provide(commands),
  Layer.provide([Changes.layerNone, Confinements.layerOff, Hooks.layerNone, Projects.layerNone])
)

/**
 * The agent with its built-in tools and these beside them. A model can call those that the harness of its session names:
 * give one that names yours with `Harnesses.layerOf`.
 */
export const layerWith = (
  own: ReadonlyArray<ToolDefinition>
): Layer.Layer<Agent, never, Capabilities | Models | Settings | Platform> =>
  AgentLive.layer.pipe(
    Layer.provide(Sessions.layer),
    Layer.provide(commands),
    Layer.provide([
      Layer.provide(
        Tools.layerBeside(own),
        Layer.suspend(() => BuiltInTools.layer(process.env))
      ),
      Confinements.layer
    ])
  )

/** The agent with its built-in tools, which work through `ClientFS` and `SandboxRunner` whichever those are. */
export const layer = layerWith([])

/** Files, paths, randomness and processes of this machine. */
export const platform: Layer.Layer<Platform> = Layer.provideMerge(NodeChildProcessSpawner.layer, ownPlatform)

/**
 * What the program uses for each capability, except that everyone may open a session: sign-in is the application's.
 * Sessions are kept in `sessions.db` and notes in `notes.db` of the settings' home. Building it touches no file and starts
 * no process.
 */
export const defaults: Layer.Layer<Capabilities | Platform, never, Settings> = Layer.suspend(() =>
  Layer.mergeAll(
    Auth.layerOpen,
    ChangesLive.layer(process.env),
    ClientFSLocal.layer,
    Hooks.layerNone,
    McpManager.layer(process.env),
    NotesSqlite.layerHome,
    Layer.provide(PermissionBroker.layer, [Grants.layer, Projects.layerNone]),
    Projects.layerNone,
    SandboxRunnerLocal.layer(process.env),
    Store.layer,
    Web.layer(process.env)
  )
).pipe(Layer.provideMerge(platform))

/**
 * Settings as plain values. `home` is the absolute path of a folder for sessions and for output that was too long; it is
 * made when it is needed. Everything else has the default of the configuration file. To use the person's own
 * configuration instead, provide `Settings.layer` and `AcpAgent.platform`.
 */
export const settings = (values: Partial<SettingsValue> & { readonly home: string }): Layer.Layer<Settings> =>
  Settings.layerValues(values)

/** How a connection is served. Default of `version`: that of this package. */
export type ServeOptions = Partial<Connection.ConnectionOptions>

/**
 * Serves one connection over the `Frames` of the environment until its input ends or its output breaks; then what it
 * started has ended too. Interruption ends it in the same way. Any number of connections may share one agent.
 */
export const serve = (options: ServeOptions = {}): Effect.Effect<void, never, Agent | Frames> =>
  Frames.use((frames) => Connection.serve(frames, { version, ...options }))
