/** The agent as this program runs it: every service with its usual layer. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Agent } from "../services/Agent.ts"
import * as AgentLive from "../services/AgentLive.ts"
import { Auth } from "../services/Auth.ts"
import { TokenStore } from "../services/auth/TokenStore.ts"
import { McpManager } from "../services/McpManager.ts"
import * as ModelsLive from "../services/models/ModelsLive.ts"
import * as Sessions from "../services/Sessions.ts"
import type { Flags, Settings } from "../services/Settings.ts"
import { Turn } from "../services/Turn.ts"
import { late } from "./Late.ts"
import { settings } from "./Platform.ts"
import * as Store from "./Store.ts"

const turn = late(
  Turn,
  () => import("./Turns.ts"),
  (loaded) => ({ run: (session, prompt) => Effect.flatMap(loaded, ({ run }) => run(session, prompt)) })
)

const mcpManager = late(
  McpManager,
  () => import("./Mcp.ts"),
  (loaded) => ({
    connect: (specs, cwd) =>
      specs.length === 0
        ? Effect.succeed({ tools: [], notices: [] })
        : Effect.flatMap(loaded, ({ connect }) => connect(specs, cwd))
  })
)

const auth = Layer.provide(Auth.layer, TokenStore.layer)

/**
 * Everything but a transport, and the settings under which it works. Building it touches no file and loads no provider: the
 * first request that needs one does.
 */
export const agent = (flags: Flags): Layer.Layer<Agent | Settings> =>
  AgentLive.layer.pipe(
    Layer.provide(Sessions.layer),
    Layer.provide([turn, mcpManager, Store.layer, auth]),
    Layer.provide(ModelsLive.layer),
    Layer.provideMerge(settings(flags))
  )
