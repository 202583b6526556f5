/** WebSocket upgrades of HTTP/1.1: each is accepted or refused before it happens, and served for as long as it lasts. */
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import { type IncomingMessage, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws"
import { maxFrameBytes } from "../Frames.ts"
import * as WebSocketFrames from "./WebSocketFrames.ts"
import { CloseCode } from "./WebSockets.ts"

/** What a client says when it asks for a WebSocket. Names of headers are in lower case. */
export interface UpgradeRequest {
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly remoteAddress: string
}

/** An answer that lets nobody in. */
export interface Refusal {
  readonly status: number
  /** Plain text. */
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Accepted {
  /** Beside those of the handshake. */
  readonly headers?: Readonly<Record<string, string>>
  /** One of the subprotocols that the client offered. */
  readonly protocol?: string
  /** What a binary frame is. Default `text`. */
  readonly binary?: "text" | "ignore"
  /** The WebSocket is closed when it returns. */
  readonly serve: (frames: WebSocketFrames.WebSocketFramesShape) => Effect.Effect<void>
}

/** In place of `Accepted`, for what passes messages on as they are: the paused socket itself, and the one beneath. */
export interface AcceptedSocket extends Omit<Accepted, "binary" | "serve"> {
  readonly serveSocket: (socket: WebSocket, stream: Duplex) => Effect.Effect<void, never, Scope.Scope>
}

export interface Upgrades {
  /** For Node's event of that name. */
  readonly handle: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

const describe = ({ headers, socket, url = "/" }: IncomingMessage): UpgradeRequest | undefined => {
  const parsed = URL.parse(url, "http://localhost")
  if (parsed === null) return undefined
  return {
    path: parsed.pathname,
    query: parsed.searchParams,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value])
    ),
    remoteAddress: socket.remoteAddress ?? ""
  }
}

const refuse = (socket: Duplex, { body, headers, status }: Refusal): void => {
  const lines = Object.entries({
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
    Connection: "close",
    ...headers
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.once("finish", () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`)
}

/** The handshake of a WebSocket that is let in. Compression is off: what it holds in memory nothing bounds. */
const makeHandshake = () => {
  const accepted = new WeakMap<IncomingMessage, Accepted | AcceptedSocket>()
  const options: ServerOptions & { readonly closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxFrameBytes,
    closeTimeout: 2_000,
    handleProtocols: (_, request) => accepted.get(request)?.protocol ?? false
  }
  const server = new WebSocketServer(options)
  server.on("headers", (lines, request) => {
    for (const [name, value] of Object.entries(accepted.get(request)?.headers ?? {})) lines.push(`${name}: ${value}`)
  })
  return (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    answer: Accepted | AcceptedSocket
  ): Effect.Effect<WebSocket> =>
    Effect.callback((resume) => {
      // A refused handshake calls nothing back; the connection ends then.
      const lost = () => resume(Effect.interrupt)
      if (socket.destroyed) return lost()
      socket.once("close", lost)
      accepted.set(request, answer)
      server.handleUpgrade(request, socket, head, (webSocket) => {
        socket.off("close", lost)
        // Until somebody listens.
        webSocket.pause()
        resume(Effect.succeed(webSocket))
      })
    })
}

/**
 * Serves what `decide` lets in, in the scope. When that closes, every other side is told that the server goes away.
 */
export const make = Effect.fnUntraced(function* (
  decide: (request: UpgradeRequest) => Effect.Effect<Accepted | AcceptedSocket | Refusal>
): Effect.fn.Return<Upgrades, never, Scope.Scope> {
  const run = yield* FiberSet.makeRuntime<never, void>()
  const handshake = makeHandshake()
  const open = new Set<WebSocketFrames.WebSocketFramesShape>()
  let closing = false

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      closing = true
      return Effect.forEach(open, (frames) => frames.close(CloseCode.GoingAway, "The server is shutting down"), {
        discard: true
      })
    })
  )

  const upgrade = Effect.fnUntraced(function* (request: IncomingMessage, socket: Duplex, head: Buffer) {
    const described = describe(request)
    const answer: Accepted | AcceptedSocket | Refusal =
      described === undefined
        ? { status: 400, body: "The address of the request cannot be read" }
        : closing
          ? { status: 503, body: "The server is shutting down" }
          : yield* decide(described)
    if ("status" in answer) return refuse(socket, answer)
    const webSocket = yield* handshake(request, socket, head, answer)
    if ("serveSocket" in answer) return yield* answer.serveSocket(webSocket, socket)
    const { binary = "text", serve } = answer
    const frames = yield* WebSocketFrames.make(webSocket, { binary, stream: socket })
    open.add(frames)
    yield* Effect.addFinalizer(() => Effect.sync(() => open.delete(frames)))
    yield* serve(frames)
  }, Effect.scoped)

  return {
    handle(request, socket, head) {
      socket.on("error", () => {})
      run(upgrade(request, socket, head))
    }
  }
})
