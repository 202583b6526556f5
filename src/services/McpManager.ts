/** MCP servers of a session: their tools become tools of the model, their processes end with the scope. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import { childEnvironment, type Environment } from "../domain/ChildEnvironment.ts"
import type { Notice } from "../domain/Event.ts"
import type { McpSpec } from "../domain/McpSpec.ts"
import { secretsOf } from "./settings/Secrets.ts"
import { Settings } from "./Settings.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"

/** What the servers of a session gave. */
export interface McpConnection {
  readonly tools: ReadonlyArray<ToolDefinition>
  /** One for each server that could not be used: never a reason to fail the session (MCP-04). */
  readonly notices: ReadonlyArray<Notice>
}

/** What `McpManager` promises. */
export interface McpManagerShape {
  /** Waits for every server, for each at most 30 seconds. The end of the scope does not wait for the servers to end. */
  readonly connect: (specs: ReadonlyArray<McpSpec>, cwd: string) => Effect.Effect<McpConnection, never, Scope.Scope>
}

const nothing: McpConnection = { tools: [], notices: [] }

/** Connects the MCP servers that a client names for a session. */
export class McpManager extends Context.Service<McpManager, McpManagerShape>()("super-pi/McpManager") {
  /** `environment` is what servers inherit, such as the process's own. All servers have ended when the layer has. */
  static readonly layer = (environment: Environment): Layer.Layer<McpManager, never, ChildProcessSpawner | Settings> =>
    Layer.effect(
      McpManager,
      Effect.gen(function* () {
        const spawner = yield* ChildProcessSpawner
        const settings = yield* Settings
        const scope = yield* Effect.scope
        const inBackground = (effect: Effect.Effect<void>) =>
          Effect.asVoid(Effect.forkIn(effect, scope, { startImmediately: true, uninterruptible: true }))

        const connect = Effect.fn("McpManager.connect")(function* (specs: ReadonlyArray<McpSpec>, cwd: string) {
          if (specs.length === 0) return nothing
          const inherited = childEnvironment(environment, secretsOf(yield* settings.current))
          const connector = yield* Effect.promise(() => import("./mcp/McpConnector.ts"))
          return yield* connector
            .connect({ specs, cwd, environment: inherited, inBackground })
            .pipe(Effect.provideService(ChildProcessSpawner, spawner))
        })

        return { connect }
      })
    )

  /** Connects nothing. */
  static readonly layerNone: Layer.Layer<McpManager> = Layer.succeed(McpManager, {
    connect: () => Effect.succeed(nothing)
  })

  /** Gives these tools to every session that names a server. */
  static readonly layerTest = (tools: ReadonlyArray<ToolDefinition>): Layer.Layer<McpManager> =>
    Layer.succeed(McpManager, {
      connect: (specs) => Effect.succeed(specs.length === 0 ? nothing : { tools, notices: [] })
    })
}
