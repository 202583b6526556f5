/** The slash commands. Loaded with the first one. */
export { layer } from "../services/commands/CommandsLive.ts"
