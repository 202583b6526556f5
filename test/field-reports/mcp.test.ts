import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { sseServer } from "../support/McpServers.ts"
import { configFor, toolsOf } from "../support/LocalProvider.ts"
import { oddServer } from "../support/mcp/odd.ts"
import { folder } from "../support/Program.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import { cancel, load, newSession, open, prompt, turn } from "../support/Probe.ts"
import { start } from "../support/RawAgent.ts"
import { callsOf, shownBy, thoughtOf, updatesOf, watched } from "../support/Updates.ts"

const call = (name: string, input = {}) => ({ tool: { name, input } })
const done = { parts: [{ text: "done" }] }

interface HttpMcp {
  readonly url: string
  readonly requests: ReadonlyArray<{ readonly method: string; readonly headers: IncomingHttpHeaders }>
}

const answers: { readonly [method: string]: unknown } = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "h", version: "1" } },
  "tools/list": { tools: [{ name: "far", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "from afar" }] }
}

/** A server behind HTTP that keeps the headers of every request. */
const httpServer: Effect.Effect<HttpMcp, never, Scope.Scope> = Effect.gen(function* () {
  const requests: Array<{ readonly method: string; readonly headers: IncomingHttpHeaders }> = []
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text) => (body += text))
    request.on("end", () => {
      const { id, method = "" } = body === "" ? {} : JSON.parse(body)
      requests.push({ method: method || `${request.method}`, headers: request.headers })
      if (id === undefined) return void response.writeHead(request.method === "POST" ? 202 : 405).end()
      response.writeHead(200, { "content-type": "application/json", "mcp-session-id": "s-1" })
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method] }))
    })
  })
  const port = yield* Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" ? (address?.port ?? 0) : 0))
      })
    }),
    () => Effect.sync(() => server.close().closeAllConnections())
  )
  return { url: `http://127.0.0.1:${port}/mcp`, requests }
})

describe("1m. MCP servers from the client", () => {
  it.live("F101 a server's tools are there, with its environment, in new, loaded and resumed sessions", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const mcpServers = [{ ...oddServer("e"), env: [{ name: "K", value: "V" }] }]
      const agent = yield* open({
        args: ["--yolo"],
        steps: [0, 1, 2].flatMap(() => [{ parts: [call("mcp__e__where")] }, done])
      })
      const session = yield* newSession(agent, place, { mcpServers })
      yield* turn(agent, session, "go")
      yield* load(agent, session, place, { mcpServers })
      yield* turn(agent, session, "go")
      yield* agent.ok("session/resume", { sessionId: session, cwd: place, mcpServers })
      yield* turn(agent, session, "go")
      const seen = new Map(callsOf(updatesOf(agent, session)).map(({ id, latest }) => [id, shownBy(latest)]))
      assert.lengthOf(seen, 3)
      const pids = new Set<string | undefined>()
      for (const text of seen.values()) {
        assert.include(text, '"K":"V"')
        assert.include(text, '"PATH":')
        assert.include(text, `"cwd":"${place}"`)
        pids.add(/"pid":(\d+)/.exec(text)?.[1])
      }
      assert.lengthOf(pids, 3)
    })
  )

  it.live("F101 a server behind http gets its headers with every request", () =>
    Effect.gen(function* () {
      const http = yield* httpServer
      const provider = yield* ProviderServer.start
      provider.answer(
        { pieces: [{ call: { id: "c", name: "mcp__h__far", args: "{}" } }], finish: "calls" },
        { pieces: [{ text: "done" }] }
      )
      const agent = yield* open({ config: configFor(provider), args: ["--yolo"] })
      assert.include(JSON.stringify(agent.seen[0]), '"http":true')
      const headers = [{ name: "Authorization", value: "Bearer t-0123456789" }]
      const session = yield* newSession(agent, agent.home, {
        mcpServers: [{ type: "http", name: "h", url: http.url, headers }]
      })
      yield* turn(agent, session, "go")
      assert.include(toolsOf(provider.seen()[0]), "mcp__h__far")
      assert.include(shownBy(callsOf(updatesOf(agent, session))[0]!.latest), "from afar")
      yield* agent.closeInput
      yield* agent.ended
      const methods = http.requests.map(({ method }) => method).filter((method) => method !== "GET")
      assert.deepStrictEqual(methods, ["initialize", "notifications/initialized", "tools/list", "tools/call", "DELETE"])
      for (const { headers, method } of http.requests) {
        assert.strictEqual(headers["authorization"], "Bearer t-0123456789", method)
      }
      assert.notInclude(agent.stderr() + JSON.stringify(agent.seen), "t-0123456789")
    })
  )

  it.live("F101 a server that cannot be used is told, and the session goes on", () =>
    Effect.gen(function* () {
      const agent = yield* open({ steps: [done] })
      const session = yield* newSession(agent, agent.home, {
        mcpServers: [
          { name: "nothing", command: "/nonexistent/server", args: [], env: [] },
          { type: "http", name: "nobody", url: "http://127.0.0.1:9/mcp", headers: [] },
          oddServer("dead", "dies-at-once")
        ]
      })
      assert.strictEqual(yield* turn(agent, session, "go"), "end_turn")
      const told = thoughtOf(updatesOf(agent, session))
      for (const name of ["nothing", "nobody", "dead"]) assert.include(told, `The MCP server "${name}" cannot be used`)
      assert.notInclude(told, "secret-of-")
    })
  )

  it.live("F103 a call that is cancelled is cancelled at its server too", () =>
    Effect.gen(function* () {
      const agent = yield* open({
        env: { SUPER_PI_LOG_STDERR: "debug" },
        args: ["--yolo"],
        steps: [{ parts: [call("mcp__m__hang")] }, done]
      })
      const session = yield* newSession(agent, agent.home, { mcpServers: [oddServer("m")] })
      const { answer } = yield* prompt(agent, session, "go")
      yield* agent.until("a running call", () =>
        callsOf(updatesOf(agent, session))[0]?.latest["status"] === "in_progress" ? true : undefined
      )
      yield* cancel(agent, session)
      assert.strictEqual((yield* answer).result["stopReason"], "cancelled")
      assert.strictEqual(yield* turn(agent, session, "go on"), "end_turn")
      yield* agent.closeInput
      yield* agent.ended
      assert.match(agent.stderr(), /stderr: cancelled \d+/)
    })
  )

  it.live("F102 what is advertised works, and nothing else is taken", () =>
    Effect.gen(function* () {
      const old = yield* sseServer
      const agent = yield* open({
        args: ["--yolo"],
        steps: [{ parts: [call("mcp__old__greet")] }, done]
      })
      assert.include(JSON.stringify(agent.seen[0]), '"mcpCapabilities":{"http":true,"sse":true}')
      const session = yield* newSession(agent, agent.home, {
        mcpServers: [{ type: "sse", name: "old", url: old.url, headers: [] }]
      })
      yield* turn(agent, session, "go")
      assert.include(shownBy(callsOf(updatesOf(agent, session))[0]!.latest), "Hello from afar")
      const { error } = yield* agent.request("session/new", {
        cwd: agent.home,
        mcpServers: [{ type: "acp", name: "a", serverId: "s" }]
      })
      assert.strictEqual(error?.["code"], -32602)
    })
  )

  it.live("F103 the limit of the settings holds for a client's server of that name, and progress is shown", () =>
    Effect.gen(function* () {
      const provider = yield* ProviderServer.start
      const calling = (name: string, args: string) =>
        ({ pieces: [{ call: { id: "c", name, args } }], finish: "calls" }) as const
      provider.answer(calling("mcp__m__slow", '{"n":4,"wait":150}'), calling("mcp__m__hang", "{}"), {
        pieces: [{ text: "done" }]
      })
      const agent = yield* open({
        config: configFor(provider, {
          more: '[mcp_servers.m]\ncommand = "none"\ntool_timeout_sec = 20\ntool_timeouts = { hang = 1 }\n'
        }),
        args: ["--yolo"]
      })
      const session = yield* newSession(agent, agent.home, { mcpServers: [oddServer("m", "slow")] })
      assert.strictEqual(yield* turn(agent, session, "go"), "end_turn")
      const [slow, hung] = callsOf(updatesOf(agent, session))
      assert.include(watched(slow!), "1 of 4: step 1")
      assert.include(shownBy(slow!.latest), "slow but done")
      assert.strictEqual(hung!.latest["status"], "failed")
      assert.include(shownBy(hung!.latest), 'The MCP server "m" did not finish the call within 1s')
    })
  )

  it.live("F103 a server that ends in mid-call fails the call in clear words, and the turn goes on", () =>
    Effect.gen(function* () {
      const agent = yield* open({ args: ["--yolo"], steps: [{ parts: [call("mcp__m__die")] }, done] })
      const session = yield* newSession(agent, agent.home, { mcpServers: [oddServer("m")] })
      assert.strictEqual(yield* turn(agent, session, "go"), "end_turn")
      const [first] = callsOf(updatesOf(agent, session))
      assert.strictEqual(first!.latest["status"], "failed")
      assert.include(shownBy(first!.latest), 'The MCP server "m" ended with exit code 1')
    })
  )

  it.live("F104 a field of mcpServers that is missing or wrong is named in one line, or does no harm", () =>
    Effect.gen(function* () {
      const agent = yield* start({ steps: [done] })
      yield* agent.ok("initialize", { protocolVersion: 1, clientCapabilities: {} })
      const cwd = agent.home
      const open = (more: object) => agent.request("session/new", JSON.parse(JSON.stringify({ cwd, ...more })))
      for (const more of [
        {},
        { mcpServers: null },
        { mcpServers: [{ name: "a", command: "true", args: [], extra: 1 }] },
        { mcpServers: [], unknown: { field: true } }
      ]) {
        const { error, result } = yield* open(more)
        if (error === undefined) {
          assert.isString(result["sessionId"])
          continue
        }
        assert.strictEqual(error["code"], -32602)
        assert.include(String(error["message"]), "mcpServers")
        assert.notInclude(String(error["message"]), "\n")
      }
      for (const [server, field] of [
        [{ type: "carrier-pigeon", name: "a" }, "mcpServers[0]"],
        [{ command: "true", args: [], env: [] }, "mcpServers[0].name"],
        [7, "mcpServers[0]"]
      ] as const) {
        const { error } = yield* open({ mcpServers: [server] })
        assert.strictEqual(error?.["code"], -32602)
        assert.include(String(error?.["message"]), field)
        assert.notInclude(String(error?.["message"]), "\n")
      }
      yield* newSession(agent, cwd)
    })
  )
})
