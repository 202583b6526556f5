/** The built-in tools. */
import * as Context from "effect/Context"
import type { ToolName } from "../domain/Harness.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"

/** What `Tools` promises: the tools of a harness by name, in the order of the names. */
export interface ToolsShape {
  readonly get: (names: ReadonlyArray<ToolName>) => ReadonlyArray<ToolDefinition>
}

/** The tools that a session has beside those of its MCP servers. */
export class Tools extends Context.Service<Tools, ToolsShape>()("super-pi/Tools") {}
