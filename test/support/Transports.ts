/** Ways to reach an agent. A transport is one object: what it starts is driven and judged like every other. */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import type * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Queue from "effect/Queue"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { settings } from "../../src/composition/Platform.ts"
import type { Agent } from "../../src/services/Agent.ts"
import * as AgentLive from "../../src/services/AgentLive.ts"
import { Auth } from "../../src/services/Auth.ts"
import { TokenStore } from "../../src/services/auth/TokenStore.ts"
import * as ClientFSLocal from "../../src/services/files/ClientFSLocal.ts"
import * as Changes from "../../src/composition/Changes.ts"
import { Plugins } from "../../src/services/Plugins.ts"
import * as Projects from "../../src/composition/Projects.ts"
import * as CommandFilesLive from "../../src/services/commands/files/CommandFilesLive.ts"
import * as CommandsLive from "../../src/services/commands/CommandsLive.ts"
import { Confinements } from "../../src/services/Confinements.ts"
import { Hooks } from "../../src/services/Hooks.ts"
import { McpManager } from "../../src/services/McpManager.ts"
import { Models } from "../../src/services/Models.ts"
import * as ModelsLive from "../../src/services/models/ModelsLive.ts"
import type { Script } from "../../src/services/models/script/Script.ts"
import { Grants } from "../../src/services/permission/Grants.ts"
import { PermissionBroker } from "../../src/services/PermissionBroker.ts"
import * as SandboxRunnerLocal from "../../src/services/sandbox/SandboxRunnerLocal.ts"
import * as Sessions from "../../src/services/Sessions.ts"
import type { Settings } from "../../src/services/Settings.ts"
import * as SessionStoreSqlite from "../../src/services/store/SessionStoreSqlite.ts"
import * as NotesSqlite from "../../src/services/notes/NotesSqlite.ts"
import * as BuiltInTools from "../../src/services/tools/BuiltInTools.ts"
import { Web } from "../../src/services/Web.ts"
import * as TurnLoop from "../../src/services/turn/TurnLoop.ts"
import * as Connection from "../../src/transports/acp/Connection.ts"
import * as Memory from "../../src/transports/Memory.ts"
import { bin, node } from "./Program.ts"
import { shared } from "./Rows.ts"

export interface AgentOptions {
  /** The folder of `config.toml`, tokens and sessions. Two agents of one home share what they keep. */
  readonly home: string
  /** What the only model answers; without it the models of `config.toml`. */
  readonly script?: Script
  readonly config?: string
  /** Beside the few variables that every program has. */
  readonly environment?: Readonly<Record<string, string>>
}

/** The client's end of one connection to an agent. */
export interface Channel {
  readonly send: (line: string) => Effect.Effect<void>
  /** The lines of the agent; ends when it says no more. */
  readonly lines: Stream.Stream<string>
  /** No more input. */
  readonly end: Effect.Effect<void>
  /** Nobody reads any more. */
  readonly hangUp: Effect.Effect<void>
  /** Ends the agent as abruptly as the transport can. */
  readonly kill: Effect.Effect<void>
  /** Waits until the agent is gone; 0 means that it ended in order. */
  readonly ended: Effect.Effect<number>
  /** What the agent logged, at every level. */
  readonly log: () => string
  /** Bytes as they are, where messages are cut out of a stream of bytes. */
  readonly write?: (bytes: Uint8Array) => Effect.Effect<void>
  /** The number of the process of the agent, if it has one of its own. */
  readonly agentPid?: () => number
  /**
   * A further connection to the same agent, on transports that have more than one. What ends it (`end` in order, `hangUp`
   * and `kill` by cutting it off) leaves the agent and the other connections alone, and `ended` waits for its own end.
   */
  readonly another?: Effect.Effect<Channel, never, Scope.Scope>
}

export interface Transport {
  readonly name: string
  readonly open: (options: AgentOptions) => Effect.Effect<Channel, never, Scope.Scope>
  /** Whether the agent lives in the time of the test. */
  readonly inProcess: boolean
  /** Rows of the conformance list that mean nothing here, with the reason. */
  readonly notApplicable: Readonly<Record<string, string>>
}

const environmentOf = ({ environment, home }: AgentOptions): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: home,
  SUPERCHARGE_HOME: home,
  SUPER_PI_LOG_STDERR: "trace",
  ...environment
})

const prepare = ({ config, home }: AgentOptions): Effect.Effect<void> =>
  Effect.sync(() => {
    mkdirSync(home, { recursive: true })
    if (config !== undefined) writeFileSync(join(home, "config.toml"), config)
  })

const agentOf = (options: AgentOptions, environment: Record<string, string>) => {
  const { home, script } = options
  const turns = TurnLoop.layer.pipe(
    Layer.provide([
      BuiltInTools.layer(environment),
      Confinements.layer,
      Hooks.layer(environment),
      Layer.provide(PermissionBroker.layer, Grants.layer)
    ]),
    Layer.provide([
      SandboxRunnerLocal.layer(environment),
      ClientFSLocal.layer,
      NotesSqlite.layerHome,
      Web.layer(environment)
    ])
  )
  const commands = CommandsLive.layer.pipe(Layer.provide(CommandFilesLive.layer), Layer.provide(Plugins.layer))
  return AgentLive.layer.pipe(
    Layer.provide(Sessions.layer),
    Layer.provide(Layer.provideMerge(commands, turns)),
    Layer.provide([
      McpManager.layer(environment),
      SessionStoreSqlite.layer({ file: join(home, "sessions.db") }),
      Layer.provide(Auth.layer, TokenStore.layer)
    ]),
    Layer.provide([Changes.layer, Projects.layer]),
    Layer.provide(script === undefined ? ModelsLive.layer : Models.scripted(script)),
    Layer.provide(NodeChildProcessSpawner.layer),
    Layer.provideMerge(
      settings({ alwaysApprove: false, ...(script === undefined ? {} : { model: "scripted/script" }) })
    ),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: environment })))
  )
}

/** The editor's end of a linked pair whose other end is served. */
const channelOf = (
  editor: Memory.MemoryEnd,
  serving: Fiber.Fiber<void>
): Omit<Channel, "log" | "hangUp" | "kill" | "another"> => ({
  send: (line) => editor.send([line]),
  lines: Stream.map(editor.incoming, (frame) => (frame._tag === "Text" ? frame.text : frame._tag)),
  end: editor.end,
  ended: Effect.map(Fiber.await(serving), (exit) => (exit._tag === "Success" ? 0 : 1))
})

/** The agent in this process, over linked pairs, with the model as a value. The first connection is served as stdio is. */
export const memory: Transport = {
  name: "memory",
  inProcess: true,
  open: Effect.fnUntraced(function* (options) {
    yield* prepare(options)
    const link = yield* Memory.pair
    const log: Array<string> = []
    const logger = Logger.map(Logger.formatLogFmt, (line) => {
      log.push(line)
    })
    const logging = Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "All"))
    const agent = Layer.provideMerge(agentOf(options, environmentOf(options)), logging)
    const built = yield* Deferred.make<Context.Context<Agent | Settings>>()
    const serving = yield* Effect.forkScoped(
      Effect.gen(function* () {
        const services = yield* Layer.build(agent)
        yield* Deferred.succeed(built, services)
        yield* Effect.provideContext(Connection.serve(link.agent, { version: "0.0.0" }), services)
      }).pipe(Effect.scoped, Effect.ensuring(link.agent.end)),
      { startImmediately: true }
    )
    const another = Effect.gen(function* () {
      const services = yield* Deferred.await(built)
      const { agent, editor } = yield* Memory.pair
      const serving = yield* Effect.forkScoped(
        Connection.serveRemote(agent, { version: "0.0.0" }).pipe(
          Effect.provideContext(services),
          Effect.ensuring(agent.end)
        ),
        { startImmediately: true }
      )
      return { ...channelOf(editor, serving), hangUp: editor.close, kill: editor.close, log: () => log.join("\n") }
    })
    return {
      ...channelOf(link.editor, serving),
      hangUp: link.editor.close,
      kill: Effect.asVoid(Fiber.interrupt(serving)),
      log: () => log.join("\n"),
      another
    }
  }),
  notApplicable: {
    "TR-03": "the linked pair hands over whole messages: there are no lines to cut",
    "TR-09": "says that stdio is served"
  }
}

/** Cuts what a process writes at each line feed; bytes that are no UTF-8 end the test. */
const lineCutter = (take: (line: string) => void) => {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let parts: Array<Uint8Array> = []
  return {
    push(chunk: Buffer) {
      let start = 0
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        parts.push(chunk.subarray(start, end))
        take(decoder.decode(Buffer.concat(parts)))
        parts = []
        start = end + 1
      }
      if (start < chunk.length) parts.push(chunk.subarray(start))
    },
    /** A last line that was never ended. */
    end: () => (parts.length > 0 ? take(`unended: ${Buffer.concat(parts).toString()}`) : undefined)
  }
}

/** The built program, as an editor starts it. */
export const stdio: Transport = {
  name: "stdio",
  inProcess: false,
  open: Effect.fnUntraced(function* (options) {
    yield* prepare(options)
    const file = join(options.home, "script.json")
    if (options.script !== undefined) writeFileSync(file, JSON.stringify(options.script))
    const args = options.script === undefined ? [] : ["--model", `scripted/${file}`]
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(node, [bin, "acp", ...args], { cwd: "/", env: environmentOf(options) })),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    const lines = yield* Queue.unbounded<string, Cause.Done>()
    const ended = yield* Deferred.make<number>()
    let log = ""
    const cutter = lineCutter((line) => Queue.offerUnsafe(lines, line))
    child.stdin.on("error", () => {})
    child.stdout.on("data", cutter.push)
    child.stdout.on("close", () => {
      cutter.end()
      Queue.endUnsafe(lines)
    })
    child.stderr.setEncoding("utf8").on("data", (text) => (log += text))
    child.on("close", (code) => Deferred.doneUnsafe(ended, Effect.succeed(code ?? -1)))
    const write = (bytes: Uint8Array | string): Effect.Effect<void> =>
      Effect.callback((resume) => {
        child.stdin.write(bytes, () => resume(Effect.void))
      })
    return {
      send: (line) => write(`${line}\n`),
      lines: Stream.fromQueue(lines),
      end: Effect.sync(() => child.stdin.end()),
      hangUp: Effect.sync(() => child.stdout.destroy()),
      kill: Effect.sync(() => child.kill("SIGKILL")),
      ended: Deferred.await(ended),
      log: () => log,
      write
    }
  }),
  notApplicable: Object.fromEntries(shared.map((row) => [row, "the process has one connection"]))
}
