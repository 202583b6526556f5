/** MCP servers of the test, by name: `dead` is not available, `slow` never answers, `broken` kills its connector. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { McpSpec } from "../../src/domain/McpSpec.ts"
import { McpManager } from "../../src/services/McpManager.ts"
import { echo, fakeTool } from "./fakeTools.ts"

export const server = (name: string): McpSpec => ({ _tag: "Stdio", name, command: "none", args: [], env: [] })

/** `alive` holds the names of the servers that run; `started` is done when the first of them does. */
export const fakeServers = () => {
  const alive: Array<string> = []
  const first = Deferred.makeUnsafe<void>()
  const connect = Effect.fnUntraced(function* ({ name }: McpSpec) {
    if (name === "broken") return yield* Effect.die(new Error("secret detail"))
    if (name === "slow") return yield* Effect.never
    if (name === "dead") {
      const notice = {
        _tag: "Notice",
        severity: "warning",
        title: "The MCP server dead is not available",
        description: "It ended"
      } as const
      return { tools: [], notices: [notice] }
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => alive.push(name)),
      () => Effect.sync(() => alive.splice(alive.indexOf(name), 1))
    )
    yield* Deferred.succeed(first, undefined)
    return { tools: [fakeTool(`mcp__${name}__echo`, echo)], notices: [] }
  })
  const layer = Layer.succeed(McpManager, {
    connect: (specs) =>
      Effect.map(Effect.forEach(specs, connect), (connections) => ({
        tools: connections.flatMap(({ tools }) => tools),
        notices: connections.flatMap(({ notices }) => notices)
      }))
  })
  return { alive, layer, started: Deferred.await(first) }
}
