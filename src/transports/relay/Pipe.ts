/**
 * One end of what a relay joins: a WebSocket whose messages are taken and sent as they are. It is read only as fast as
 * its messages are taken, and little of it before it is joined.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Duplex } from "node:stream"
import type { RawData, WebSocket } from "ws"

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

const farewell = "2 seconds"
const pingEvery = "15 seconds"
/** Pings without any sign of life until the other side counts as gone. */
const silentPings = 4

const lengthOf = (data: RawData): number =>
  Array.isArray(data) ? data.reduce((sum, part) => sum + part.length, 0) : data.byteLength

const bytesRead = (stream: Duplex): number =>
  "bytesRead" in stream && typeof stream.bytesRead === "number" ? stream.bytesRead : 0

/** Over an open, paused socket and the connection beneath, which are closed with the scope. */
export const make = Effect.fnUntraced(function* (
  socket: WebSocket,
  stream: Duplex
): Effect.fn.Return<Pipe, never, Scope.Scope> {
  const ended = yield* Deferred.make<End>()
  const sending = new Set<() => void>()
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
    for (const letGo of sending) letGo()
    wake()
  })
  const begin = bytesRead(stream)
  const holdBack = (): void => {
    if (bytesRead(stream) - begin > early) socket.pause()
  }
  stream.on("data", holdBack)
  socket.resume()

  const close = (code: number, reason: string): Effect.Effect<void> =>
    Effect.sync(() => {
      isClosing = true
      messages = []
      // One that no longer reads would not see the answer of the other side.
      if (socket.isPaused) socket.resume()
      socket.close(code, reason)
    })

  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      close(1001, "The relay ends"),
      Effect.timeoutOrElse(Deferred.await(ended), {
        duration: farewell,
        orElse: () => Effect.sync(() => socket.terminate())
      })
    )
  )

  const watch = Effect.gen(function* () {
    let seen = -1
    for (let silent = 0; silent < silentPings; silent++) {
      yield* Effect.sleep(pingEvery)
      const read = bytesRead(stream)
      // While it is not read it cannot be heard.
      if (read !== seen || socket.isPaused) silent = -1
      seen = read
      socket.ping()
    }
    socket.terminate()
  })
  yield* Effect.forkScoped(watch)

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
    send: (batch) =>
      Effect.callback((resume) => {
        const done = () => {
          sending.delete(done)
          resume(Effect.void)
        }
        if (socket.readyState !== socket.OPEN || batch.length === 0) return done()
        sending.add(done)
        stream.cork()
        for (const [index, { data, isBinary }] of batch.entries()) {
          const last = index === batch.length - 1
          socket.send(data, { binary: isBinary }, last ? done : undefined)
        }
        stream.uncork()
      }),
    sign: (payload) => Effect.sync(() => socket.ping(payload)),
    ended: Deferred.await(ended),
    close
  }
})
