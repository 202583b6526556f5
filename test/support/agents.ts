/** The real agent over a scripted model, tools of the test, and a store in memory. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import { text } from "../../src/domain/Content.ts"
import type { ExecutionMode } from "../../src/domain/permission/ExecutionMode.ts"
import type { ModelInfo } from "../../src/domain/Model.ts"
import { Agent, type Place } from "../../src/services/Agent.ts"
import * as AgentLive from "../../src/services/AgentLive.ts"
import { Auth } from "../../src/services/Auth.ts"
import { Changes } from "../../src/services/Changes.ts"
import { CommandFiles } from "../../src/services/CommandFiles.ts"
import * as CommandsLive from "../../src/services/commands/CommandsLive.ts"
import { McpManager } from "../../src/services/McpManager.ts"
import type { Models } from "../../src/services/Models.ts"
import type { ScriptStep } from "../../src/services/models/script/Script.ts"
import { Grants } from "../../src/services/permission/Grants.ts"
import { PermissionBroker } from "../../src/services/PermissionBroker.ts"
import { Projects } from "../../src/services/Projects.ts"
import type { SessionStore } from "../../src/services/SessionStore.ts"
import * as Sessions from "../../src/services/Sessions.ts"
import { Settings, type SettingsValue } from "../../src/services/Settings.ts"
import * as SessionStoreSqlite from "../../src/services/store/SessionStoreSqlite.ts"
import { Tools } from "../../src/services/Tools.ts"
import { taskTool } from "../../src/services/tools/Task.ts"
import type { Turn } from "../../src/services/Turn.ts"
import { type FakeEditor, makeEditor } from "./editor.ts"
import { fakeTools } from "./fakeTools.ts"
import { type Asked, nothingAsked, scripted } from "./models.ts"
import { platform, turnLayer, type TurnOptions } from "./turns.ts"

export interface AgentOptions {
  readonly script?: ReadonlyArray<ScriptStep>
  readonly tools?: Parameters<typeof fakeTools>[0]
  readonly asked?: Asked
  readonly infos?: ReadonlyArray<ModelInfo>
  readonly models?: Layer.Layer<Models>
  readonly broker?: Layer.Layer<
    PermissionBroker,
    never,
    Grants | Projects | Settings | FileSystem.FileSystem | Path.Path
  >
  readonly mcp?: Layer.Layer<McpManager>
  readonly turn?: Layer.Layer<Turn>
  readonly guards?: TurnOptions["guards"]
  readonly projects?: Layer.Layer<Projects>
  readonly changes?: Layer.Layer<Changes>
  readonly commandFiles?: Layer.Layer<CommandFiles>
  readonly store?: Layer.Layer<SessionStore>
  readonly settings?: Partial<SettingsValue> & { readonly home?: string }
  /** In the place of `settings`, where they change. */
  readonly settingsLayer?: Layer.Layer<Settings>
  readonly maxRequests?: number
  /** Whether tasks can be handed to subagents. */
  readonly tasks?: boolean
}

export const agentLayer = (options: AgentOptions = {}) => {
  const {
    asked = nothingAsked(),
    broker = PermissionBroker.layer,
    changes = Changes.layerNone,
    commandFiles = CommandFiles.layerNone,
    projects = Projects.layerNone,
    infos,
    mcp = McpManager.layerNone,
    script = [],
    settings = {},
    store = SessionStoreSqlite.layerMemory,
    tools = {}
  } = options
  const settingsLayer = options.settingsLayer ?? Settings.layerValues(settings)
  const models = options.models ?? scripted(script, asked, infos)
  const turn =
    options.turn ??
    turnLayer({
      models,
      tools: options.tasks === true ? Layer.provide(Tools.layerBeside([taskTool]), fakeTools(tools)) : fakeTools(tools),
      broker: Layer.provide(broker, [settingsLayer, Grants.layerMemory, projects, platform]),
      ...(options.guards === undefined ? {} : { guards: options.guards }),
      ...(options.maxRequests === undefined ? {} : { maxRequests: options.maxRequests })
    })
  return AgentLive.layer.pipe(
    Layer.provideMerge(Sessions.layer),
    Layer.provide(CommandsLive.layer),
    Layer.provide([changes, projects, commandFiles]),
    Layer.provideMerge(Layer.mergeAll(turn, mcp, models, store, settingsLayer, Auth.layerOpen, platform))
  )
}

export const place = (fields: Partial<Place> = {}): Place => ({
  cwd: "/",
  additionalDirectories: [],
  mcpServers: [],
  ...fields
})

/** Connects an editor for as long as the scope. */
export const connect = Effect.fnUntraced(function* (
  fake: FakeEditor = makeEditor(),
  ceiling: ExecutionMode = "always-approve"
) {
  const agent = yield* Agent
  const connection = yield* agent.connect(fake.editor, { ceiling })
  return {
    ...fake,
    ...connection,
    /** A new session with one prompt function. */
    open: Effect.map(connection.newSession(place(), {}), ({ sessionId }) => ({
      id: sessionId,
      say: (words: string) => connection.prompt(sessionId, [text(words)]),
      cancel: connection.cancel(sessionId),
      told: () => fake.told(sessionId)
    }))
  }
})
