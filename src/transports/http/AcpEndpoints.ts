/**
 * ACP over one port: WebSockets at `/ws` and `/acp`, Streamable HTTP at `/acp`, and `/health` for whoever wants to know
 * whether the server lives. Everything else does not exist.
 */
import * as Effect from "effect/Effect"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { Agent } from "../../services/Agent.ts"
import type { Settings } from "../../services/Settings.ts"
import * as Connection from "../acp/Connection.ts"
import * as Cors from "./Cors.ts"
import { initializeFirst } from "./FirstMessage.ts"
import { type Guard, knockOf, protocolOf } from "./Guard.ts"
import type { ListenerOptions } from "./Listener.ts"
import * as StreamableHttp from "./StreamableHttp.ts"
import type { Refusal } from "./Upgrades.ts"

export interface EndpointOptions extends Connection.ConnectionOptions {
  readonly guard: Guard
}

/** What a listener needs to serve them. */
export type Endpoints = Required<Pick<ListenerOptions, "app" | "upgrade" | "closing">>

const notFound: Refusal = {
  status: 404,
  body: "Nothing is here: ACP is at /ws (WebSocket) and at /acp (Streamable HTTP and WebSocket)"
}

const needsUpgrade: Refusal = {
  status: 426,
  body: "ACP at /ws is spoken over a WebSocket: connect with ws:// or wss:// and HTTP/1.1",
  headers: { upgrade: "websocket" }
}

const respond = ({ body, headers, status }: Refusal): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(`${body}\n`, { status, ...(headers === undefined ? {} : { headers }) })

/** The endpoints of the agent of the environment. The scope ends the connections of Streamable HTTP. */
export const make = Effect.fnUntraced(function* ({
  guard,
  ...options
}: EndpointOptions): Effect.fn.Return<Endpoints, never, Agent | Settings | Scope.Scope> {
  const agent = yield* Agent
  const environment = yield* Effect.context<Agent | Settings>()
  const streams = yield* Scope.fork(yield* Effect.scope)
  const streamable = yield* Scope.provide(StreamableHttp.make(options), streams)

  const health = Effect.map(agent.working, (working) =>
    HttpServerResponse.jsonUnsafe({ status: "ok", version: options.version, working: working.length })
  )

  const guarded = Effect.gen(function* () {
    const refusal = yield* guard.check(knockOf(yield* HttpServerRequest))
    return refusal === undefined ? yield* streamable : respond(refusal)
  })
  const acp = Cors.share(guard, guarded)

  const app = Effect.flatMap(HttpServerRequest, ({ method, url }) => {
    switch (URL.parse(url, "http://localhost")?.pathname) {
      case "/acp":
        return acp
      case "/health":
        return method === "GET" || method === "HEAD"
          ? health
          : Effect.succeed(respond({ status: 405, body: "Ask with GET", headers: { allow: "GET, HEAD" } }))
      case "/ws":
        return Effect.succeed(respond(needsUpgrade))
      default:
        return Effect.succeed(respond(notFound))
    }
  })

  const upgrade: Endpoints["upgrade"] = Effect.fnUntraced(function* (request) {
    const { path } = request
    if (path !== "/ws" && path !== "/acp") return notFound
    const refusal = yield* guard.check(request)
    if (refusal !== undefined) return refusal
    const protocol = protocolOf(request.headers)
    const strict = path === "/acp"
    return {
      headers: { "Acp-Connection-Id": randomBytes(16).toString("base64url") },
      ...(protocol === undefined ? {} : { protocol }),
      binary: strict ? "ignore" : "text",
      serve: (frames) =>
        Effect.provideContext(Connection.serveRemote(strict ? initializeFirst(frames) : frames, options), environment)
    }
  })

  return { app, upgrade, closing: Scope.close(streams, Exit.void) }
})
