/** MCP servers for sessions of a test: a program with faults that can be named, and one over HTTP that remembers headers. */
import type { McpServer } from "@agentclientprotocol/sdk"
import * as Effect from "effect/Effect"
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse
} from "node:http"
import { join } from "node:path"
import { node } from "./Program.ts"

export const secret = "s3cr3t-of-a-server-0123456789"

const program = join(import.meta.dirname, "mcp", "oddServer.mjs")

/** Its tools are named `mcp__<name>__where` and so on. */
export const oddServer = (name: string, ...faults: ReadonlyArray<string>): McpServer => ({
  name,
  command: node,
  args: [program, ...faults],
  env: [{ name: "ODD_TOKEN", value: secret }]
})

/** What the tool `where` of the odd server says. */
export interface Where {
  readonly pid: number
  readonly child?: number
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

const answers: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "remote", version: "1" }
  },
  "tools/list": { tools: [{ name: "greet", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "Hello from afar" }] }
}

const listening = Effect.fnUntraced(function* (server: Server) {
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
})

/** What a request says, once all of it came. */
const onBody = (request: IncomingMessage, use: (id: unknown, method: string) => void): void => {
  let body = ""
  request.setEncoding("utf8").on("data", (text) => (body += text))
  request.on("end", () => {
    const { id, method } = body === "" ? {} : JSON.parse(body)
    use(id, method)
  })
}

/** A server at `url`, with one tool `greet`, and the headers of each request that came. */
export const httpServer = Effect.gen(function* () {
  const headers: Array<IncomingHttpHeaders> = []
  const server = createServer((request, response) => {
    headers.push(request.headers)
    onBody(request, (id, method) => {
      const result = answers[method]
      if (result === undefined) return response.writeHead(request.method === "POST" ? 202 : 405).end()
      response.writeHead(200, { "content-type": "application/json" })
      return response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
    })
  })
  return { url: `${yield* listening(server)}/mcp`, headers }
})

/** The same as it was in the first revision of the protocol: what it says comes in one stream of events. */
export const sseServer = Effect.gen(function* () {
  const headers: Array<IncomingHttpHeaders> = []
  let stream: ServerResponse | undefined
  const server = createServer((request, response) => {
    headers.push(request.headers)
    if (request.method === "GET") {
      stream = response.writeHead(200, { "content-type": "text/event-stream" })
      stream.write("event: endpoint\ndata: /messages\n\n")
      return
    }
    onBody(request, (id, method) => {
      response.writeHead(202).end()
      const result = answers[method]
      if (result !== undefined) stream?.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`)
    })
  })
  return { url: `${yield* listening(server)}/sse`, headers }
})
