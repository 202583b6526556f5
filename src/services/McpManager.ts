/** MCP servers of a session: their tools become tools of the model, their processes end with the scope. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Notice } from "../domain/Event.ts"
import type { McpSpec } from "../domain/McpSpec.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"

export interface McpConnection {
  readonly tools: ReadonlyArray<ToolDefinition>
  /** One for each server that could not be used: never a reason to fail the session (MCP-04). */
  readonly notices: ReadonlyArray<Notice>
}

export interface McpManagerShape {
  readonly connect: (specs: ReadonlyArray<McpSpec>, cwd: string) => Effect.Effect<McpConnection, never, Scope.Scope>
}

export class McpManager extends Context.Service<McpManager, McpManagerShape>()("super-pi/McpManager") {}
