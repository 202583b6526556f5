/** The built-in tools. */
import * as Context from "effect/Context"
import type { ToolName } from "../domain/Harness.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"

export interface ToolsShape {
  readonly get: (names: ReadonlyArray<ToolName>) => ReadonlyArray<ToolDefinition>
}

export class Tools extends Context.Service<Tools, ToolsShape>()("super-pi/Tools") {}
