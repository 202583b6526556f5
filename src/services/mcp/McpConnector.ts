/** Connects the MCP servers of one session, all at once, each in a scope of its own. Loaded with the first server. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Scope from "effect/Scope"
import type { Notice } from "../../domain/Event.ts"
import type { McpSpec } from "../../domain/McpSpec.ts"
import type { McpConnection } from "../McpManager.ts"
import * as McpServer from "./McpServer.ts"
import { makeAliases, makeTool, makeToolNames } from "./McpToolDefinition.ts"
import { McpFailed } from "./McpTransport.ts"
import * as Redactor from "./Redactor.ts"
import * as StdioTransport from "./StdioTransport.ts"

const CONNECT_TIMEOUT = Duration.seconds(30)
const CONCURRENT = 8

export interface ConnectOptions {
  readonly specs: ReadonlyArray<McpSpec>
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** Runs without holding up whoever asks for it. */
  readonly inBackground: (effect: Effect.Effect<void>) => Effect.Effect<void>
}

interface Connected {
  readonly spec: McpSpec
  readonly redactor: Redactor.Redactor
  readonly server: McpServer.McpServer | McpFailed
}

const open = Effect.fnUntraced(function* (spec: McpSpec, redact: (text: string) => string, options: ConnectOptions) {
  if (spec._tag === "Stdio") {
    const { cwd, environment } = options
    return yield* McpServer.connect(yield* StdioTransport.open({ spec, cwd, environment, redact }))
  }
  const HttpTransport = yield* Effect.promise(() => import("./HttpTransport.ts"))
  return yield* McpServer.connect(yield* HttpTransport.open(spec))
})

const connectOne = Effect.fnUntraced(function* (spec: McpSpec, options: ConnectOptions) {
  const redactor = Redactor.makeFor(spec)
  const scope = yield* Scope.make()
  const close = options.inBackground(Scope.close(scope, Exit.void))
  yield* Effect.addFinalizer(() => close)
  const server = yield* open(spec, redactor.strict, options).pipe(
    Scope.provide(scope),
    Effect.timeoutOrElse({
      duration: CONNECT_TIMEOUT,
      orElse: () =>
        Effect.fail(new McpFailed({ message: `did not get ready within ${Duration.format(CONNECT_TIMEOUT)}` }))
    }),
    Effect.catch((failure) => Effect.as(close, failure))
  )
  return { spec, redactor, server } satisfies Connected
})

const noticeOf = (name: string, problem: string): Notice => ({
  _tag: "Notice",
  severity: "warning",
  title: `The MCP server "${name}" cannot be used`,
  description: `It ${problem}. The session goes on without its tools; correct the server's settings and open the session again.`
})

export const connect = Effect.fnUntraced(function* (
  options: ConnectOptions
): Effect.fn.Return<McpConnection, never, Scope.Scope | ChildProcessSpawner> {
  const connected = yield* Effect.forEach(
    options.specs,
    (spec) => Effect.annotateLogs(connectOne(spec, options), { mcpServer: spec.name }),
    { concurrency: CONCURRENT }
  )
  const aliases = makeAliases()
  const names = makeToolNames()
  const tools: Array<McpConnection["tools"][number]> = []
  const notices: Array<Notice> = []
  for (const { redactor, server, spec } of connected) {
    const alias = aliases(spec.name)
    if (server instanceof McpFailed) notices.push(noticeOf(spec.name, redactor.problem(server)))
    else
      for (const tool of server.tools) tools.push(makeTool(tool, { name: spec.name, alias, server, redactor, names }))
  }
  return { tools, notices }
})
