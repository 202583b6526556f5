/**
 * The built program behind its WebSocket endpoint, with the official SDK's client. Every frame is tapped beside that
 * client, and what it makes of them has to be what came. What it cannot say, such as a text that is no JSON, is sent by
 * hand over the same socket.
 */
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client"
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { WebSocket } from "ws"
import type { Channel, Transport } from "../Transports.ts"
import { serve } from "./Served.ts"

/** The object that a line is and that is written as that line again. */
const messageOf = (line: string): object | undefined => {
  try {
    const json: unknown = JSON.parse(line)
    return typeof json === "object" && json !== null && !Array.isArray(json) && JSON.stringify(json) === line
      ? json
      : undefined
  } catch {
    return undefined
  }
}

/** A connection of the SDK's client. Both ends of it are gone with the scope. */
export const connect = Effect.fnUntraced(function* (
  url: string,
  headers: Readonly<Record<string, string>>
): Effect.fn.Return<Omit<Channel, "log" | "another">, never, Scope.Scope> {
  const lines = yield* Queue.unbounded<string, Cause.Done>()
  const opened = yield* Deferred.make<WebSocket>()
  const closed = yield* Deferred.make<void>()
  const tapped: Array<string> = []

  class Tapped extends WebSocket {
    constructor(address: string, protocols: string[] | undefined, options: object) {
      super(address, protocols, { ...options, maxPayload: 0 })
      this.on("open", () => Deferred.doneUnsafe(opened, Effect.succeed(this)))
      this.on("message", (data, isBinary) => {
        const line = isBinary ? "a binary frame" : data.toString()
        tapped.push(line)
        Queue.offerUnsafe(lines, line)
      })
      this.on("error", (error) => Deferred.doneUnsafe(opened, Effect.die(error)))
      this.on("close", () => {
        Queue.endUnsafe(lines)
        Deferred.doneUnsafe(closed, Effect.void)
      })
    }
  }

  const stream = createWebSocketStream(url, { WebSocket: Tapped as never, headers: { ...headers } })
  const writer = stream.writable.getWriter()
  writer.closed.catch(() => {})
  const read = async () => {
    for await (const message of stream.readable) {
      const line = tapped.shift()
      if (line === undefined || JSON.stringify(message) !== JSON.stringify(JSON.parse(line))) {
        Queue.offerUnsafe(lines, `the SDK read ${JSON.stringify(message)} where ${line} came`)
      }
    }
  }
  read().catch(() => {})
  const socket = yield* Effect.acquireRelease(Deferred.await(opened), (socket) => Effect.sync(() => socket.terminate()))

  const byHand = (line: string) =>
    Effect.callback<void>((resume) => {
      socket.send(line, () => resume(Effect.void))
    })
  return {
    send: (line) => {
      const message = messageOf(line)
      return message === undefined ? byHand(line) : Effect.promise(() => writer.write(message as never).catch(() => {}))
    },
    lines: Stream.fromQueue(lines),
    end: Effect.sync(() => socket.close(1000)),
    hangUp: Effect.sync(() => socket.terminate()),
    kill: Effect.sync(() => socket.terminate()),
    ended: Effect.as(Deferred.await(closed), 0)
  }
})

export const webSocket: Transport = {
  name: "websocket",
  inProcess: false,
  open: Effect.fnUntraced(function* (options) {
    const server = yield* serve(options)
    const connection = connect(`${server.origin.replace(/^http/, "ws")}/ws`, server.headers)
    return {
      ...(yield* connection),
      end: server.stop("SIGTERM"),
      hangUp: server.stop("SIGKILL"),
      kill: server.stop("SIGKILL"),
      ended: server.ended,
      log: server.log,
      agentPid: () => server.pid,
      another: Effect.map(connection, (channel) => ({ ...channel, log: server.log }))
    }
  }),
  notApplicable: {
    "TR-03": "a message is a frame: there are no lines to cut",
    "TR-07": "the end of a connection ends no turn",
    "CAN-09": "is shown by the end of the input, which ends no turn here",
    "TR-08": "a turn goes on while nobody reads",
    "TR-09": "says that stdio is served"
  }
}
