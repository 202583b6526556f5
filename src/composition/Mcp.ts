/** MCP servers as child processes of this one, and far away. Loaded with the first session that has a server. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Layer from "effect/Layer"
import { McpManager } from "../services/McpManager.ts"

export const layer = Layer.suspend(() => McpManager.layer(process.env)).pipe(Layer.provide(NodeServices.layer))
