/** MCP servers of the test, by name: `dead` is not available, `slow` never answers, `broken` kills its connector. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { McpSpec } from "../../src/domain/McpSpec.ts"
import { type McpContext, McpManager, type WantedServer } from "../../src/services/McpManager.ts"
import { echo, fakeTool } from "./fakeTools.ts"

export const server = (name: string): McpSpec => ({ _tag: "Stdio", name, command: "none", args: [], env: [] })

/**
 * `alive` holds the names of the servers that run; `started` is done when the first of them does; `wanted` and `contexts` are
 * what the manager was given.
 */
export const fakeServers = () => {
  const alive: Array<string> = []
  const wanted: Array<ReadonlyArray<WantedServer>> = []
  const contexts: Array<McpContext> = []
  const first = Deferred.makeUnsafe<void>()

  const connect = Effect.fnUntraced(function* ({ spec: { name } }: WantedServer, { notify }: McpContext) {
    if (name === "broken") return yield* Effect.die(new Error("secret detail"))
    if (name === "slow") return { tools: Effect.never }
    if (name === "dead") {
      yield* notify({
        _tag: "Notice",
        severity: "warning",
        title: "The MCP server dead is not available",
        description: "It ended"
      })
      return { tools: Effect.succeed([]) }
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => alive.push(name)),
      () => Effect.sync(() => alive.splice(alive.indexOf(name), 1))
    )
    yield* Deferred.succeed(first, undefined)
    return { tools: Effect.succeed([fakeTool(`mcp__${name}__echo`, echo)]) }
  })

  const layer = Layer.succeed(McpManager, {
    connect: (servers, context) =>
      Effect.gen(function* () {
        wanted.push(servers)
        contexts.push(context)
        const connected = yield* Effect.forEach(servers, (server) => connect(server, context))
        return {
          tools: Effect.map(
            Effect.forEach(connected, ({ tools }) => tools),
            (tools) => tools.flat()
          ),
          prompts: Effect.succeed([]),
          status: Effect.succeed([])
        }
      })
  })
  return { alive, contexts, layer, started: Deferred.await(first), wanted }
}
