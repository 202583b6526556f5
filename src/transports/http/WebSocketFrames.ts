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

/** Why a WebSocket is closed, as its protocol numbers it. */
export const CloseCode = {
  Done: 1000,
  GoingAway: 1001,
  ProtocolError: 1002,
  PolicyViolation: 1008
} as const

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

/** How long the last frames and the handshake of the end may take. */
const farewell: Duration.Input = "2 seconds"

/** Bytes that a close frame has for its reason. */
const REASON = 123

const bufferOf = (data: RawData): Buffer =>
  Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)

/** The longest beginning that fits, in whole characters. */
const shorten = (reason: string): string => {
  const bytes = Buffer.from(reason)
  return bytes.length <= REASON ? reason : new TextDecoder().decode(bytes.subarray(0, REASON), { stream: true })
}

const bytesRead = (stream: Duplex | undefined): number =>
  stream !== undefined && "bytesRead" in stream && typeof stream.bytesRead === "number" ? stream.bytesRead : 0

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
  const sending = new Set<() => void>()
  const queued = { frames: 0, bytes: 0 }
  let heard = 0
  let over = false

  const hangUp = (): void => {
    over = true
    Queue.endUnsafe(incoming)
    Deferred.doneUnsafe(closed, Effect.void)
    for (const letGo of sending) letGo()
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
      // One that no longer reads would not see the answer of the other side.
      if (socket.isPaused) socket.resume()
      socket.close(code, shorten(reason))
      hangUp()
    })

  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      close(CloseCode.Done, ""),
      Effect.timeoutOrElse(Deferred.await(gone), {
        duration: farewell,
        orElse: () => Effect.sync(() => socket.terminate())
      })
    )
  )

  const period = Duration.fromInputUnsafe(ping)
  const patience = Duration.fromInputUnsafe(options.readLiveness ?? Duration.times(period, 2))
  const watch = Effect.gen(function* () {
    let seen = -1
    let silence = Duration.zero
    while (Duration.isLessThan(silence, patience)) {
      yield* Effect.sleep(period)
      const now = heard + bytesRead(stream)
      // While we do not read, we cannot hear.
      silence = now === seen && !socket.isPaused ? Duration.sum(silence, period) : Duration.zero
      seen = now
      socket.ping()
    }
    yield* Effect.logInfo("A WebSocket is dropped: its other side no longer answers")
    socket.terminate()
  })
  yield* Effect.forkScoped(watch)

  return {
    incoming: Stream.mapArray(Stream.fromQueue(incoming), handOver),
    // The callback comes when the system took the bytes: a slow reader holds the writer back.
    send: (frames) =>
      Effect.callback((resume) => {
        const done = () => {
          sending.delete(done)
          resume(Effect.void)
        }
        if (socket.readyState !== socket.OPEN || frames.length === 0) return done()
        sending.add(done)
        stream?.cork()
        for (const [index, frame] of frames.entries()) {
          if (index === frames.length - 1) socket.send(frame, done)
          else socket.send(frame)
        }
        stream?.uncork()
      }),
    closed: Deferred.await(closed),
    disconnect: (reason) => close(CloseCode.PolicyViolation, reason),
    close
  }
})
