/** Clients that do not read: they cost little, and neither the session nor anybody else waits for them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { realpathSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { WebSocket } from "ws"
import { residentMiB } from "../support/Processes.ts"
import { bin, folder, node } from "../support/Program.ts"
import { connect as connectHttp, type HttpVersion } from "../support/RawHttp.ts"
import { at } from "../support/Schema.ts"
import { leaderPlace, prepareHome } from "../support/transports/Leader.ts"
import { serve, type Server } from "../support/transports/Served.ts"
import type { AgentOptions } from "../support/Transports.ts"

type Json = Schema.Json

/** A client that speaks by hand, and reads faster than an agent can tell. */
interface Speaker {
  /** Sends a request and waits for its result. */
  readonly ask: (method: string, params: object) => Effect.Effect<Json>
  /** Reads nothing more. */
  readonly pause: () => void
}

const speaker = (write: (line: string) => void, pause: () => void) => {
  const waiting = new Map<string, (line: string) => void>()
  let count = 0
  const ask: Speaker["ask"] = (method, params) =>
    Effect.callback((resume) => {
      const id = count++
      waiting.set(String(id), (line) => {
        const result = at(JSON.parse(line), "result")
        resume(result === undefined ? Effect.die(new Error(line)) : Effect.succeed(result))
      })
      write(JSON.stringify({ jsonrpc: "2.0", id, method, params }))
    })
  /** Only answers are looked at. */
  const hear = (line: string): void => {
    const [, id = ""] = /^\{"jsonrpc":"2\.0","id":(\d+),"(?:result|error)"/.exec(line) ?? []
    waiting.get(id)?.(line)
    waiting.delete(id)
  }
  return { ask, pause, hear }
}

const initialize = { protocolVersion: 1 }
const resume = (sessionId: string, cwd: string) => ({ sessionId, cwd, mcpServers: [] })

/** An agent, somebody who works with it, and a way to join a session and read nothing of it. */
interface Scene {
  readonly driver: Speaker
  readonly idle: (sessionId: string, cwd: string) => Effect.Effect<void, never, Scope.Scope>
  /** The processes that could keep what is not read: the agent first. */
  readonly pids: () => ReadonlyArray<number>
  readonly log: () => string
}

const overSocket = Effect.fnUntraced(function* ({
  headers,
  origin
}: Server): Effect.fn.Return<Speaker, never, Scope.Scope> {
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => new WebSocket(`${origin.replace(/^http/, "ws")}/ws`, { headers, perMessageDeflate: false })),
    (socket) => Effect.sync(() => socket.terminate())
  )
  yield* Effect.promise(() => once(socket, "open"))
  const { hear, ...speaking } = speaker(
    (line) => socket.send(line),
    () => socket.pause()
  )
  socket.on("message", (data: Buffer) => hear(data.toString()))
  yield* speaking.ask("initialize", initialize)
  return speaking
})

const idleStreams = (version: HttpVersion, server: Server): Scene["idle"] =>
  Effect.fnUntraced(function* (sessionId, cwd) {
    const client = yield* connectHttp(version, server.origin)
    const post = (id: number, method: string, params: object, headers: Readonly<Record<string, string>> = {}) =>
      client.request({
        method: "POST",
        headers: { ...server.headers, ...headers },
        body: { jsonrpc: "2.0", id, method, params }
      })
    const { headers } = yield* post(0, "initialize", initialize)
    const connection = { "acp-connection-id": headers["acp-connection-id"] ?? "" }
    const session = { ...connection, "acp-session-id": sessionId }
    const common = yield* client.events({ ...server.headers, ...connection })
    yield* post(1, "session/resume", resume(sessionId, cwd), session)
    const events = yield* client.events({ ...server.headers, ...session })
    const isAnswered = (text: string) => text.includes('"id":1,"result"') || undefined
    yield* Effect.raceFirst(
      events.until(() => isAnswered(events.text())),
      common.until(() => isAnswered(common.text()))
    )
    events.pause()
    common.pause()
  })

const served = (idle: (server: Server) => Scene["idle"]) =>
  Effect.fnUntraced(function* (options: AgentOptions): Effect.fn.Return<Scene, never, Scope.Scope> {
    const server = yield* serve(options)
    return { driver: yield* overSocket(server), idle: idle(server), pids: () => [server.pid], log: server.log }
  })

/** Editors whose bridges reach one leader. */
const led = Effect.fnUntraced(function* (options: AgentOptions): Effect.fn.Return<Scene, never, Scope.Scope> {
  prepareHome(options)
  const { environment, home } = options
  const place = yield* leaderPlace
  const bridges: Array<number> = []
  const connect = Effect.gen(function* () {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(node, [bin, "acp", "--leader", "--leader-socket", place.socket], {
          env: { PATH: process.env["PATH"], HOME: home, SUPERCHARGE_HOME: home, ...environment },
          stdio: ["pipe", "pipe", "ignore"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    bridges.push(child.pid ?? 0)
    const { hear, ...speaking } = speaker(
      (line) => child.stdin.write(`${line}\n`),
      () => child.stdout.pause()
    )
    createInterface({ input: child.stdout }).on("line", hear)
    yield* speaking.ask("initialize", initialize)
    return speaking
  })
  return {
    driver: yield* connect,
    idle: Effect.fnUntraced(function* (sessionId, cwd) {
      const { ask, pause } = yield* connect
      yield* ask("session/resume", resume(sessionId, cwd))
      pause()
    }),
    pids: () => [place.pid(), ...bridges],
    log: place.log
  }
})

const scenes: Readonly<Record<string, (options: AgentOptions) => Effect.Effect<Scene, never, Scope.Scope>>> = {
  WebSocket: served((server) =>
    Effect.fnUntraced(function* (sessionId, cwd) {
      const { ask, pause } = yield* overSocket(server)
      yield* ask("session/resume", resume(sessionId, cwd))
      pause()
    })
  ),
  "HTTP/1.1": served((server) => idleStreams(1, server)),
  "HTTP/2": served((server) => idleStreams(2, server)),
  "the leader": led
}

/** So many models that a list of all options has some 30 KB. */
const config = [
  "[providers.local]",
  'kind = "openai-compatible"',
  'base_url = "http://127.0.0.1:9/v1"',
  `models = [${Array.from({ length: 300 }, (_, index) => `"${"a-model-with-a-long-name".repeat(2)}-${index}"`).join(", ")}]`
].join("\n")

const changes = 10_000

for (const [name, scene] of Object.entries(scenes)) {
  describe(`a client over ${name} that reads nothing`, () => {
    it.live("is disconnected, at a bounded cost, and nobody waits for it", () =>
      Effect.gen(function* () {
        const home = join(realpathSync(yield* folder), ".supercharge")
        const cwd = realpathSync(yield* folder)
        const script = { steps: [{ again: true, parts: [{ echo: true as const }] }] }
        // What can be collected is, so that only what is held counts.
        const environment = { NODE_OPTIONS: "--max-semi-space-size=1" }
        const { driver, idle, log, pids } = yield* scene({ home, script, config, environment })
        const opened = yield* driver.ask("session/new", { cwd, mcpServers: [] })
        const sessionId = String(at(opened, "sessionId"))
        /** Tells every view the list of all options. */
        const change = (index: number) =>
          driver.ask("session/set_mode", { sessionId, modeId: index % 2 === 0 ? "plan" : "ask" })
        const flood = (count: number) =>
          Effect.forEach(Array.from({ length: count }), (_, index) => change(index), {
            concurrency: 50,
            discard: true
          })
        yield* flood(500)
        yield* idle(sessionId, cwd)
        const before = pids().map(residentMiB)
        yield* flood(changes)
        const grown = pids().map((pid, index) => residentMiB(pid) - (before[index] ?? 0))
        // Had it waited for the one that does not read, it would all be there.
        const told = (Buffer.byteLength(JSON.stringify(at(opened, "configOptions"))) * changes) / 1024 / 1024
        assert.isAbove(told, 350)
        for (const growth of grown) assert.isBelow(growth, 250)
        assert.include(log(), "A client is disconnected: it does not read what it is sent")
        const prompt = [{ type: "text", text: "Still here" }]
        const answer = yield* driver.ask("session/prompt", { sessionId, prompt })
        assert.strictEqual(at(answer, "stopReason"), "end_turn")
      })
    )
  })
}
