/** Connects the MCP servers of one session, all at once, each by itself. Loaded with the first server. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import type { Environment } from "../../domain/ChildEnvironment.ts"
import type { McpConnection, McpContext, WantedServer } from "../McpManager.ts"
import { expandServer } from "./Expansion.ts"
import { makeAliases, makeToolNames } from "./tool/McpToolDefinition.ts"
import * as Spill from "./tool/Spill.ts"
import * as Supervisor from "./Supervisor.ts"

export interface ConnectOptions {
  readonly servers: ReadonlyArray<WantedServer>
  readonly context: McpContext
  /** Bytes of a result that the model gets. */
  readonly outputLimit: number
  /** What servers inherit. */
  readonly environment: Readonly<Record<string, string>>
  /** What their settings may read. */
  readonly variables: Environment
  readonly fileSystem: FileSystem.FileSystem
  readonly path: Path.Path
  /** Runs without holding up whoever asks for it. */
  readonly inBackground: (effect: Effect.Effect<void>) => Effect.Effect<void>
}

export const connect = Effect.fnUntraced(function* (
  options: ConnectOptions
): Effect.fn.Return<McpConnection, never, Scope.Scope | ChildProcessSpawner> {
  const { context, environment, fileSystem, inBackground, outputLimit, path, servers, variables } = options
  const aliases = makeAliases()
  const toolName = makeToolNames()
  const spill = Spill.make(fileSystem, path, path.join(context.scratch, "mcp"))
  const supervised = yield* Effect.forEach(servers, (wanted) => {
    const { problem, read, spec } = expandServer(wanted, variables)
    if (problem !== undefined) return Supervisor.unusable(wanted, problem)
    return Supervisor.start({
      wanted: { ...wanted, spec },
      read,
      alias: aliases(wanted.spec.name),
      toolName,
      context,
      environment,
      outputLimit,
      spill,
      inBackground
    })
  })
  return {
    tools: Effect.gen(function* () {
      yield* Effect.forEach(supervised, ({ settled }) => settled, { concurrency: "unbounded", discard: true })
      for (const { changes } of supervised) yield* Effect.forEach(changes(), context.notify, { discard: true })
      return supervised.flatMap(({ tools }) => tools())
    }),
    prompts: Effect.map(
      Effect.forEach(supervised, ({ prompts }) => prompts, { concurrency: "unbounded" }),
      (all) => all.flat()
    ),
    status: Effect.sync(() => supervised.map(({ status }) => status()))
  }
})
