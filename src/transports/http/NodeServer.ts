/**
 * The Node servers behind one port. In clear text the first bytes of a connection tell HTTP/1.1 from HTTP/2 by prior
 * knowledge; over TLS the two sides agree on it.
 */
import * as Effect from "effect/Effect"
import { X509Certificate } from "node:crypto"
import * as http from "node:http"
import * as http2 from "node:http2"
import * as net from "node:net"
import type { Duplex } from "node:stream"
import * as tls from "node:tls"

/** A certificate and its key, as the text of PEM files. */
export interface Tls {
  readonly cert: string
  readonly key: string
}

/** What to do with what comes in. */
export interface Handlers {
  readonly request: (
    request: http.IncomingMessage | http2.Http2ServerRequest,
    response: http.ServerResponse | http2.Http2ServerResponse
  ) => void
  readonly upgrade: (request: http.IncomingMessage, socket: Duplex, head: Buffer) => void
  /** The first connection that is turned away because there are too many. */
  readonly crowded: Effect.Effect<void>
  /** Runs what nothing waits for. */
  readonly background: (effect: Effect.Effect<void>) => void
}

export interface NodeServer {
  /** What is to listen. */
  readonly server: net.Server
  /** Lets no more connections in, and ends each as soon as nothing is under way on it. */
  readonly close: () => void
  /** Waits until no connection is left. */
  readonly ended: Effect.Effect<void>
  /** Ends every connection at once. */
  readonly destroy: () => void
}

/** What bounds a client that has not yet said what it wants; times in milliseconds. */
const limits = {
  /** From the first byte of a request to its last; also the time after which an idle HTTP/2 connection ends. */
  request: 120_000,
  /** How long an HTTP/1.1 connection may be idle between two requests. */
  idle: 15_000,
  headerBytes: 16 * 1024,
  /** Requests at a time on an HTTP/2 connection; each stream of events is one. */
  streams: 256
}

/** How an HTTP/2 connection begins (RFC 9113 §3.4). */
const preface = Buffer.from("PRI * HTTP/2.0")

/** Waits for as many bytes as it takes, gives them back, and tells whether HTTP/2 begins with them. */
const peek = (socket: net.Socket, patience: number, tell: (speaksHttp2: boolean) => void): void => {
  let held = Buffer.alloc(0)
  const giveUp = () => socket.destroy()
  const look = (chunk: Buffer): void => {
    held = Buffer.concat([held, chunk])
    const matches = preface.subarray(0, held.length).equals(held.subarray(0, preface.length))
    if (matches && held.length < preface.length) return
    socket.off("data", look)
    socket.off("end", giveUp)
    socket.off("timeout", giveUp)
    socket.setTimeout(0)
    socket.pause()
    socket.unshift(held)
    tell(matches)
  }
  socket.on("data", look)
  socket.on("end", giveUp)
  socket.setTimeout(patience, giveUp)
}

/** Ends a request over HTTP/2 whose body does not come to its end in time. Over HTTP/1.1 Node does so by itself. */
const hurry = (request: http2.Http2ServerRequest): Effect.Effect<void> => {
  const received: Effect.Effect<void> = Effect.callback((resume) => {
    const done = () => resume(Effect.void)
    if (request.complete) return done()
    request.once("end", done)
    request.stream.once("close", done)
  })
  const cut = Effect.sync(() => request.stream.close(http2.constants.NGHTTP2_CANCEL))
  return Effect.timeoutOrElse(received, { duration: limits.request, orElse: () => cut })
}

const makeHttp1 = ({ request, upgrade }: Handlers, patience: number): http.Server => {
  const server = http.createServer(
    {
      headersTimeout: patience,
      requestTimeout: limits.request,
      keepAliveTimeout: limits.idle,
      connectionsCheckingInterval: patience / 5,
      maxHeaderSize: limits.headerBytes,
      // A client that offers another protocol is served in this one.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket"
    },
    request
  )
  server.on("upgrade", upgrade)
  // It never listens itself, and what ends slow requests begins with this.
  server.emit("listening")
  return server
}

const makeHttp2 = ({ background, request }: Handlers, sessions: Set<http2.ServerHttp2Session>): http2.Http2Server => {
  const settings = { maxConcurrentStreams: limits.streams, maxHeaderListSize: limits.headerBytes }
  const server = http2.createServer({ settings }, (incoming, response) => {
    background(hurry(incoming))
    request(incoming, response)
  })
  server.on("session", (session) => {
    sessions.add(session)
    session.once("close", () => sessions.delete(session))
    // What is under way goes on to its end.
    session.setTimeout(limits.request, () => session.close())
  })
  return server
}

export interface NodeServerOptions {
  readonly tls: Tls | undefined
  readonly maxConnections: number
  /** Milliseconds from a connection to its first bytes or the end of its TLS handshake, and from there to the headers. */
  readonly patience: number
}

/** A server that speaks both versions. Throws when the certificate or its key is no good. */
export const make = (options: NodeServerOptions, handlers: Handlers): NodeServer => {
  const { maxConnections, patience, tls: certificate } = options
  // Node itself takes an empty certificate, with which no client could do anything.
  if (certificate !== undefined) void new X509Certificate(certificate.cert)
  const sockets = new Set<net.Socket>()
  const sessions = new Set<http2.ServerHttp2Session>()
  let tellEnded: (() => void) | undefined
  const http1 = makeHttp1(handlers, patience)
  const http2 = makeHttp2(handlers, sessions)

  const clear = (socket: net.Socket): void =>
    peek(socket, patience, (speaksHttp2) => {
      ;(speaksHttp2 ? http2 : http1).emit("connection", socket)
      if (!speaksHttp2) socket.resume()
    })
  const agreed = (socket: tls.TLSSocket): void => {
    const server = socket.alpnProtocol === "h2" ? http2 : http1
    server.emit("connection", socket)
  }
  const server =
    certificate === undefined
      ? net.createServer({ noDelay: true }, clear)
      : tls.createServer(
          { ...certificate, ALPNProtocols: ["h2", "http/1.1"], handshakeTimeout: patience, noDelay: true },
          agreed
        )
  // A handshake that failed or took too long.
  server.on("tlsClientError", (_: Error, socket: tls.TLSSocket) => socket.destroy())
  server.maxConnections = maxConnections
  let crowded = false
  server.on("drop", () => {
    // Told once, until there is room again.
    if (!crowded) handlers.background(handlers.crowded)
    crowded = true
  })
  server.on("connection", (socket: net.Socket) => {
    crowded = false
    sockets.add(socket)
    socket.on("error", () => {})
    socket.once("close", () => {
      sockets.delete(socket)
      if (sockets.size === 0) tellEnded?.()
    })
  })

  return {
    server,
    close() {
      server.close()
      http1.close()
      http1.closeIdleConnections()
      for (const session of sessions) session.close()
    },
    ended: Effect.callback((resume) => {
      tellEnded = () => resume(Effect.void)
      if (sockets.size === 0) tellEnded()
    }),
    destroy() {
      for (const socket of sockets) socket.destroy()
    }
  }
}
