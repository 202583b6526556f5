/**
 * A blind relay: agents call it, clients call it, and those with the same token are joined. It looks into no message and
 * keeps nothing; the token is known to it only as a hash.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import { createHash } from "node:crypto"
import * as Attempts from "../http/Attempts.ts"
import { protocol, secretOf, weaknessOf } from "../http/Guard.ts"
import * as Listener from "../http/Listener.ts"
import { join } from "./Joining.ts"
import { instanceHeader, pairedSign, relayHeader } from "./Link.ts"
import * as Pipe from "./Pipe.ts"
import * as Rooms from "./Rooms.ts"

type Answer = Listener.AcceptedSocket | Listener.Refusal

export interface RelayOptions extends Pick<Listener.ListenerOptions, "host" | "port" | "tls" | "maxConnections"> {
  readonly limits?: Partial<Rooms.RoomLimits>
}

/** Where agents come in, and where clients do. */
export const agentPath = "/agent"
export const clientPaths: ReadonlyArray<string> = ["/ws", "/acp"]

/** What a client reads when no agent came for it. */
const tryAgain = 1013

const reasons = {
  nobody: "No agent is connected with this token",
  busy: "The agent has no link for a further client",
  crowded: "Too many clients wait for this agent"
}

const places = `Agents connect to ${agentPath}, clients to ${clientPaths.join(" or ")}`

const nothingHere: Listener.Refusal = { status: 404, body: places }

const unauthorized = (why: string): Listener.Refusal => ({
  status: 401,
  body: `Invalid or missing authorization token${why}`,
  headers: { "WWW-Authenticate": "Bearer" }
})

const tooMany = (wait: number): Listener.Refusal => ({
  status: 429,
  body: "Too many tokens without an agent came from this address: wait before the next one",
  headers: { "Retry-After": String(Math.ceil(wait / 1000)) }
})

/** Requests that want no WebSocket. */
const app = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { pathname } = new URL(request.url, "http://localhost")
  if (pathname === "/health") return HttpServerResponse.jsonUnsafe({ ok: true })
  return pathname === agentPath || clientPaths.includes(pathname)
    ? HttpServerResponse.text("This address wants a WebSocket", { status: 426, headers: { upgrade: "websocket" } })
    : HttpServerResponse.text(places, { status: 404 })
})

const decide = (rooms: Rooms.Rooms<Pipe.Pipe>) => {
  const attempts = Attempts.make()

  const serveAgent = Effect.fnUntraced(function* (room: string, instance: string, pipe: Pipe.Pipe) {
    yield* Effect.matchEffect(rooms.enter(room, instance, pipe), {
      onFailure: ({ message }) => pipe.close(tryAgain, message),
      onSuccess: () => pipe.ended
    })
  }, Effect.scoped)

  const serveClient = Effect.fnUntraced(function* (room: string, address: string, pipe: Pipe.Pipe) {
    const outcome = yield* rooms.join(room, pipe.ended, (agent) =>
      Effect.andThen(agent.sign(pairedSign), join(agent, pipe))
    )
    if (outcome === "joined") return
    // Where no agent is, the token may be a guess.
    if (outcome !== "busy") attempts.fail(address, yield* Clock.currentTimeMillis)
    yield* pipe.close(tryAgain, reasons[outcome])
  })

  return Effect.fnUntraced(function* (request: Listener.UpgradeRequest): Effect.fn.Return<Answer> {
    const { headers, path, query, remoteAddress } = request
    const isAgent = path === agentPath
    if (!isAgent && !clientPaths.includes(path)) return nothingHere
    const now = yield* Clock.currentTimeMillis
    const wait = attempts.wait(remoteAddress, now)
    if (wait > 0) return tooMany(wait)
    const token = secretOf({ headers, query, remoteAddress }, ["token", "server-key"])
    const weakness = weaknessOf(token ?? "")
    if (token === undefined || weakness !== undefined) {
      attempts.fail(remoteAddress, now)
      return unauthorized(token === undefined ? "" : `: ${weakness}`)
    }
    const room = createHash("sha256").update(token).digest("hex")
    if (!isAgent) {
      const offers = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim())
      return {
        ...(offers.includes(protocol) ? { protocol } : {}),
        serveSocket: (socket, stream) =>
          Effect.flatMap(Pipe.make(socket, stream), (pipe) => serveClient(room, remoteAddress, pipe))
      }
    }
    const instance = headers[instanceHeader] ?? ""
    const refused = rooms.refusal(room, instance)
    if (refused !== undefined) return { status: refused.taken ? 409 : 503, body: refused.message }
    return {
      headers: { [relayHeader]: "pairs" },
      serveSocket: (socket, stream) =>
        Effect.flatMap(Pipe.make(socket, stream), (pipe) => serveAgent(room, instance, pipe))
    }
  })
}

/** Relays until the scope closes, which ends every WebSocket. */
export const serve = Effect.fn("Relay.serve")(function* (
  options: RelayOptions
): Effect.fn.Return<Listener.Address, Listener.ListenFailed, Scope.Scope> {
  const { limits, maxConnections = 1024, ...listener } = options
  return yield* Listener.listen({ ...listener, maxConnections, app, upgrade: decide(Rooms.make(limits)) })
})
