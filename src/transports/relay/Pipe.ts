/**
 * One end of what a relay joins: a WebSocket whose messages are taken and sent as they are. It is read only as fast as
 * its messages are taken, and little of it before it is joined.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Duplex } from "node:stream"
import type { RawData, WebSocket } from "ws"
import * as WebSockets from "../http/WebSockets.ts"

export interface Message {
  readonly data: RawData
  readonly isBinary: boolean
}

/** How a WebSocket ended, as its protocol has it. */
export interface End {
  readonly code: number
  readonly reason: string
}

export interface Pipe {
  /** All messages that wait, at least one; none once it has ended. */
  readonly take: Effect.Effect<ReadonlyArray<Message>>
  /** Waits until the system took them; does nothing once it has ended. */
  readonly send: (messages: ReadonlyArray<Message>) => Effect.Effect<void>
  /** A ping with a meaning. */
  readonly sign: (payload: string) => Effect.Effect<void>
  readonly ended: Effect.Effect<End>
  /** Ends it after what was sent, and takes nothing more. */
  readonly close: (code: number, reason: string) => Effect.Effect<void>
}

/** What may wait to be taken before the socket is read no further. */
const waiting = { messages: 256, bytes: 1024 * 1024 }

/** Bytes that are read of one that nobody takes anything of yet: enough for the first requests of a client. */
const early = 256 * 1024

const ping = "15 seconds"
/** Silence after which the other side counts as gone. */
const patience = "60 seconds"

const lengthOf = (data: RawData): number =>
  Array.isArray(data) ? data.reduce((sum, part) => sum + part.length, 0) : data.byteLength

/** Over an open, paused socket and the connection beneath, which are closed with the scope. */
export const make = Effect.fnUntraced(function* (
  socket: WebSocket,
  stream: Duplex
): Effect.fn.Return<Pipe, never, Scope.Scope> {
  const ended = yield* Deferred.make<End>()
  const writer = WebSockets.makeWriter(socket, stream)
  let messages: Array<Message> = []
  let bytes = 0
  let isTaken = false
  let isClosing = false
  let wake = (): void => {}

  socket.on("message", (data, isBinary) => {
    if (isClosing) return
    messages.push({ data, isBinary })
    bytes += lengthOf(data)
    if (messages.length >= waiting.messages || bytes >= waiting.bytes) socket.pause()
    wake()
  })
  // A close follows each error.
  socket.on("error", () => {})
  socket.on("close", (code, reason) => {
    Deferred.doneUnsafe(ended, Effect.succeed({ code, reason: reason.toString() }))
    writer.letGo()
    wake()
  })
  const heard = () => WebSockets.bytesRead(stream)
  const begin = heard()
  const holdBack = (): void => {
    if (heard() - begin > early) socket.pause()
  }
  stream.on("data", holdBack)
  socket.resume()

  const close = (code: number, reason: string): Effect.Effect<void> =>
    Effect.sync(() => {
      isClosing = true
      messages = []
      WebSockets.close(socket, code, reason)
    })

  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      close(WebSockets.CloseCode.GoingAway, "The relay ends"),
      WebSockets.awaitEnd(socket, Deferred.await(ended))
    )
  )
  yield* Effect.forkScoped(WebSockets.watch(socket, { ping, patience, heard }))

  const arrived: Effect.Effect<void> = Effect.callback((resume) => {
    wake = () => resume(Effect.void)
    if (messages.length > 0 || Deferred.isDoneUnsafe(ended)) wake()
    return Effect.sync(() => {
      wake = () => {}
    })
  })

  return {
    take: Effect.suspend(() => {
      if (!isTaken) stream.off("data", holdBack)
      isTaken = true
      if (socket.isPaused && messages.length === 0) socket.resume()
      return Effect.map(arrived, () => {
        const taken = messages
        messages = []
        bytes = 0
        if (socket.isPaused) socket.resume()
        return taken
      })
    }),
    send: writer.send,
    sign: (payload) => Effect.sync(() => socket.ping(payload)),
    ended: Deferred.await(ended),
    close
  }
})
