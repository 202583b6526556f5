/**
 * Frames over a WebSocket, of a server or of a client. One text frame is one message; a ping shows whether the other side
 * is still there, and one that is not is dropped.
 */
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { isUtf8 } from "node:buffer"
import type { Duplex } from "node:stream"
import type { RawData, WebSocket } from "ws"
import type { Frame, FramesShape } from "../Frames.ts"
import * as WebSockets from "./WebSockets.ts"

export interface WebSocketFramesOptions {
  /** Time between two pings. Default 15 seconds. */
  readonly ping?: Duration.Input
  /** The connection is lost when nothing came in for so long, counted in pings. Default: two unanswered pings. */
  readonly readLiveness?: Duration.Input
  /** What a binary frame is: the same as text if it is UTF-8, or nothing at all (WS-01). Default `text`. */
  readonly binary?: "text" | "ignore"
  /**
   * The connection beneath. With it, frames that are sent together leave together, and a long message on its way shows
   * that the other side is there.
   */
  readonly stream?: Duplex
}

export interface WebSocketFramesShape extends FramesShape {
  /** As `disconnect`, with a code that says what kind of end this is; `disconnect` itself says 1008. */
  readonly close: (code: number, reason: string) => Effect.Effect<void>
}

/** What may wait for the reader before the socket is no longer read. */
const waiting = { frames: 256, bytes: 1024 * 1024 }

/** Bytes that a close frame has for its reason. */
const REASON = 123

const bufferOf = (data: RawData): Buffer =>
  Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)

/** The longest beginning that fits, in whole characters. */
const shorten = (reason: string): string => {
  const bytes = Buffer.from(reason)
  return bytes.length <= REASON ? reason : new TextDecoder().decode(bytes.subarray(0, REASON), { stream: true })
}

/**
 * Frames over an open socket, which may have been paused so that nothing of it was missed. It belongs to the scope: it is
 * closed with it, and ended when the other side does not answer that.
 */
export const make = Effect.fnUntraced(function* (
  socket: WebSocket,
  options: WebSocketFramesOptions = {}
): Effect.fn.Return<WebSocketFramesShape, never, Scope.Scope> {
  const { binary = "text", ping = "15 seconds", stream } = options
  const incoming = yield* Queue.unbounded<Frame, Cause.Done>()
  const closed = yield* Deferred.make<void>()
  const gone = yield* Deferred.make<void>()
  const writer = WebSockets.makeWriter(socket, stream)
  const queued = { frames: 0, bytes: 0 }
  let heard = 0
  let over = false

  const hangUp = (): void => {
    over = true
    Queue.endUnsafe(incoming)
    Deferred.doneUnsafe(closed, Effect.void)
    writer.letGo()
  }

  const receive = (data: RawData, isBinary: boolean): void => {
    heard++
    if (over) return
    const bytes = bufferOf(data)
    if (isBinary && (binary === "ignore" || !isUtf8(bytes))) return
    const text = bytes.toString("utf8").trim()
    // Some clients keep a connection alive by a word of their own.
    if (text === "" || text === "ping") return
    queued.frames++
    queued.bytes += bytes.byteLength
    if (queued.frames >= waiting.frames || queued.bytes >= waiting.bytes) socket.pause()
    Queue.offerUnsafe(incoming, { _tag: "Text", text })
  }

  const handOver = <Frames extends ReadonlyArray<Frame>>(frames: Frames): Frames => {
    // All that waits is taken at once.
    queued.frames = 0
    queued.bytes = 0
    if (socket.isPaused) socket.resume()
    return frames
  }

  socket.on("message", receive)
  socket.on("ping", () => heard++)
  socket.on("pong", () => heard++)
  // A close follows each error.
  socket.on("error", () => {})
  socket.on("close", () => {
    hangUp()
    Deferred.doneUnsafe(gone, Effect.void)
  })
  if (socket.readyState === socket.CLOSED) {
    hangUp()
    Deferred.doneUnsafe(gone, Effect.void)
  }
  if (socket.isPaused) socket.resume()

  const close = (code: number, reason: string): Effect.Effect<void> =>
    Effect.sync(() => {
      WebSockets.close(socket, code, shorten(reason))
      hangUp()
    })

  yield* Effect.addFinalizer(() =>
    Effect.andThen(close(WebSockets.CloseCode.Done, ""), WebSockets.awaitEnd(socket, Deferred.await(gone)))
  )

  const patience = options.readLiveness ?? Duration.times(Duration.fromInputUnsafe(ping), 2)
  yield* Effect.forkScoped(
    WebSockets.watch(socket, { ping, patience, heard: () => heard + WebSockets.bytesRead(stream) })
  )

  return {
    incoming: Stream.mapArray(Stream.fromQueue(incoming), handOver),
    send: (frames) => writer.send(frames.map((data) => ({ data, isBinary: false }))),
    closed: Deferred.await(closed),
    disconnect: (reason) => close(WebSockets.CloseCode.PolicyViolation, reason),
    close
  }
})
