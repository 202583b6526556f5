/** The endpoint in this process, in front of a small agent that does what the test's messages say. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as http from "node:http"
import * as http2 from "node:http2"
import type { FramesShape } from "../../src/transports/Frames.ts"
import type { Limits } from "../../src/transports/Limits.ts"
import { remoteLimits } from "../../src/transports/Limits.ts"
import * as Peer from "../../src/transports/Peer.ts"
import * as StreamableHttp from "../../src/transports/http/StreamableHttp.ts"
import { routes } from "./Link.ts"
import { connect, type HttpVersion, type RawHttp } from "./RawHttp.ts"

export interface Server {
  readonly origin: string
  readonly client: RawHttp
}

/** Serves an app on a free port of the loopback. */
export const listen = Effect.fnUntraced(function* (
  version: HttpVersion,
  app: StreamableHttp.App
): Effect.fn.Return<Server, never, Scope.Scope> {
  const server = yield* Effect.orDie(
    NodeHttpServer.make(() => (version === 1 ? http.createServer() : http2.createServer()), {
      host: "127.0.0.1",
      port: 0,
      disablePreemptiveShutdown: true
    })
  )
  yield* server.serve(app)
  const origin = `http://127.0.0.1:${"port" in server.address ? server.address.port : 0}`
  return { origin, client: yield* connect(version, origin) }
})

type Params = Readonly<Record<string, unknown>>

const update = (sessionId: unknown, text: string) => ({
  sessionId,
  update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } }
})

/** What the agent has seen, and how many of its connections are open. */
export interface Seen {
  readonly notes: Array<{ readonly method: string; readonly params: unknown }>
  open: number
}

export const makeSeen = (): Seen => ({ notes: [], open: 0 })

/**
 * `session/new` makes sessions `s1`, `s2`, …; `session/prompt` and `session/load` tell `count` updates of `size`
 * characters, numbered after `name`; with `ask` a prompt asks a question and answers with the outcome; with `hang` it
 * never answers, and neither does `initialize`.
 */
export const smallAgent =
  (seen: Seen, limits: Partial<Limits> = {}) =>
  (frames: FramesShape): Effect.Effect<void> =>
    Effect.scoped(
      Effect.gen(function* () {
        seen.open++
        yield* Effect.addFinalizer(() => Effect.sync(() => seen.open--))
        const peer = yield* Peer.make(frames, { ...remoteLimits, ...limits })
        let sessions = 0
        const tell = Effect.fnUntraced(function* (params: Params) {
          const { count = 1, name = "", sessionId, size = 1 } = params
          const filler = "x".repeat(Number(size))
          for (let at = 0; at < Number(count); at++) {
            yield* peer.notify("session/update", update(sessionId, `${name}:${at} ${filler}`))
          }
        })
        yield* peer.serve(
          routes(
            {
              initialize: (params) =>
                (params as Params)["hang"] === true
                  ? Effect.never
                  : Effect.succeed({ protocolVersion: 1, agentCapabilities: { loadSession: true } }),
              echo: (params) => Effect.succeed(params),
              "session/new": () => Effect.sync(() => ({ sessionId: `s${++sessions}` })),
              "session/load": (params) => Effect.as(tell(params as Params), {}),
              "session/prompt": Effect.fnUntraced(function* (params) {
                yield* tell(params as Params)
                const { ask, hang, sessionId } = params as Params
                if (hang === true) return yield* Effect.never
                const answer =
                  ask === true
                    ? yield* Effect.orDie(peer.request("session/request_permission", { sessionId, options: [] }))
                    : undefined
                return { stopReason: "end_turn", ...(answer !== undefined && { _meta: { answer } }) }
              })
            },
            Object.fromEntries(
              ["session/cancel", "_note"].map((method) => [
                method,
                (params: unknown) =>
                  Effect.sync(() => {
                    seen.notes.push({ method, params })
                  })
              ])
            )
          )
        )
      })
    )

/** The endpoint before a small agent. */
export const serve = Effect.fnUntraced(function* (
  version: HttpVersion,
  options: { readonly http?: Partial<StreamableHttp.HttpLimits>; readonly peer?: Partial<Limits> } = {}
) {
  const seen = makeSeen()
  const app = yield* StreamableHttp.makeWith(smallAgent(seen, options.peer), options.http)
  return { ...(yield* listen(version, app)), seen }
})

let ids = 0

export const call = (method: string, params?: unknown, id: unknown = `c${ids++}`) => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params !== undefined && { params })
})

/** One connection, driven by hand. */
export const dial = Effect.fnUntraced(function* ({ client }: Server) {
  const reply = yield* client.request({ method: "POST", body: call("initialize", { protocolVersion: 1 }, 0) })
  const connection = { "acp-connection-id": reply.headers["acp-connection-id"] ?? "" }
  const headersOf = (sessionId?: string) => ({
    ...connection,
    ...(sessionId !== undefined && { "acp-session-id": sessionId })
  })
  return {
    reply,
    connection,
    headersOf,
    post: (body: string | object, sessionId?: string) =>
      client.request({
        method: "POST",
        headers: { "content-type": "application/json", ...headersOf(sessionId) },
        body
      }),
    events: (sessionId?: string) => client.events(headersOf(sessionId)),
    remove: client.request({ method: "DELETE", headers: connection })
  }
})
