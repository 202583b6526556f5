/**
 * A blind relay: agents call it, clients call it, and those with the same token are joined. It looks into no message and
 * keeps nothing; the token is known to it only as a hash.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { createHash } from "node:crypto"
import * as Attempts from "../http/Attempts.ts"
import { protocolOf, secretOf, weaknessOf } from "../http/Guard.ts"
import * as Listener from "../http/Listener.ts"
import { CloseCode } from "../http/WebSockets.ts"
import { join } from "./Joining.ts"
import { instanceHeader, pairedSign, relayHeader } from "./Link.ts"
import * as Pipe from "./Pipe.ts"
import * as Rooms from "./Rooms.ts"

type Answer = Listener.AcceptedSocket | Listener.Refusal

/** Where it listens, and how many may meet there. */
export interface RelayOptions extends Pick<Listener.ListenerOptions, "host" | "port" | "tls" | "maxConnections"> {
  /** Bounds of the rooms. Default: those of `RoomLimits`. */
  readonly limits?: Partial<Rooms.RoomLimits>
}

/** Where agents come in. */
export const agentPath = "/agent"

/** Where clients come in. */
export const clientPaths: ReadonlyArray<string> = ["/ws", "/acp"]

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
  const path = URL.parse(request.url, "http://localhost")?.pathname ?? ""
  if (path === "/health") return HttpServerResponse.jsonUnsafe({ ok: true })
  return path === agentPath || clientPaths.includes(path)
    ? HttpServerResponse.text("This address wants a WebSocket", { status: 426, headers: { upgrade: "websocket" } })
    : HttpServerResponse.text(places, { status: 404 })
})

const decide = (rooms: Rooms.Rooms<Pipe.Pipe>) => {
  const attempts = Attempts.make()

  const serveAgent = Effect.fnUntraced(function* (room: string, instance: string, pipe: Pipe.Pipe) {
    yield* Effect.matchEffect(rooms.enter(room, instance, pipe), {
      onFailure: ({ message }) => pipe.close(CloseCode.TryAgainLater, message),
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
    yield* pipe.close(CloseCode.TryAgainLater, reasons[outcome])
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
      const protocol = protocolOf(headers)
      return {
        ...(protocol === undefined ? {} : { protocol }),
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

/** A relay that runs: where it listens, with the port that it has when any free one was wanted. */
export class Relay extends Context.Service<Relay, Listener.Address>()("super-pi/Relay") {}

/** Relays until the scope closes, which ends every WebSocket. */
export const serve = Effect.fn("Relay.serve")(function* (
  options: RelayOptions
): Effect.fn.Return<Listener.Address, Listener.ListenFailed, Scope.Scope> {
  const { limits, maxConnections = 1024, ...listener } = options
  return yield* Listener.listen({ ...listener, maxConnections, app, upgrade: decide(Rooms.make(limits)) })
})

/** The same for as long as the layer is in use. */
export const layer = (options: RelayOptions): Layer.Layer<Relay, Listener.ListenFailed> =>
  Layer.effect(Relay, serve(options))
