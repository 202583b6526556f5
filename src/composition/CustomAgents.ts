/** The agents that files describe. Loaded with the first session. */
import * as Layer from "effect/Layer"
import * as CustomAgentsLive from "../services/agents/CustomAgentsLive.ts"
import { Plugins } from "../services/Plugins.ts"

export const layer = Layer.provide(CustomAgentsLive.layer, Plugins.layer)
