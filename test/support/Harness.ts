/**
 * Conformance tests over any transport. A group shares one agent and its connection; a test that needs an agent of its
 * own stands alone. Every line that an agent writes is judged, and a test fails for it whatever else it looks at.
 */
import type {
  ClientCapabilities,
  McpServer,
  NewSessionRequest,
  RequestError,
  TextContent
} from "@agentclientprotocol/sdk"
import { assert, describe, it, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type * as Schema from "effect/Schema"
import { realpathSync } from "node:fs"
import { join } from "node:path"
import type { ScriptPart, ScriptStep } from "../../src/services/models/script/Script.ts"
import * as Client from "./Client.ts"
import { makeSession, type Session } from "./ClientSession.ts"
import * as Program from "./Program.ts"
import { hold, rowsOf } from "./Rows.ts"
import type { AgentOptions, Transport } from "./Transports.ts"

export type Version = 1

export interface Test {
  readonly client: Client.Client
  /** A folder of this test's own, and the place of its sessions. */
  readonly folder: string
  /** The home folder of the agent. */
  readonly home: string
  /** Makes a session, which is closed at the end of the test. */
  readonly open: (request?: Partial<NewSessionRequest>) => Effect.Effect<Session, RequestError, Scope.Scope>
  /** A session that was opened in another way. */
  readonly session: (id: string, opened?: object) => Session
  /** A text that this test's steps of the script answer. */
  readonly text: (words: string) => TextContent & { readonly type: "text" }
  /** Another client of the same agent, which is gone at the end of the test. */
  readonly another: (capabilities?: ClientCapabilities) => Effect.Effect<Test, RequestError, Scope.Scope>
  /** The same for a client that has not said anything yet. */
  readonly stranger: Effect.Effect<Test, never, Scope.Scope>
  /** Another agent with the same home, for tests that stand alone; `environment` adds to that of the first. */
  readonly restart: (environment?: Readonly<Record<string, string>>) => Effect.Effect<Test, RequestError>
}

interface Setup {
  readonly steps?: ReadonlyArray<ScriptStep>
}

type Body<E> = (test: Test) => Effect.Effect<void, E, Scope.Scope>

/** Registers a test, whose name begins with the rows that it holds. */
export type Row = <E>(name: string, setup: Setup, body: Body<E>) => void

export interface GroupOptions extends Pick<AgentOptions, "config" | "environment"> {
  readonly capabilities?: ClientCapabilities
}

export interface AloneOptions extends GroupOptions, Setup {
  /** Without it the test starts with the first line of all. Default `true`. */
  readonly initialized?: boolean
  /** Whether the scripted model is configured. Default `true`. */
  readonly scripted?: boolean
  /** Time passes only when the test says so; for an agent in this process. */
  readonly timeless?: boolean
}

export interface Suite {
  readonly group: (name: string, options: GroupOptions, define: (row: Row) => void) => void
  readonly alone: <E>(name: string, options: AloneOptions, body: Body<E>) => void
}

let tests = 0

/** Tests share a script: each has a key, which is in all its prompts and in what its steps wait for. */
const nextKey = (): string => `#${String(tests++).padStart(4, "0")}`

const keyed = (steps: ReadonlyArray<ScriptStep>, key: string): ReadonlyArray<ScriptStep> =>
  steps.map((step) => ({ ...step, when: step.when === undefined ? key : `${step.when} ${key}` }))

const closeSession = (client: Client.Client, sessionId: string): Effect.Effect<void> =>
  client.isOver()
    ? Effect.void
    : Effect.raceFirst(client.raw("session/close", { sessionId }), client.channel.ended).pipe(Effect.asVoid)

/** All clients of one test, so that a test that waits in vain can show what each of them has heard. */
type Clients = Array<Client.Client>

const isClean = (client: Client.Client, since = 0): void =>
  assert.deepStrictEqual(client.transcript.problems.slice(since), [])

const finish = Effect.fnUntraced(function* (client: Client.Client) {
  if (!client.isOver()) assert.strictEqual(yield* client.end, 0, client.channel.log())
  isClean(client)
})

const makeTest = (
  client: Client.Client,
  key: string,
  folder: string,
  home: string,
  clients: Clients,
  restart: Test["restart"] = () => Effect.die("only a test that stands alone can start another agent")
): Test => {
  clients.push(client)
  const stranger = Effect.gen(function* () {
    const { another } = client.channel
    if (another === undefined) return yield* Effect.die("this transport has one connection")
    const other = yield* Client.join({ ...(yield* another), another }, true)
    yield* Effect.addFinalizer(() => finish(other))
    return makeTest(other, key, folder, home, clients, restart)
  })
  return {
    client,
    folder,
    home,
    open: Effect.fnUntraced(function* (request = {}) {
      const opened = yield* client.request("session/new", { cwd: folder, mcpServers: [], ...request })
      yield* Effect.addFinalizer(() => closeSession(client, opened.sessionId))
      return makeSession(client, key, request.cwd ?? folder, opened.sessionId, opened)
    }),
    session: (id, opened = {}) => makeSession(client, key, folder, id, opened),
    text: (words) => ({ type: "text", text: `${words} ${key}` }),
    stranger,
    another: (capabilities) => Effect.tap(stranger, (test) => test.client.initialize(capabilities)),
    restart
  }
}

const realFolder = Effect.map(Program.folder, (path) => realpathSync(path))

/** A test that waits in vain shows what was heard last. */
const bounded = <A, E, R>(clients: Clients, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.timeoutOrElse(effect, {
    duration: "45 seconds",
    orElse: () => {
      const last = clients.map(({ transcript }) =>
        transcript.entries
          .slice(-12)
          .map(({ from, line }) => `${from}: ${line.slice(0, 600)}`)
          .join("\n")
      )
      return Effect.die(new Error(`Waited in vain. The last lines were:\n${last.join("\n---\n")}`))
    }
  })

class Shared extends Context.Service<Shared, { readonly client: Client.Client; readonly home: string }>()(
  "super-pi/test/Shared"
) {}

export const suite = (version: Version, transport: Transport): Suite => {
  const meansNothing = (name: string): boolean => rowsOf(name).every((row) => row in transport.notApplicable)

  const start = Effect.fnUntraced(function* (
    home: string,
    options: GroupOptions,
    steps: ReadonlyArray<ScriptStep> | undefined
  ) {
    const { config, environment } = options
    return yield* Client.open(transport, {
      home,
      ...(steps === undefined ? {} : { script: { steps } }),
      ...(config === undefined ? {} : { config }),
      ...(environment === undefined ? {} : { environment })
    })
  })

  return {
    group(name, options, define) {
      const steps: Array<ScriptStep> = []
      const shared = Layer.effect(
        Shared,
        Effect.gen(function* () {
          const home = join(yield* realFolder, ".supercharge")
          const client = yield* start(home, options, steps)
          yield* client.initialize(options.capabilities)
          yield* Effect.addFinalizer(() => finish(client))
          return { client, home }
        })
      )
      layer(shared, { excludeTestServices: true })(`v${version} over ${transport.name}: ${name}`, (it) => {
        define((name, setup, body) => {
          if (meansNothing(name)) return
          hold(transport.name, name)
          const key = nextKey()
          steps.push(...keyed(setup.steps ?? [], key))
          it.effect(name, () =>
            Effect.gen(function* () {
              const { client, home } = yield* Shared
              const before = client.transcript.problems.length
              const clients: Clients = []
              const test = makeTest(client, key, yield* realFolder, home, clients)
              yield* bounded(clients, Effect.scoped(body(test)))
              isClean(client, before)
            })
          )
        })
      })
    },

    alone(name, options, body) {
      if (meansNothing(name)) return
      hold(transport.name, name)
      const key = nextKey()
      const steps = options.scripted === false ? undefined : keyed(options.steps ?? [], key)
      describe(`v${version} over ${transport.name}`, () => {
        const define = options.timeless === true ? it.effect : it.live
        define(name, () =>
          Effect.gen(function* () {
            const home = join(yield* realFolder, ".supercharge")
            const folder = yield* realFolder
            const scope = yield* Effect.scope
            const started: Array<Client.Client> = []
            const clients: Clients = []
            const next: Test["restart"] = Effect.fnUntraced(
              function* (more = {}) {
                const environment = { ...options.environment, ...more }
                const client = yield* start(home, { ...options, environment }, steps)
                started.push(client)
                if (options.initialized !== false) yield* client.initialize(options.capabilities)
                return makeTest(client, key, folder, home, clients, next)
              },
              (effect) => Scope.provide(effect, scope)
            )
            const test = yield* next()
            const run = Effect.scoped(body(test))
            yield* options.timeless === true ? run : bounded(clients, run)
            yield* Effect.forEach(started, finish, { discard: true })
          })
        )
      })
    }
  }
}

/** A step that calls tools. */
export const calls = (...tools: ReadonlyArray<readonly [name: string, input: Schema.JsonObject]>): ScriptStep => ({
  parts: tools.map(([name, input]): ScriptPart => ({ tool: { name, input } }))
})

/** A step that says something. */
export const says = (text: string): ScriptStep => ({ parts: [{ text }] })

/** A step that never ends by itself. */
export const hangs: ScriptStep = { parts: [{ hang: true }] }

/** `_meta` of a session in which nothing is asked. */
export const yolo = { yoloMode: true }

/** The place of a session of a test, for requests that open it again. */
export const placeOf = ({ folder }: Test, mcpServers: Array<McpServer> = []) => ({ cwd: folder, mcpServers })
