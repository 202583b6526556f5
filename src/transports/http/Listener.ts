/**
 * One port for everything that comes over HTTP: an Effect application for requests, and WebSockets. What stands between a
 * client and the work is bounded in time, number and size.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as ByteSize from "effect/ByteSize"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import { MaxBodySize } from "effect/http/HttpIncomingMessage"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import type { Server } from "node:net"
import { maxFrameBytes } from "../Frames.ts"
import { type Address, authority } from "./Address.ts"
import * as NodeServer from "./NodeServer.ts"
import * as Upgrades from "./Upgrades.ts"

export { type Address, authority } from "./Address.ts"
export type { Tls } from "./NodeServer.ts"
export type { AcceptedSocket, Refusal, UpgradeRequest } from "./Upgrades.ts"

/** Nothing listens; the message says why, and what to do. */
export class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", { message: Schema.String }) {}

export interface ListenerOptions {
  readonly host: string
  /** 0 is any that is free. */
  readonly port: number
  /** Absent: clear text. */
  readonly tls?: NodeServer.Tls
  /** Further connections are closed as soon as they are made. Default 1024: a client over HTTP/1.1 has several. */
  readonly maxConnections?: number
  /** How long a client may take to say what it wants, which is up to the end of the headers. Default 10 seconds. */
  readonly patience?: Duration.Input
  /** Bytes of the longest body of a request. Default 32 MiB, as of a frame. */
  readonly maxBody?: number
  /** Answers what is not an upgrade. Interrupted when the client goes away. */
  readonly app: Effect.Effect<HttpServerResponse, never, HttpServerRequest | Scope.Scope>
  /** Runs when no connection is let in any more, before requests are interrupted: what ends streams of events in order. */
  readonly closing?: Effect.Effect<void>
  /** Decides about each WebSocket before it is one. */
  readonly upgrade: (
    request: Upgrades.UpgradeRequest
  ) => Effect.Effect<Upgrades.Accepted | Upgrades.AcceptedSocket | Upgrades.Refusal>
}

/** How long answers that are under way may take when the server ends. */
const farewell = "500 millis"

const remedies: Readonly<Record<string, (address: Address) => string>> = {
  EADDRINUSE: (address) => `${authority(address)} is in use by another program: stop that one, or choose another port`,
  EACCES: (address) => `This user may not listen on port ${address.port}: choose a port above 1023`,
  EADDRNOTAVAIL: ({ host }) => `This machine has no address ${host}: choose one of its own, such as 127.0.0.1`,
  ENOTFOUND: ({ host }) => `The name ${host} stands for no address: write one, such as 127.0.0.1`
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const listenFailed = (address: Address, error: NodeJS.ErrnoException): ListenFailed =>
  new ListenFailed({
    message:
      remedies[error.code ?? ""]?.(address) ?? `It is not possible to listen on ${authority(address)}: ${error.message}`
  })

/** Listens, or says why not. */
const bind = (server: Server, address: Address): Effect.Effect<Address, ListenFailed> =>
  Effect.callback((resume) => {
    const fail = (error: NodeJS.ErrnoException) => resume(Effect.fail(listenFailed(address, error)))
    server.once("error", fail)
    server.listen(address, () => {
      server.off("error", fail)
      // One connection that cannot be accepted is no reason to end.
      server.on("error", () => {})
      const bound = server.address()
      resume(
        Effect.succeed({
          host: address.host,
          port: bound !== null && typeof bound === "object" ? bound.port : address.port
        })
      )
    })
  })

/**
 * Listens until the scope closes. Then no connection comes in any more, WebSockets are closed with 1001, requests that
 * wait for their answer get 503, and after a few seconds at most every connection has ended.
 */
export const listen = Effect.fn("Listener.listen")(function* (
  options: ListenerOptions
): Effect.fn.Return<Address, ListenFailed, Scope.Scope> {
  const { host, maxBody = maxFrameBytes, maxConnections = 1024, port, tls } = options
  const patience = Duration.toMillis(options.patience ?? "10 seconds")
  const background = yield* FiberSet.makeRuntime<never, void>()
  const requests = yield* Scope.make("parallel")
  const webSockets = yield* Scope.make()
  const app = Effect.provideService(options.app, MaxBodySize, ByteSize.bytes(maxBody))
  // The handler by itself lets nothing be interrupted, neither by a client that leaves nor by the end.
  const request = yield* NodeHttpServer.makeHandler(Effect.interruptible(app), { scope: requests })
  const { handle: upgrade } = yield* Scope.provide(Upgrades.make(options.upgrade), webSockets)
  const crowded = Effect.logWarning(`Connections are turned away: ${maxConnections} are open, and no more are allowed`)

  const node = yield* Effect.try({
    try: () => NodeServer.make({ tls, maxConnections, patience }, { request, upgrade, crowded, background }),
    catch: (error) =>
      new ListenFailed({
        message: `The TLS certificate and its key must be PEM files that belong together: ${messageOf(error)}`
      })
  })
  yield* Effect.addFinalizer(
    Effect.fnUntraced(function* (exit) {
      node.close()
      yield* options.closing ?? Effect.void
      yield* Effect.all([Scope.close(webSockets, exit), Scope.close(requests, exit)], { concurrency: "unbounded" })
      yield* Effect.timeoutOption(node.ended, farewell)
      node.destroy()
    })
  )
  return yield* bind(node.server, { host, port })
})
