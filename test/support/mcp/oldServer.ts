/** Effect's own MCP server, which speaks only the revision that it is told: over stdio when run, over HTTP as a layer. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpServer from "effect/ai/McpServer"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"

export const revisions = {
  "2024-11-05": McpProtocol.v2024_11_05,
  "2025-03-26": McpProtocol.v2025_03_26,
  "2025-06-18": McpProtocol.v2025_06_18,
  "2025-11-25": McpProtocol.v2025_11_25,
  "2026-07-28": McpProtocol.v2026_07_28
} as const
export type Revision = keyof typeof revisions

const Greet = Tool.make("greet", {
  description: "Greets by name",
  parameters: Schema.Struct({ name: Schema.String }),
  success: Schema.String
})
const toolkit = Toolkit.make(Greet)

const optionsOf = (revision: Revision) => ({
  name: "old",
  version: "1.0.0",
  protocols: [revisions[revision]] as const,
  registrations: McpServer.toolkit(toolkit).pipe(
    Layer.provide(toolkit.toLayer({ greet: ({ name }) => Effect.succeed(`Hello ${name}`) }))
  )
})

/** Serves on a free port of the loopback at `/mcp`. */
export const layerHttp = (revision: Revision) =>
  HttpRouter.serve(McpServer.layerHttp({ ...optionsOf(revision), path: "/mcp" }), {
    disableListenLog: true,
    disableLogger: true
  }).pipe(Layer.provideMerge(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" })))

export const address = Effect.map(HttpServer.HttpServer, ({ address }) =>
  address._tag === "InetAddressV4" ? `http://127.0.0.1:${address.port}/mcp` : ""
)

if (import.meta.main) {
  const revision = process.argv[2] as Revision
  const program = Layer.launch(McpServer.layerStdio(optionsOf(revision))).pipe(
    Effect.provide([NodeStdio.layer, Logger.layer([Logger.withConsoleError(Logger.defaultLogger)])])
  )
  NodeRuntime.runMain(program)
}
