/** MCP servers as child processes of this one. Loaded with the first session that has a server. */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as Layer from "effect/Layer"
import { McpManager } from "../services/McpManager.ts"

export const layer = Layer.suspend(() => McpManager.layer(process.env)).pipe(
  Layer.provide(NodeChildProcessSpawner.layer)
)
