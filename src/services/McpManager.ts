/** MCP servers of a session: their tools become tools of the model, their processes end with the scope. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import { childEnvironment, type Environment } from "../domain/ChildEnvironment.ts"
import type { Content } from "../domain/Content.ts"
import type { Elicitation, ElicitationAnswer } from "../domain/Elicitation.ts"
import type { Notice } from "../domain/Event.ts"
import type { InvalidInput } from "../domain/Failure.ts"
import type { SessionId } from "../domain/Ids.ts"
import { secretsOf } from "./settings/Secrets.ts"
import { type McpServerSettings, Settings } from "./Settings.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"

/** Who wants a server: the client of the session, the user's settings, or those of the project. */
export type McpOrigin = "client" | "settings" | "project"

/** A server to connect. */
export interface WantedServer extends McpServerSettings {
  readonly origin: McpOrigin
}

/** What a server may ask of a person. */
export interface ElicitationForms {
  readonly form: boolean
  readonly url: boolean
}

/** The session that uses the servers, as far as they may know it. */
export interface McpContext {
  readonly sessionId: SessionId
  /** Where servers are started; absolute. */
  readonly cwd: string
  /** The folders of the workspace, absolute, at this moment. */
  readonly roots: () => ReadonlyArray<string>
  /** Results that are too long are kept in `mcp` below it. */
  readonly scratch: string
  /** What the person should know of the servers. */
  readonly notify: (notice: Notice) => Effect.Effect<void>
  /** Which questions of servers a person can be asked. */
  readonly elicitation: ElicitationForms
  /** Asks a person what a server wants to know outside of a call. */
  readonly elicit: (request: Elicitation) => Effect.Effect<ElicitationAnswer>
}

/** One server at this moment. */
export interface McpStatus {
  readonly name: string
  readonly origin: McpOrigin
  readonly transport: "stdio" | "http" | "sse"
  /** `waiting`: it failed, and is tried again by itself. `failed`: it is not. */
  readonly state: "connecting" | "ready" | "waiting" | "failed"
  /** Names that the model calls. */
  readonly tools: ReadonlyArray<string>
  /** What the server says that it is, such as `github 1.2.0`. */
  readonly software?: string
  /** The revision of the protocol that is spoken. */
  readonly revision?: string
  /** Why it is not ready, without secrets. */
  readonly problem?: string
}

/** A prompt of a server. */
export interface McpPrompt {
  /** Of the command: `mcp__server__prompt`. */
  readonly name: string
  readonly description: string
  readonly arguments: ReadonlyArray<McpArgument>
  /** What the server makes of the arguments. The message of a failure names the server. */
  readonly get: (given: Readonly<Record<string, string>>) => Effect.Effect<ReadonlyArray<Content>, InvalidInput>
}

/** What a prompt wants to know. */
export interface McpArgument {
  readonly name: string
  readonly description?: string
  readonly required: boolean
}

/** The servers of a session. */
export interface McpConnection {
  /** Of the servers that are ready. Until they all were or failed, it waits, but for each no longer than its time. */
  readonly tools: Effect.Effect<ReadonlyArray<ToolDefinition>>
  /** Of the servers that are ready, as they are now. Waits for nobody who is not. */
  readonly prompts: Effect.Effect<ReadonlyArray<McpPrompt>>
  readonly status: Effect.Effect<ReadonlyArray<McpStatus>>
}

/** What `McpManager` promises. */
export interface McpManagerShape {
  /**
   * Returns at once; servers connect in the background, and again when they are lost. The end of the scope does not wait for
   * the servers to end.
   */
  readonly connect: (
    servers: ReadonlyArray<WantedServer>,
    context: McpContext
  ) => Effect.Effect<McpConnection, never, Scope.Scope>
}

/** No servers. */
export const noServers: McpConnection = {
  tools: Effect.succeed([]),
  prompts: Effect.succeed([]),
  status: Effect.succeed([])
}

/** Connects the MCP servers of sessions. */
export class McpManager extends Context.Service<McpManager, McpManagerShape>()("super-pi/McpManager") {
  /** `environment` is what servers inherit and their settings may read, such as the process's own. All servers have ended when the layer has. */
  static readonly layer = (
    environment: Environment
  ): Layer.Layer<McpManager, never, ChildProcessSpawner | FileSystem.FileSystem | Path.Path | Settings> =>
    Layer.effect(
      McpManager,
      Effect.gen(function* () {
        const spawner = yield* ChildProcessSpawner
        const fileSystem = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const settings = yield* Settings
        const scope = yield* Effect.scope
        const inBackground = (effect: Effect.Effect<void>) =>
          Effect.asVoid(Effect.forkIn(effect, scope, { startImmediately: true, uninterruptible: true }))

        const connect = Effect.fn("McpManager.connect")(function* (
          servers: ReadonlyArray<WantedServer>,
          context: McpContext
        ) {
          if (servers.length === 0) return noServers
          const value = yield* settings.current
          const connector = yield* Effect.promise(() => import("./mcp/McpConnector.ts"))
          return yield* connector
            .connect({
              servers,
              context,
              outputLimit: value.mcpOutputLimit,
              environment: childEnvironment(environment, secretsOf(value)),
              variables: environment,
              fileSystem,
              path,
              inBackground
            })
            .pipe(Effect.provideService(ChildProcessSpawner, spawner))
        })

        return { connect }
      })
    )

  /** Connects nothing. */
  static readonly layerNone: Layer.Layer<McpManager> = Layer.succeed(McpManager, {
    connect: () => Effect.succeed(noServers)
  })

  /** Gives these tools to every session that has a server. */
  static readonly layerTest = (tools: ReadonlyArray<ToolDefinition>): Layer.Layer<McpManager> =>
    Layer.succeed(McpManager, {
      connect: (servers) =>
        Effect.succeed(servers.length === 0 ? noServers : { ...noServers, tools: Effect.succeed(tools) })
    })
}
