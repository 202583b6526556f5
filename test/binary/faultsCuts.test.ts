/** Connections that break off where it hurts most: in the middle of a message, or on one side only. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { on, once } from "node:events"
import { promises, realpathSync } from "node:fs"
import * as http from "node:http"
import { connect as connectSocket, type Socket } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { version } from "../../src/domain/Version.ts"
import { WebSocket } from "ws"
import * as Client from "../support/Client.ts"
import { makeSession } from "../support/ClientSession.ts"
import { outputOf } from "../support/Calls.ts"
import { residentMiB } from "../support/Processes.ts"
import { folder, start } from "../support/Program.ts"
import { connect as connectHttp, type HttpVersion } from "../support/RawHttp.ts"
import { at } from "../support/Schema.ts"
import { idle, joins } from "../support/Shared.ts"
import { bridge, leaderPlace, prepareHome } from "../support/transports/Leader.ts"
import { makeToken, startHeadless, startRelay } from "../support/transports/Relay.ts"
import { serve } from "../support/transports/Served.ts"
import { connect } from "../support/transports/WebSocket.ts"
import type { AgentOptions, Channel } from "../support/Transports.ts"

type Json = Schema.Json

/** Begins to say something, waits for somebody to write to a pipe, and ends. */
const steps = [
  {
    parts: [
      { text: "It begins. " },
      { tool: { name: "bash", input: { command: "mkfifo pipe; echo pip''ed; cat pipe" } } }
    ]
  },
  { parts: [{ text: "It ends." }] }
]

const call = (id: number, method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id, method, params })

const setUp = Effect.gen(function* () {
  const cwd = realpathSync(yield* folder)
  const options: AgentOptions = {
    home: join(realpathSync(yield* folder), ".supercharge"),
    script: { steps },
    config: '[remote]\nexecution_mode_ceiling = "always-approve"\n'
  }
  return { cwd, options }
})

interface Scene {
  /** A connection of somebody who stays. */
  readonly channel: Effect.Effect<Channel, never, Scope.Scope>
  /** Joins a session, and breaks off: the test sees to it that something is left unsaid. */
  readonly breakOff: (sessionId: string, cwd: string) => Effect.Effect<void, never, Scope.Scope>
}

type Scenery = (options: AgentOptions) => Effect.Effect<Scene, never, Scope.Scope>

/** A bare WebSocket that has joined a session. */
const joined = Effect.fnUntraced(function* (
  url: string,
  headers: Readonly<Record<string, string>>,
  sessionId: string,
  cwd: string
) {
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => new WebSocket(url, { headers, perMessageDeflate: false })),
    (socket) => Effect.sync(() => socket.terminate())
  )
  const messages = on(socket, "message")
  yield* Effect.promise(async () => {
    await once(socket, "open")
    socket.send(call(0, "initialize", { protocolVersion: 1 }))
    socket.send(call(1, "session/resume", { sessionId, cwd, mcpServers: [] }))
    for await (const [data] of messages) {
      const message: { readonly id?: Json; readonly result?: Json } = JSON.parse(data.toString())
      if (message.id === 1) return assert.isDefined(message.result)
    }
  })
  return socket
})

/** In a fragment of a message, after which the socket is gone. */
const inFragment = (socket: WebSocket): void => {
  socket.send('{"jsonrpc":"2.0","id":', { fin: false }, () => socket.terminate())
}

const served =
  (act: (socket: WebSocket) => Effect.Effect<void>): Scenery =>
  (options) =>
    Effect.gen(function* () {
      const server = yield* serve(options)
      const url = `${server.origin.replace(/^http/, "ws")}/ws`
      return {
        channel: Effect.map(connect(url, server.headers), (channel) => ({ ...channel, log: server.log })),
        breakOff: (sessionId, cwd) => Effect.flatMap(joined(url, server.headers, sessionId, cwd), act)
      }
    })

const posted =
  (httpVersion: HttpVersion): Scenery =>
  (options) =>
    Effect.gen(function* () {
      const server = yield* serve(options)
      const url = `${server.origin.replace(/^http/, "ws")}/ws`
      return {
        channel: Effect.map(connect(url, server.headers), (channel) => ({ ...channel, log: server.log })),
        breakOff: Effect.fnUntraced(function* (sessionId, cwd) {
          const raw = yield* connectHttp(httpVersion, server.origin)
          const json = { ...server.headers, "content-type": "application/json" }
          const { headers } = yield* raw.request({
            method: "POST",
            headers: json,
            body: call(0, "initialize", { protocolVersion: 1 })
          })
          const session = {
            ...json,
            "acp-connection-id": headers["acp-connection-id"] ?? "",
            "acp-session-id": sessionId
          }
          const body = call(1, "session/resume", { sessionId, cwd, mcpServers: [] })
          yield* raw.request({ method: "POST", headers: session, body })
          const events = yield* raw.events({ ...session, accept: "text/event-stream" })
          yield* events.until(() => (events.data.length > 0 ? true : undefined))
          const { input } = yield* raw.begin({ method: "POST", headers: session })
          yield* Effect.callback<void>((resume) => {
            input.write('{"jsonrpc":"2.0","id":', () => resume(Effect.void))
          })
          events.cut()
          input.destroy()
        })
      }
    })

const relayed: Scenery = (options) =>
  Effect.gen(function* () {
    const relay = yield* startRelay(options.home)
    const token = makeToken()
    const agent = yield* startHeadless({ ...options, url: relay.url, environment: { SUPERCHARGE_RELAY_TOKEN: token } })
    const headers = { authorization: `Bearer ${token}` }
    const url = `${relay.url}/ws`
    return {
      channel: Effect.map(connect(url, headers), (channel) => ({ ...channel, log: agent.log })),
      breakOff: (sessionId, cwd) => Effect.map(joined(url, headers, sessionId, cwd), inFragment)
    }
  })

/** A connection to the socket of a leader that has been greeted, and its lines. */
const greeted = Effect.fnUntraced(function* (path: string) {
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => connectSocket(path).on("error", () => {})),
    (socket: Socket) => Effect.sync(() => socket.destroy())
  )
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  const next = Effect.promise(async (): Promise<Json> => JSON.parse(String((await lines.next()).value)))
  socket.write(`${JSON.stringify({ superPiLeader: 1, version, pid: process.pid, role: "acp" })}\n`)
  assert.isUndefined(at(yield* next, "refused"))
  const ask = Effect.fnUntraced(function* (id: number, method: string, params: object) {
    socket.write(`${call(id, method, params)}\n`)
    while (true) {
      const message = yield* next
      if (at(message, "id") === id && at(message, "method") === undefined) return message
    }
  })
  yield* ask(0, "initialize", { protocolVersion: 1 })
  return { socket, ask }
})

const led: Scenery = (options) =>
  Effect.gen(function* () {
    prepareHome(options)
    const place = yield* leaderPlace
    return {
      channel: bridge(place, options),
      breakOff: Effect.fnUntraced(function* (sessionId, cwd) {
        const { ask, socket } = yield* greeted(place.socket)
        assert.isDefined(at(yield* ask(1, "session/resume", { sessionId, cwd, mcpServers: [] }), "result"))
        yield* Effect.callback<void>((resume) => {
          socket.write('{"jsonrpc":"2.0","id":', () => resume(Effect.void))
        })
        socket.destroy()
      })
    }
  })

const breaks: Readonly<Record<string, Scenery>> = {
  "a WebSocket is cut off in the middle of a message": served((socket) => Effect.sync(() => inFragment(socket))),
  "a WebSocket is closed on one side only": served((socket) =>
    Effect.promise(async () => {
      // The end of what this side sends; the other side has to end the rest.
      const { _socket: tcp } = socket as unknown as { readonly _socket: Socket }
      tcp.end()
      await once(socket, "close")
    })
  ),
  "a request over HTTP/1.1 is cut off in its body": posted(1),
  "a request over HTTP/2 is cut off in its body": posted(2),
  "a client of a relay is cut off in the middle of a message": relayed,
  "a client of a leader is cut off in the middle of a line": led
}

describe("a turn goes on, for others and for who comes back, when", () => {
  for (const [name, scenery] of Object.entries(breaks)) {
    it.live(name, () =>
      Effect.gen(function* () {
        const { cwd, options } = yield* setUp
        const { breakOff, channel } = yield* scenery(options)
        const client = yield* Client.join(yield* channel, true)
        yield* client.initialize()
        const place = { cwd, mcpServers: [] }
        const { sessionId } = yield* client.request("session/new", { ...place, _meta: { yoloMode: true } })
        const turn = yield* makeSession(client, "", cwd, sessionId, {}).prompt("go")
        yield* turn.told("tool_call_update", (update) => outputOf(update).includes("piped"))
        yield* Effect.scoped(breakOff(sessionId, cwd))

        const back = yield* Client.join(yield* channel, true)
        yield* back.initialize()
        const view = { client: back, folder: cwd, session: (id: string) => makeSession(back, "", cwd, id, {}) }
        const { session, working } = yield* joins(view, sessionId)
        assert.isTrue(working)
        yield* Effect.promise(() => promises.writeFile(join(cwd, "pipe"), "through\n"))
        assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
        yield* idle(back, sessionId)
        assert.strictEqual(turn.text(), "It begins. It ends.")
        const said = session
          .updates()
          .flatMap((update) => (update.sessionUpdate === "agent_message_chunk" ? [at(update, "content", "text")] : []))
        assert.strictEqual(said.join(""), "It begins. It ends.")
        assert.deepStrictEqual([...client.transcript.problems, ...back.transcript.problems], [])
      })
    )
  }
})

describe("a leader", () => {
  it.live("has 200 clients at once, at less than 40 MiB beyond the first", () =>
    Effect.gen(function* () {
      const { options } = yield* setUp
      prepareHome(options)
      const place = yield* leaderPlace
      const environment = { NODE_OPTIONS: "--max-semi-space-size=1" }
      const client = yield* Client.join(yield* bridge(place, { ...options, environment }))
      yield* client.initialize()
      const before = residentMiB(place.pid())
      const all = yield* Effect.forEach(Array.from({ length: 200 }), () => greeted(place.socket), { concurrency: 20 })
      assert.isBelow(residentMiB(place.pid()) - before, 40)
      const answers = yield* Effect.forEach(all, ({ ask }) => ask(1, "session/list", {}), { concurrency: "unbounded" })
      assert.isTrue(answers.every((answer) => at(answer, "result") !== undefined))
    })
  )
})

describe("an inbox", () => {
  it.live("tells pages of others and a flood of bad secrets off, and serves who has the good one", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const password = "the secret of this test"
      const child = yield* start(["agent", "daemon", "--bind", "127.0.0.1:0", "--cwd", home], {
        env: { SUPERCHARGE_PASSWORD: password, SUPERCHARGE_HOME: home }
      })
      const port = yield* Effect.promise(async () => {
        for await (const line of createInterface({ input: child.stderr })) {
          const found = / on \S+:(\d+)/.exec(line)?.[1]
          if (found !== undefined) return Number(found)
        }
        return assert.fail("it does not listen")
      })
      child.stderr.resume()
      const status = (headers: http.OutgoingHttpHeaders, localAddress = "127.0.0.1") =>
        Effect.callback<number>((resume) => {
          http
            .get({ port, host: "127.0.0.1", path: "/v1/chat/sessions", headers, localAddress }, (response) => {
              response.resume()
              resume(Effect.succeed(response.statusCode ?? 0))
            })
            .on("error", () => resume(Effect.succeed(0)))
        })
      const good = { authorization: `Bearer ${password}` }
      assert.strictEqual(yield* status({ ...good, origin: "https://evil.example" }), 403)
      assert.strictEqual(yield* status({ ...good, host: "evil.example" }), 403)
      const before = residentMiB(child.pid ?? 0)
      const flood = yield* Effect.forEach(
        Array.from({ length: 2_000 }),
        (_, index) => status({ authorization: `Bearer guess${index}` }),
        { concurrency: 20 }
      )
      assert.deepStrictEqual(new Set(flood), new Set([401, 429]))
      assert.isBelow(flood.filter((code) => code === 401).length, 20)
      assert.isBelow(residentMiB(child.pid ?? 0) - before, 40)
      const served = yield* status(good, "127.0.0.2")
      assert.strictEqual(served, 200)
    })
  )
})
