/** The slash commands. Loaded after the first session is open. */
import * as Layer from "effect/Layer"
import * as CommandFilesLive from "../services/commands/files/CommandFilesLive.ts"
import * as CommandsLive from "../services/commands/CommandsLive.ts"
import { Plugins } from "../services/Plugins.ts"

export const layer = CommandsLive.layer.pipe(Layer.provide(CommandFilesLive.layer), Layer.provide(Plugins.layer))
