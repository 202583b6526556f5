/** The agent as this program runs it: every service with its usual layer. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Agent } from "../services/Agent.ts"
import * as AgentLive from "../services/AgentLive.ts"
import { Auth } from "../services/Auth.ts"
import { LoginProgram } from "../services/auth/LoginProgram.ts"
import { TokenStore } from "../services/auth/TokenStore.ts"
import { Changes } from "../services/Changes.ts"
import { Commands } from "../services/Commands.ts"
import { CustomAgents } from "../services/CustomAgents.ts"
import { McpManager, noServers } from "../services/McpManager.ts"
import * as ModelsLive from "../services/models/ModelsLive.ts"
import { Projects } from "../services/Projects.ts"
import * as Sessions from "../services/Sessions.ts"
import type { Flags, Settings } from "../services/Settings.ts"
import { Turn } from "../services/Turn.ts"
import { late } from "./Late.ts"
import { settings } from "./Platform.ts"
import * as Store from "./Store.ts"

const turn = late(
  Turn,
  () => import("./Turns.ts"),
  (loaded) => ({
    run: (session, prompt) => Effect.flatMap(loaded, ({ run }) => run(session, prompt)),
    compact: (session, focus) => Effect.flatMap(loaded, ({ compact }) => compact(session, focus)),
    call: (session, name, input) => Effect.flatMap(loaded, ({ call }) => call(session, name, input))
  })
)

const mcpManager = late(
  McpManager,
  () => import("./Mcp.ts"),
  (loaded) => ({
    connect: (servers, context) =>
      servers.length === 0
        ? Effect.succeed(noServers)
        : Effect.flatMap(loaded, ({ connect }) => connect(servers, context))
  })
)

const changes = late(
  Changes,
  () => import("./Changes.ts"),
  (loaded) => ({
    recording: (workspace, record, paths, change) =>
      Effect.flatMap(loaded, ({ recording }) => recording(workspace, record, paths, change)),
    recordingAll: (workspace, record, change) =>
      Effect.flatMap(loaded, ({ recordingAll }) => recordingAll(workspace, record, change)),
    undo: (workspace, state, log) => Effect.flatMap(loaded, ({ undo }) => undo(workspace, state, log)),
    diff: (workspace, state) => Effect.flatMap(loaded, ({ diff }) => diff(workspace, state)),
    inherit: (from, to) => Effect.flatMap(loaded, ({ inherit }) => inherit(from, to))
  })
)

const commands = late(
  Commands,
  () => import("./Commands.ts"),
  (loaded) => ({
    list: (place) => Effect.flatMap(loaded, ({ list }) => list(place)),
    run: (typed, session) => Effect.flatMap(loaded, ({ run }) => run(typed, session)),
    skills: (place) => Effect.flatMap(loaded, ({ skills }) => skills(place)),
    undo: (session) => Effect.flatMap(loaded, ({ undo }) => undo(session)),
    diff: (session) => Effect.flatMap(loaded, ({ diff }) => diff(session))
  })
)

const projects = late(
  Projects,
  () => import("./Projects.ts"),
  (loaded) => ({
    of: (cwd) => Effect.flatMap(loaded, ({ of }) => of(cwd)),
    decide: (shown, trusted) => Effect.flatMap(loaded, ({ decide }) => decide(shown, trusted))
  })
)

const customAgents = late(
  CustomAgents,
  () => import("./CustomAgents.ts"),
  (loaded) => ({
    list: (cwd) => Effect.flatMap(loaded, ({ list }) => list(cwd)),
    create: (cwd, agent) => Effect.flatMap(loaded, ({ create }) => create(cwd, agent)),
    load: (path) => Effect.flatMap(loaded, ({ load }) => load(path)),
    define: (value) => Effect.flatMap(loaded, ({ define }) => define(value))
  })
)

/** This program as it was started, asked to sign in. */
const loginProgram = Layer.sync(LoginProgram, () => ({
  command: process.execPath,
  args: [process.argv[1] ?? "", "login"]
}))

const auth = Layer.provide(Auth.layer, [TokenStore.layer, loginProgram])

/**
 * Everything but a transport, and the settings under which it works. Building it touches no file and loads no provider: the
 * first request that needs one does.
 */
export const agent = (flags: Flags): Layer.Layer<Agent | Settings> =>
  AgentLive.layer.pipe(
    Layer.provide(Sessions.layer),
    Layer.provide(Layer.provideMerge(commands, turn)),
    Layer.provide([mcpManager, changes, Store.layer, auth]),
    Layer.provide(customAgents),
    Layer.provide(projects),
    Layer.provide(ModelsLive.layer),
    Layer.provideMerge(settings(flags))
  )
