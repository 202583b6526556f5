/** MCP servers without a session around them: connected as one would, with their tools and notices at the first use. */
import { assert } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createServer } from "node:net"
import { join } from "node:path"
import type { Notice } from "../../../src/domain/Event.ts"
import { SessionId } from "../../../src/domain/Ids.ts"
import type { McpSpec } from "../../../src/domain/McpSpec.ts"
import { McpManager, type McpContext, type WantedServer } from "../../../src/services/McpManager.ts"
import { defaultSettings } from "../../../src/services/settings/Merge.ts"
import { Settings, type SettingsValue } from "../../../src/services/Settings.ts"
import type { ToolContext, ToolDefinition } from "../../../src/services/ToolDefinition.ts"
import { makeContext } from "../toolbox.ts"

export const secret = "s3cr3t-token-0123456789"
export const modelKey = "sk-key-of-a-model-provider"

export const managerWith = (value: Partial<SettingsValue> = {}) =>
  McpManager.layer({ ...process.env, MY_OWN_KEY: modelKey, ANTHROPIC_API_KEY: "x" }).pipe(
    Layer.provide(
      Layer.succeed(Settings, {
        home: "/home/ada/.supercharge",
        current: Effect.succeed<SettingsValue>({
          ...defaultSettings,
          providers: [{ name: "mine", kind: "openai", apiKey: Redacted.make(modelKey), models: [] }],
          ...value
        })
      })
    ),
    Layer.provideMerge(NodeServices.layer)
  )

export const manager = managerWith()

export const pairs = (record: Record<string, string>) =>
  Object.entries(record).map(([name, value]) => ({ name, value: Redacted.make(value) }))

export const oddFile = join(import.meta.dirname, "oddServer.mjs")

const modules = join(import.meta.dirname, "../../../node_modules/@modelcontextprotocol")
/** The program of a reference server. */
export const reference = (name: "everything" | "filesystem" | "memory") => join(modules, `server-${name}/dist/index.js`)

export const stdio = (name: string, args: ReadonlyArray<string>, env: Record<string, string> = {}): McpSpec => ({
  _tag: "Stdio",
  name,
  command: process.execPath,
  args,
  env: pairs(env)
})
export const odd = (name: string, ...faults: ReadonlyArray<string>) =>
  stdio(name, [oddFile, ...faults], { ODD_TOKEN: secret, ODD_MODE: "production" })
export const http = (url: string, headers: Record<string, string> = {}): McpSpec => ({
  _tag: "Http",
  name: "remote",
  url,
  headers: pairs(headers)
})
export const sse = (url: string, headers: Record<string, string> = {}): McpSpec => ({
  _tag: "Sse",
  name: "remote",
  url,
  headers: pairs(headers)
})

export const workspace = {
  sessionId: SessionId.make("s"),
  cwd: "/w",
  roots: ["/w"],
  editor: undefined,
  scratch: "/tmp/none",
  lifetime: Scope.makeUnsafe()
}

export const wanted = (spec: McpSpec, times: Partial<WantedServer> = {}): WantedServer => ({
  spec,
  origin: "client",
  toolTimeouts: {},
  ...times
})

/** Servers that begin to connect. */
export const begin = Effect.fnUntraced(function* (
  servers: ReadonlyArray<WantedServer>,
  context: Partial<McpContext> = {}
) {
  const { connect } = yield* McpManager
  const notices: Array<Notice> = []
  const connection = yield* connect(servers, {
    sessionId: workspace.sessionId,
    cwd: import.meta.dirname,
    roots: () => [import.meta.dirname],
    scratch: "/tmp/none",
    notify: (notice) => Effect.sync(() => notices.push(notice)),
    elicitation: { form: false, url: false },
    elicit: () => Effect.succeed({ _tag: "Unanswered", reason: "nobody is there" }),
    ...context
  })
  return { ...connection, notices }
})

export interface Connected {
  readonly tools: ReadonlyArray<ToolDefinition>
}

/** Servers at their first use. */
export const connectWith = Effect.fnUntraced(function* (
  servers: ReadonlyArray<WantedServer>,
  context: Partial<McpContext> = {}
) {
  const connection = yield* begin(servers, context)
  return { ...connection, now: connection.tools, tools: yield* connection.tools }
})

export const connect = (...specs: ReadonlyArray<McpSpec>) => connectWith(specs.map((spec) => wanted(spec)))

export const find = ({ tools }: Connected, name: string) => {
  const found = tools.find(({ tool }) => tool.name === name)
  if (found === undefined) throw new Error(`no ${name} in ${tools.map(({ tool }) => tool.name).join(" ")}`)
  return found
}

export const call = (connection: Connected, name: string, input: unknown = {}, overrides: Partial<ToolContext> = {}) =>
  Effect.flatMap(find(connection, name).prepare(input, workspace), ({ run }) => run(makeContext(workspace, overrides)))

/** Asks again until it is so: for what another process does. */
export const eventually = <E, R>(what: Effect.Effect<boolean, E, R>) =>
  Effect.flatMap(what, (isSo) => (isSo ? Effect.void : Effect.fail("not yet" as const))).pipe(
    Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 400 })
  )

export const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
export const gone = (pid: number) => eventually(Effect.sync(() => !isAlive(pid)))

export const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

const freePort = Effect.callback<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

/** The reference server with everything, behind HTTP on a free port; the scope ends it. */
export const everythingOver = Effect.fnUntraced(function* (mode: "streamableHttp" | "sse", given?: number) {
  const port = given ?? (yield* freePort)
  const spawner = yield* ChildProcessSpawner
  const server = yield* spawner.spawn(
    ChildProcess.make(process.execPath, [reference("everything"), mode], {
      env: { PORT: `${port}` },
      stdin: "ignore",
      stdout: "ignore",
      forceKillAfter: 200
    })
  )
  const listening = server.stderr.pipe(
    Stream.decodeText(),
    Stream.filter((words) => /listening|running on port/.test(words)),
    Stream.runHead
  )
  assert.strictEqual((yield* listening)._tag, "Some")
  return { port, url: `http://127.0.0.1:${port}/${mode === "sse" ? "sse" : "mcp"}` }
})
