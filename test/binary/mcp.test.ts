import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { configFor, toolsOf } from "../support/LocalProvider.ts"
import { oddFile, oddServer } from "../support/mcp/odd.ts"
import { everythingOver, reference } from "../support/mcp/session.ts"
import { descendants } from "../support/Processes.ts"
import { node } from "../support/Program.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import { always, eventually, newSession, open, turn } from "../support/Probe.ts"
import { at } from "../support/Schema.ts"
import { callsOf, shownBy, textOf, thoughtOf, updatesOf, watched } from "../support/Updates.ts"

const call = (name: string, input = {}) => ({ parts: [{ tool: { name, input } }] })
const done = { parts: [{ text: "done" }] }

const calling = (name: string, args = "{}") =>
  ({ pieces: [{ call: { id: "c", name, args } }], finish: "calls" }) as const

const toml = (value: unknown) => JSON.stringify(value)

describe("MCP servers of the program", () => {
  it.live("work over each transport, from the editor and from the settings, and are told by /mcp", () =>
    Effect.gen(function* () {
      const streamable = yield* everythingOver("streamableHttp")
      const older = yield* everythingOver("sse")
      const provider = yield* ProviderServer.start
      const servers = ["stdio", "http", "sse", "usual"]
      provider.answer(...servers.map((name) => calling(`mcp__${name}__echo`, '{"message":"héllo"}')), {
        pieces: [{ text: "done" }]
      })
      const agent = yield* open({
        config: configFor(provider, {
          more: `[mcp_servers.usual]\ncommand = ${toml(node)}\nargs = ${toml([reference("everything"), "stdio"])}\n`
        }),
        args: ["--yolo"]
      })
      const session = yield* newSession(agent, agent.home, {
        mcpServers: [
          { name: "stdio", command: node, args: [reference("everything"), "stdio"], env: [] },
          { type: "http", name: "http", url: streamable.url, headers: [] },
          { type: "sse", name: "sse", url: older.url, headers: [] }
        ]
      })
      assert.strictEqual(yield* turn(agent, session, "go"), "end_turn")
      const calls = callsOf(updatesOf(agent, session))
      assert.deepStrictEqual(
        calls.map(({ latest }) => [latest["title"], latest["status"], shownBy(latest)]),
        servers.map((name) => [`${name}: echo`, "completed", "Echo: héllo"])
      )
      assert.includeMembers([...toolsOf(provider.seen()[0])], ["mcp__http__get-tiny-image"])
      const before = updatesOf(agent, session).length
      assert.strictEqual(yield* turn(agent, session, "/mcp"), "end_turn")
      const told = textOf(updatesOf(agent, session).slice(before))
      for (const name of servers)
        assert.include(told, `- **${name}**: ready (over ${name === "usual" ? "stdio" : name}`)
      assert.include(told, "from your settings")
      const children = descendants(agent.pid)
      assert.lengthOf(children, 2)
      yield* agent.closeInput
      assert.strictEqual(yield* agent.ended, 0)
      yield* eventually("no server is left", () => descendants(agent.pid).length === 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("never hold up a session: a dead, a hanging and a locked one are told, and the rest works", () =>
    Effect.gen(function* () {
      const wall = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const server = createServer((request, response) => {
            if (request.url?.startsWith("/.well-known")) {
              return response.end(JSON.stringify({ authorization_servers: ["https://auth.example.com"] }))
            }
            return response.writeHead(401, { "www-authenticate": "Bearer" }).end()
          })
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close().closeAllConnections())
      )
      const address = wall.address()
      const port = typeof address === "object" ? address?.port : 0
      const agent = yield* open({
        config: `[mcp_servers.hanging]\ncommand = ${toml(node)}\nargs = ${toml([oddFile, "hangs"])}\nstartup_timeout_sec = 6\n`,
        args: ["--yolo"],
        steps: [call("mcp__good__fail"), done]
      })
      const began = performance.now()
      const session = yield* newSession(agent, agent.home, {
        mcpServers: [
          oddServer("dead", "dies-at-once"),
          oddServer("good", "floods", "noisy"),
          {
            type: "http",
            name: "locked",
            url: `http://127.0.0.1:${port}/mcp`,
            headers: [{ name: "Authorization", value: "Bearer t0ken-0123456789" }]
          }
        ]
      })
      // Had it waited for the one that hangs, it would have been six seconds.
      assert.isBelow(performance.now() - began, 5_000)
      assert.strictEqual(yield* turn(agent, session, "go"), "end_turn")
      assert.isBelow(performance.now() - began, 30_000)
      const told = thoughtOf(updatesOf(agent, session))
      for (const part of [
        /The MCP server "hanging" (is not ready yet|cannot be used)/,
        /The MCP server "dead" cannot be used\. It ended with exit code 3/,
        /The MCP server "locked" cannot be used\. It did not accept the Authorization header .* Its authorization server is https:\/\/auth\.example\.com\./,
        /The MCP server "good" writes to its standard output what is no message/
      ]) {
        assert.match(told, part)
      }
      assert.include(shownBy(callsOf(updatesOf(agent, session))[0]!.latest), "that went wrong")
      assert.notInclude(agent.stderr() + JSON.stringify(agent.seen), "t0ken-0123456789")
      assert.notInclude(agent.stderr() + JSON.stringify(agent.seen), "secret-of-good")
    })
  )

  it.live("ask through the editor in a call, show progress, and change their tools in mid-turn", () =>
    Effect.gen(function* () {
      const asked: Array<object> = []
      const agent = yield* open({
        capabilities: { elicitation: { form: {} } },
        onRequest: (method, params) => {
          if (method !== "elicitation/create") return undefined
          asked.push(params)
          return { result: { action: "accept", content: { colour: "blue" } } }
        },
        args: ["--yolo"],
        steps: [
          call("mcp__m__ask"),
          call("mcp__m__grow"),
          call("mcp__m__slow", { n: 3, wait: 250 }),
          call("mcp__m__grown"),
          done
        ]
      })
      const session = yield* newSession(agent, agent.home, { mcpServers: [oddServer("m", "ask", "grow", "slow")] })
      assert.strictEqual(yield* turn(agent, session, "go"), "end_turn")
      const [ask, , slow, grown] = callsOf(updatesOf(agent, session))
      assert.include(shownBy(ask!.latest), '{"action":"accept","content":{"colour":"blue"}}')
      assert.lengthOf(asked, 1)
      assert.deepInclude(asked[0], {
        mode: "form",
        sessionId: session,
        toolCallId: ask!.id,
        message: 'The MCP server "m" asks: Which one?'
      })
      assert.include(watched(slow!), "2 of 3: step 2")
      assert.deepStrictEqual([grown!.latest["status"], shownBy(grown!.latest)], ["completed", "grown up"])
    })
  )

  it.live("have long results kept in a file of the session, which goes with it", () =>
    Effect.gen(function* () {
      const provider = yield* ProviderServer.start
      provider.answer(calling("mcp__m__many", '{"n":5000}'), { pieces: [{ text: "done" }] })
      const agent = yield* open({
        config: configFor(provider, { more: "[mcp]\nmax_output_bytes = 2000\n" }),
        args: ["--yolo"]
      })
      const session = yield* newSession(agent, agent.home, { mcpServers: [oddServer("m")] })
      yield* turn(agent, session, "go")
      const folder = join(agent.home, "sessions", session, "mcp")
      const [, path = ""] = /All of it is in ([^:]+):/.exec(provider.seen()[1]?.text ?? "") ?? []
      assert.isTrue(path.startsWith(folder), path)
      assert.strictEqual(readFileSync(path, "utf8"), "é".repeat(5_000))
      yield* agent.ok("session/delete", { sessionId: session })
      assert.isFalse(existsSync(folder))
    })
  )

  it.live("are asked for with arguments that a person can judge, without secrets", () =>
    Effect.gen(function* () {
      const agent = yield* open({
        steps: [call("mcp__m__where", { path: "/etc", password: "hunter2", deep: { n: 1 } }), done],
        onRequest: always("allow_once")
      })
      const session = yield* newSession(agent, agent.home, { mcpServers: [oddServer("m")] })
      yield* turn(agent, session, "go")
      const question = yield* agent.until("a question", ({ method, params }) =>
        method === "session/request_permission" ? params : undefined
      )
      const shown = shownBy(JSON.parse(JSON.stringify(at(question, "toolCall"))))
      assert.include(shown, '"path": "/etc"')
      assert.include(shown, '"password": "<redacted>"')
    })
  )
})
