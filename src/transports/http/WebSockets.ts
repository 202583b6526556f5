/** What every WebSocket here has in common, whatever it carries: how it is written, watched and ended. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Duplex } from "node:stream"
import type { RawData, WebSocket } from "ws"

/** Why a WebSocket is closed, as its protocol numbers it. */
export const CloseCode = {
  Done: 1000,
  GoingAway: 1001,
  ProtocolError: 1002,
  PolicyViolation: 1008,
  TryAgainLater: 1013
} as const

/** How long the last frames and the handshake of the end may take. */
const farewell: Duration.Input = "2 seconds"

/** Bytes that came in so far; 0 without the connection beneath. */
export const bytesRead = (stream: Duplex | undefined): number =>
  stream !== undefined && "bytesRead" in stream && typeof stream.bytesRead === "number" ? stream.bytesRead : 0

export interface Outgoing {
  readonly data: RawData | string
  readonly isBinary: boolean
}

export interface Writer {
  /** Waits until the system took them: a slow reader holds the writer back. Does nothing once the socket is closed. */
  readonly send: (messages: ReadonlyArray<Outgoing>) => Effect.Effect<void>
  /** Lets go whoever waits: no callback comes of a socket that is gone. */
  readonly letGo: () => void
}

/** With the connection beneath, what is sent together leaves together. */
export const makeWriter = (socket: WebSocket, stream: Duplex | undefined): Writer => {
  const sending = new Set<() => void>()
  return {
    send: (messages) =>
      Effect.callback((resume) => {
        const done = () => {
          sending.delete(done)
          resume(Effect.void)
        }
        if (socket.readyState !== socket.OPEN || messages.length === 0) return done()
        sending.add(done)
        stream?.cork()
        for (const [index, { data, isBinary }] of messages.entries()) {
          socket.send(data, { binary: isBinary }, index === messages.length - 1 ? done : undefined)
        }
        stream?.uncork()
      }),
    letGo: () => {
      for (const done of sending) done()
    }
  }
}

export interface Watch {
  /** Time between two pings. */
  readonly ping: Duration.Input
  /** How long nothing may be heard, counted in pings. */
  readonly patience: Duration.Input
  /** Changes with every sign of life. */
  readonly heard: () => number
}

/** Pings for as long as something is heard, and drops the socket then. */
export const watch = Effect.fnUntraced(function* (socket: WebSocket, { heard, patience, ping }: Watch) {
  const period = Duration.fromInputUnsafe(ping)
  const limit = Duration.fromInputUnsafe(patience)
  let seen = -1
  let silence = Duration.zero
  while (Duration.isLessThan(silence, limit)) {
    yield* Effect.sleep(period)
    const now = heard()
    // While it is not read, nothing can be heard.
    silence = now === seen && !socket.isPaused ? Duration.sum(silence, period) : Duration.zero
    seen = now
    socket.ping()
  }
  yield* Effect.logInfo("A WebSocket is dropped: its other side no longer answers")
  socket.terminate()
})

/** Closes it. One that is no longer read would not see the answer of the other side, so it is read again. */
export const close = (socket: WebSocket, code: number, reason: string): void => {
  if (socket.isPaused) socket.resume()
  socket.close(code, reason)
}

/** Waits for the end of one that was closed, and ends it when the other side does not answer in time. */
export const awaitEnd = (socket: WebSocket, gone: Effect.Effect<unknown>): Effect.Effect<void> =>
  Effect.asVoid(
    Effect.timeoutOrElse(gone, {
      duration: farewell,
      orElse: () => Effect.sync(() => socket.terminate())
    })
  )
