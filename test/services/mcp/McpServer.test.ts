import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as McpServer from "../../../src/services/mcp/McpServer.ts"
import type { McpTransport } from "../../../src/services/mcp/McpTransport.ts"

/** A transport in memory: `results` by method, and never an answer for any other. */
const transportOf = (results: Record<string, Schema.Json>) => {
  const told: Array<readonly [string, Schema.Json | undefined]> = []
  const transport: McpTransport = {
    request: (_, method, params) => {
      told.push([method, params])
      const result = results[method]
      return result === undefined ? Effect.never : Effect.succeed(result)
    },
    notify: (method, params) => Effect.sync(() => told.push([method, params])),
    agree: (revision) => told.push(["agree", revision])
  }
  return { told, transport }
}

const initialize = (protocolVersion: string, capabilities: Schema.Json = { tools: {} }) => ({
  protocolVersion,
  capabilities,
  serverInfo: {}
})

describe("McpServer", () => {
  it.effect("asks for the newest revision, agrees to the server's, and then lists", () =>
    Effect.gen(function* () {
      const tools = [
        { name: "a", description: 7, inputSchema: "none", annotations: { readOnlyHint: "yes" } },
        { name: "" }
      ]
      const { told, transport } = transportOf({ initialize: initialize("2024-11-05"), "tools/list": { tools } })
      const server = yield* McpServer.connect(transport)
      assert.deepStrictEqual(server.tools, [{ name: "a", annotations: {} }])
      assert.deepStrictEqual(
        told.map(([method]) => method),
        ["initialize", "agree", "notifications/initialized", "tools/list"]
      )
      assert.deepInclude(told[0]?.[1], { protocolVersion: "2025-11-25", capabilities: {} })
      assert.strictEqual(told[1]?.[1], "2024-11-05")
    })
  )

  it.effect("a server without tools is not asked for them", () =>
    Effect.gen(function* () {
      const { told, transport } = transportOf({ initialize: initialize("2025-06-18", { prompts: {} }) })
      assert.deepStrictEqual((yield* McpServer.connect(transport)).tools, [])
      assert.isFalse(told.some(([method]) => method === "tools/list"))
    })
  )

  it.effect("a call may take ten minutes, then it fails and the server is told (F103)", () =>
    Effect.gen(function* () {
      const { told, transport } = transportOf({ initialize: initialize("2025-06-18"), "tools/list": { tools: [] } })
      const server = yield* McpServer.connect(transport)
      const fiber = yield* Effect.forkChild(Effect.flip(server.call("slow", { a: 1 })))
      yield* TestClock.adjust("9 minutes")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(fiber)).message, "did not finish the call within 10m")
      assert.deepInclude(told.at(-1)?.[1], { requestId: 3 })
    })
  )
})
