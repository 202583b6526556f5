/** MCP servers of the client: conformance §16. */
import type { McpServer } from "@agentclientprotocol/sdk"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { callIn, callsIn, outputOf, whereIn } from "../support/Calls.ts"
import { calls, says, suite, type Version, yolo } from "../support/Harness.ts"
import { httpServer, oddServer, secret, sseServer } from "../support/McpServers.ts"
import { endLast, gone, isAlive } from "../support/Processes.ts"
import { at } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

const where = [calls(["mcp__odd__where", {}]), says("There")]

export const usingServers = (version: Version, transport: Transport): void => {
  const { alone, group } = suite(version, transport)

  group("servers", {}, (row) => {
    row(
      "MCP-01 MUST start the servers of a session in its folder, with their arguments and variables",
      { steps: where },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ mcpServers: [oddServer("odd")], _meta: yolo })
        const { cwd, env } = whereIn((yield* session.run()).updates())
        assert.strictEqual(cwd, test.folder)
        assert.notInclude(JSON.stringify(env), secret)
        assert.strictEqual(env["ODD_TOKEN"], "<redacted>")
      })
    )

    row(
      "MCP-01 MUST start the servers of each session anew",
      { steps: [...where, ...where] },
      Effect.fnUntraced(function* (test) {
        const request = { mcpServers: [oddServer("odd")], _meta: yolo }
        const first = whereIn((yield* (yield* test.open(request)).run()).updates())
        const second = whereIn((yield* (yield* test.open(request)).run()).updates())
        assert.notStrictEqual(first.pid, second.pid)
      })
    )

    row(
      "MCP-02 MAY reach servers over HTTP, with their headers",
      { steps: [calls(["mcp__remote__greet", {}]), says("Done")] },
      Effect.fnUntraced(function* (test) {
        const { headers, url } = yield* httpServer
        const server: McpServer = {
          type: "http",
          name: "remote",
          url,
          headers: [{ name: "Authorization", value: `Bearer ${secret}` }]
        }
        const session = yield* test.open({ mcpServers: [server], _meta: yolo })
        const call = callIn((yield* session.run()).updates())
        assert.strictEqual(outputOf(call), "Hello from afar")
        assert.isTrue(headers.every(({ authorization }) => authorization === `Bearer ${secret}`))
      })
    )

    row(
      "MCP-02 MAY reach servers over the older HTTP with events, as its capabilities say",
      { steps: [calls(["mcp__old__greet", {}]), says("Done")] },
      Effect.fnUntraced(function* (test) {
        const { headers, url } = yield* sseServer
        const server: McpServer = { type: "sse", name: "old", url, headers: [{ name: "X-Key", value: secret }] }
        const session = yield* test.open({ mcpServers: [server], _meta: yolo })
        assert.strictEqual(outputOf(callIn((yield* session.run()).updates())), "Hello from afar")
        assert.isTrue(headers.every((sent) => sent["x-key"] === secret))
      })
    )

    row(
      "MCP-04 SHOULD use the servers that work, and say of the others what is wrong",
      { steps: [calls(["mcp__odd__fail", {}]), says("Done")] },
      Effect.fnUntraced(function* (test) {
        const bad = [
          oddServer("dying", "dies-at-once"),
          { name: "missing", command: "/nonexistent/server", args: [], env: [] }
        ]
        const session = yield* test.open({ mcpServers: [...bad, oddServer("odd")], _meta: yolo })
        const turn = yield* session.run()
        assert.strictEqual(turn.response.stopReason, "end_turn")
        assert.include(outputOf(callIn(turn.updates())), "that went wrong")
        const told = JSON.stringify(turn.updates())
        for (const name of ["dying", "missing"]) assert.include(told, `\\"${name}\\"`)
      })
    )

    row(
      "MCP-05 SHOULD refuse a kind of server that it does not advertise with -32602, and a malformed one",
      {},
      Effect.fnUntraced(function* (test) {
        for (const server of [
          { type: "carrier-pigeon", name: "bird", url: "x" },
          { name: "no command" },
          { name: "odd", command: 5, args: [], env: [] },
          "server"
        ]) {
          const params = { cwd: test.folder, mcpServers: [oddServer("good"), server] }
          const { error } = yield* test.client.raw("session/new", params)
          assert.strictEqual(error?.code, -32602, JSON.stringify(server))
          assert.match(String(at(error?.data, "field")), /^mcpServers\[1\]/)
        }
      })
    )

    row(
      "MCP-06 MUST end the servers of a session that is closed or deleted, and those alone",
      { steps: [...where, ...where, ...where] },
      Effect.fnUntraced(function* (test) {
        const request = { mcpServers: [oddServer("odd", "has-child", "stubborn")], _meta: yolo }
        const sessions = [yield* test.open(request), yield* test.open(request), yield* test.open(request)]
        const pids: Array<ReadonlyArray<number>> = []
        for (const session of sessions) {
          const { child, pid } = whereIn((yield* session.run()).updates())
          pids.push([pid, child ?? 0])
          yield* endLast(pid, child ?? 0)
        }
        const [closed, deleted, kept] = sessions
        yield* test.client.request("session/close", { sessionId: closed?.id ?? "" })
        yield* test.client.request("session/delete", { sessionId: deleted?.id ?? "" })
        yield* gone(...pids.slice(0, 2).flat())
        assert.deepStrictEqual(pids[2]?.map(isAlive), [true, true])
        assert.isDefined(kept)
      })
    )
  })

  alone(
    "ELI-09 SHOULD forward what a server asks in a call to the client, with the call",
    { capabilities: { elicitation: { form: {} } }, steps: [calls(["mcp__odd__ask", {}]), says("Done")] },
    Effect.fnUntraced(function* (test) {
      const session = yield* test.open({ mcpServers: [oddServer("odd", "ask")], _meta: yolo })
      const turn = yield* session.prompt()
      const { answer, params } = yield* session.asked("elicitation/create")
      assert.deepInclude(params, { mode: "form", sessionId: session.id })
      assert.include(params.message, '"odd"')
      yield* answer({ action: "accept", content: { colour: "blue" } })
      assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
      const call = callIn(turn.updates())
      assert.strictEqual(at(params, "toolCallId"), call.toolCallId)
      assert.include(outputOf(call), '{"action":"accept","content":{"colour":"blue"}}')
    })
  )

  alone(
    "MCP-08 MUST NOT log or tell the secrets of servers, whatever they do with them",
    {
      capabilities: { session: { notices: {} } },
      steps: [calls(["mcp__odd__secret", {}], ["mcp__odd__where", {}], ["mcp__odd__die", {}]), says("Done")]
    },
    Effect.fnUntraced(function* (test) {
      const { channel, transcript } = test.client
      const remote: McpServer = {
        type: "http",
        name: "remote",
        url: `http://127.0.0.1:9/mcp?key=${secret}`,
        headers: [{ name: "X-Key", value: secret }]
      }
      const mcpServers = [oddServer("odd", "noisy", "floods"), oddServer("dying", "dies-at-once"), remote]
      const session = yield* test.open({ mcpServers, _meta: yolo })
      const turn = yield* session.run()
      assert.lengthOf(callsIn(turn.updates()), 3)
      const wrong = {
        cwd: test.folder,
        mcpServers: [{ ...remote, headers: [{ name: "X", value: secret }, { value: secret }] }]
      }
      const { error } = yield* test.client.raw("session/new", JSON.parse(JSON.stringify(wrong)))
      assert.strictEqual(error?.code, -32602)
      assert.strictEqual(yield* test.client.end, 0)
      for (const { from, line } of transcript.entries) if (from === "agent") assert.notInclude(line, secret)
      assert.notInclude(channel.log(), secret)
      assert.include(channel.log(), "<redacted>")
    })
  )
}
