import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import type { McpContext } from "../../../src/services/McpManager.ts"
import * as McpServer from "../../../src/services/mcp/McpServer.ts"
import { McpFailed, type McpTransport, type Outgoing } from "../../../src/services/mcp/transport/McpTransport.ts"
import { callContext, makePeer } from "../../support/mcp/peer.ts"

type Answer = Schema.Json | McpFailed

/** A transport in memory: answers by method, a list of them in order, and never one for any other. */
const transportOf = (given: Record<string, Answer | ReadonlyArray<Answer>>, kind: McpTransport["kind"] = "http") => {
  const told: Array<readonly [string, Schema.Json | undefined]> = []
  const requests: Array<Outgoing> = []
  const counts = new Map<string, number>()
  const transport: McpTransport = {
    kind,
    request: (request) => {
      const { method, params } = request
      told.push([method, params])
      requests.push(request)
      const answers: ReadonlyArray<Answer> = Array.isArray(given[method]) ? given[method] : [given[method]]
      const count = counts.get(method) ?? 0
      counts.set(method, count + 1)
      const answer = answers[Math.min(count, answers.length - 1)]
      if (answer === undefined) return Effect.never
      return answer instanceof McpFailed ? Effect.fail(answer) : Effect.succeed(answer)
    },
    notify: (method, params) => Effect.sync(() => told.push([method, params])),
    agree: (revision) => told.push(["agree", revision]),
    listen: Effect.void,
    lost: Effect.never
  }
  return { requests, told, transport }
}

const connect = Effect.fnUntraced(function* (transport: McpTransport, context: Partial<McpContext> = {}) {
  const changes = yield* Queue.sliding<void>(1)
  const peer = makePeer(context)
  const listed: Array<ReadonlyArray<string>> = []
  const server = yield* McpServer.connect({
    transport,
    peer,
    changes,
    listLimit: Duration.minutes(1),
    onTools: ({ tools }) => Effect.sync(() => listed.push(tools.map(({ name }) => name)))
  })
  return { changes, listed, peer, server }
})

const initialize = (protocolVersion: string, capabilities: Schema.Json = { tools: {} }) => ({
  protocolVersion,
  capabilities,
  serverInfo: {}
})
const tool = { name: "slow" }

describe("McpServer", () => {
  it.effect("asks for the newest revision, agrees to the server's, and then lists", () =>
    Effect.gen(function* () {
      const tools = [
        { name: "a", description: 7, inputSchema: "none", annotations: { readOnlyHint: "yes" } },
        { name: "" },
        { name: "long", execution: { taskSupport: "required" } }
      ]
      const { told, transport } = transportOf({ initialize: initialize("2024-11-05"), "tools/list": { tools } })
      const { server } = yield* connect(transport)
      assert.deepStrictEqual(server.listed.tools, [{ name: "a", annotations: {} }])
      assert.deepStrictEqual(
        told.map(([method]) => method),
        ["initialize", "agree", "notifications/initialized", "tools/list"]
      )
      assert.deepInclude(told[0]?.[1], { protocolVersion: "2025-11-25", capabilities: { roots: {} } })
      assert.strictEqual(told[1]?.[1], "2024-11-05")
    }).pipe(Effect.scoped)
  )

  it.effect("tells servers of forms and pages only what the editor can show", () =>
    Effect.gen(function* () {
      for (const [elicitation, told] of [
        [{ form: true, url: false }, { form: {} }],
        [{ form: false, url: true }, { url: {} }],
        [
          { form: true, url: true },
          { form: {}, url: {} }
        ]
      ] as const) {
        assert.deepStrictEqual(makePeer({ elicitation }).capabilities, { roots: {}, elicitation: told })
      }
      assert.deepStrictEqual(makePeer().capabilities, { roots: {} })
    })
  )

  it.effect("a server without tools is not asked for them", () =>
    Effect.gen(function* () {
      const { told, transport } = transportOf({ initialize: initialize("2025-06-18", { prompts: {} }) })
      assert.deepStrictEqual((yield* connect(transport)).server.listed.tools, [])
      assert.isFalse(told.some(([method]) => method === "tools/list"))
    }).pipe(Effect.scoped)
  )

  it.effect("a call may be silent for ten minutes, then it fails and the server is told (F103)", () =>
    Effect.gen(function* () {
      const { told, transport } = transportOf({ initialize: initialize("2025-06-18"), "tools/list": { tools: [] } })
      const { peer, server } = yield* connect(transport)
      const fiber = yield* Effect.forkChild(Effect.flip(server.call(tool, { a: 1 }, callContext())))
      yield* TestClock.adjust("9 minutes")
      const progress = { progressToken: 3, progress: 1 }
      yield* peer.hear({ _tag: "Notification", method: "notifications/progress", params: progress })
      yield* TestClock.adjust("9 minutes")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(fiber)).message, "gave no sign of progress for 10m, so the call was ended")
      assert.deepInclude(told.at(-1)?.[1], { requestId: 3 })
    }).pipe(Effect.scoped)
  )

  it.effect("signs of progress do not go on for ever", () =>
    Effect.gen(function* () {
      const { transport } = transportOf({ initialize: initialize("2025-06-18"), "tools/list": { tools: [] } })
      const { peer, server } = yield* connect(transport)
      const fiber = yield* Effect.forkChild(Effect.flip(server.call(tool, {}, callContext())))
      let minutes = 0
      for (; fiber.pollUnsafe() === undefined && minutes < 1_000; minutes += 5) {
        yield* TestClock.adjust("5 minutes")
        const progress = { progressToken: 3, progress: minutes }
        yield* peer.hear({ _tag: "Notification", method: "notifications/progress", params: progress })
      }
      assert.closeTo(minutes, 240, 5)
    }).pipe(Effect.scoped)
  )

  it.effect("the limit of the settings counts from the beginning, but for the time that a person is asked", () =>
    Effect.gen(function* () {
      const { transport } = transportOf({ initialize: initialize("2025-06-18"), "tools/list": { tools: [] } })
      const { peer, server } = yield* connect(transport, { elicitation: { form: true, url: false } })
      const limit = { of: "total", limit: Duration.seconds(60) } as const
      const context = callContext({
        limit,
        elicit: () => Effect.as(Effect.sleep("1 hour"), { _tag: "Declined" } as const)
      })
      const fiber = yield* Effect.forkChild(Effect.flip(server.call(tool, {}, context)), { startImmediately: true })
      yield* TestClock.adjust("30 seconds")
      const params = { message: "Which?", requestedSchema: { type: "object", properties: {} } }
      const [call] = peer.calls.values()
      const asking = yield* Effect.forkChild(peer.resolve("elicitation/create", params, { call, isCertain: true }), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* Fiber.join(asking), { action: "decline" })
      const progress = { progressToken: 3, progress: 1 }
      yield* peer.hear({ _tag: "Notification", method: "notifications/progress", params: progress })
      yield* TestClock.adjust("29 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(
        (yield* Fiber.join(fiber)).message,
        "did not finish the call within 1m, its limit in the settings"
      )
    }).pipe(Effect.scoped)
  )

  it.effect("changed tools are listed again, once for many changes", () =>
    Effect.gen(function* () {
      const pages = ["a", "b", "c"].map((name) => ({ tools: [{ name }] }))
      const { told, transport } = transportOf({ initialize: initialize("2025-06-18"), "tools/list": pages })
      const { changes, listed } = yield* connect(transport)
      for (let time = 0; time < 100; time++) yield* Queue.offer(changes, undefined)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(listed, [["b"]])
      yield* Queue.offer(changes, undefined)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(listed, [["b"], ["c"]])
      assert.lengthOf(
        told.filter(([method]) => method === "tools/list"),
        3
      )
    }).pipe(Effect.scoped)
  )
})

describe("tools that changed", () => {
  it.effect("are not waited for longer than a call may take, and asked for again at the next change", () =>
    Effect.gen(function* () {
      const { requests, told, transport } = transportOf({ initialize: initialize("2025-06-18") })
      const first: Answer = { tools: [{ name: "a" }] }
      let hangs = false
      const slow: McpTransport = {
        ...transport,
        request: (request) =>
          request.method !== "tools/list"
            ? transport.request(request)
            : Effect.suspend(() => {
                requests.push(request)
                return hangs ? Effect.never : Effect.succeed(first)
              })
      }
      const { changes, listed } = yield* connect(slow)
      hangs = true
      yield* Queue.offer(changes, undefined)
      yield* TestClock.adjust("59 seconds")
      assert.isFalse(told.some(([method]) => method === "notifications/cancelled"))
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(
        told.some(([method]) => method === "notifications/cancelled"),
        "the server is told"
      )
      hangs = false
      yield* Queue.offer(changes, undefined)
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(listed, [["a"]])
    }).pipe(Effect.scoped)
  )
})

const refused = new McpFailed({ message: "answered with the error -32601: gone", code: -32601 })
const discovered = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "new", version: "3" } }
}

describe("the revision without a handshake", () => {
  it.effect("is spoken with a server that refuses the handshake, and says who asks in every request", () =>
    Effect.gen(function* () {
      const schema = {
        type: "object",
        properties: {
          region: { type: "string", "x-mcp-header": "Region" },
          deep: { type: "object", properties: { ok: { type: "boolean", "x-mcp-header": "Ok" } } },
          bad: { type: "string", "x-mcp-header": "a b" }
        }
      }
      const { requests, told, transport } = transportOf({
        initialize: refused,
        "server/discover": discovered,
        "tools/list": { resultType: "complete", tools: [{ name: "größe", inputSchema: schema }] },
        "tools/call": { resultType: "complete", content: [] }
      })
      const { server } = yield* connect(transport)
      assert.deepInclude(server, { revision: "2026-07-28", software: "new 3" })
      const [found] = server.listed.tools
      assert.isDefined(found)
      const input = { region: "eu west", deep: { ok: true }, bad: "x" }
      yield* server.call(found, input, callContext())
      assert.isFalse(told.some(([method]) => method === "notifications/initialized"))
      for (const { headers, method, params } of requests.slice(1)) {
        assert.deepInclude(Object(params["_meta"]), { "io.modelcontextprotocol/protocolVersion": "2026-07-28" }, method)
        assert.strictEqual(headers?.["mcp-method"], method)
      }
      assert.deepStrictEqual(requests.at(-1)?.headers, {
        "mcp-method": "tools/call",
        "mcp-name": "=?base64?Z3LDtsOfZQ==?=",
        "mcp-param-region": "eu west",
        "mcp-param-ok": "true"
      })
    }).pipe(Effect.scoped)
  )

  it.effect("a refused handshake is the reason where nothing else works either", () =>
    Effect.gen(function* () {
      const { transport } = transportOf({ initialize: refused, "server/discover": refused })
      assert.strictEqual((yield* Effect.flip(connect(transport))).message, refused.message)
    }).pipe(Effect.scoped)
  )

  it.effect("a refused subscription is not asked for again, and one that ends ever more rarely", () =>
    Effect.gen(function* () {
      const listening = { ...discovered, capabilities: { tools: { listChanged: true } } }
      const asked = Effect.fnUntraced(function* (answer: Answer) {
        const { requests, transport } = transportOf({
          initialize: refused,
          "server/discover": listening,
          "tools/list": { tools: [] },
          "subscriptions/listen": answer
        })
        yield* connect(transport)
        yield* TestClock.adjust("1 minute")
        return requests.filter(({ method }) => method === "subscriptions/listen").length
      })
      assert.strictEqual(yield* asked(refused), 1)
      assert.strictEqual(yield* asked(new McpFailed({ message: "internal", code: -32603 })), 1)
      assert.strictEqual(yield* asked({ resultType: "complete" }), 6)
    }).pipe(Effect.scoped)
  )

  it.effect("what a call needs is asked for, and the call repeated with it", () =>
    Effect.gen(function* () {
      const needed = {
        resultType: "input_required",
        requestState: "opaque",
        inputRequests: {
          who: { method: "elicitation/create", params: { message: "Who?", requestedSchema: { type: "object" } } },
          where: { method: "roots/list" }
        }
      }
      const { requests, transport } = transportOf({
        initialize: refused,
        "server/discover": discovered,
        "tools/list": { tools: [] },
        "tools/call": [needed, { content: [{ type: "text", text: "done" }] }]
      })
      const { server } = yield* connect(transport, { elicitation: { form: true, url: false } })
      const asked: Array<unknown> = []
      const result = yield* server.call(
        tool,
        {},
        callContext({
          elicit: (request) =>
            Effect.sync(() => {
              asked.push(request)
              return { _tag: "Accepted", content: { name: "Ada" } } as const
            })
        })
      )
      assert.deepStrictEqual(result.content, [{ type: "text", text: "done" }])
      assert.deepInclude(Object(asked[0]), { callId: "call-1", message: 'The MCP server "x" asks: Who?' })
      assert.deepInclude(requests.at(-1)?.params, {
        name: "slow",
        requestState: "opaque",
        inputResponses: {
          who: { action: "accept", content: { name: "Ada" } },
          where: {
            roots: [
              { uri: "file:///w", name: "w" },
              { uri: "file:///w%20100%25/%C3%BC", name: "ü" }
            ]
          }
        }
      })
      const endless = transportOf({
        initialize: refused,
        "server/discover": discovered,
        "tools/list": { tools: [] },
        "tools/call": needed
      })
      const other = yield* connect(endless.transport)
      assert.match(
        (yield* Effect.flip(other.server.call(tool, {}, callContext()))).message,
        /needs an answer that it cannot get here/
      )
    }).pipe(Effect.scoped)
  )
})
