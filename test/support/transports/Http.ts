/**
 * The built program behind its HTTP endpoint, with the official SDK's client over HTTP/1.1 or HTTP/2. What that client
 * cannot say, such as a text that is no JSON, is posted by hand beside it. Bytes are tapped below the client, and what it
 * makes of them has to be what came.
 */
import type { AnyMessage } from "@agentclientprotocol/sdk"
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client"
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type AgentOptions, type Channel, type Transport } from "../Transports.ts"
import { type Fetch, fetchOf, tap } from "./HttpTap.ts"
import type { HttpVersion } from "../RawHttp.ts"
import { type Server, serve } from "./Served.ts"

interface Message {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: { readonly sessionId?: unknown } | null
  readonly error?: { readonly data?: { readonly body?: unknown } }
}

const messageOf = (line: string): Message | undefined => {
  try {
    const json: unknown = JSON.parse(line)
    return typeof json === "object" && json !== null && !Array.isArray(json) && JSON.stringify(json) === line
      ? json
      : undefined
  } catch {
    return undefined
  }
}

const canBeHeader = (text: unknown): text is string =>
  typeof text === "string" && text.length <= 1024 && /^[\x21-\x7e]+$/.test(text)

/** Methods whose messages name a session. */
const scoped = /^session\/(?!new$|list$|update$)/

/** Whether the SDK's client posts it in a way that leaves the connection alive. */
const isSayable = ({ id, jsonrpc, method, params }: Message): boolean => {
  if (jsonrpc !== "2.0" || !["string", "number", "undefined"].includes(typeof id)) return false
  if (typeof method !== "string") return method === undefined && id !== undefined
  const sessionId = params?.sessionId
  if (sessionId !== undefined) return canBeHeader(sessionId)
  return id !== undefined || !scoped.test(method)
}

/** One client: a stream of the SDK for each `initialize` that is no second one. */
const makeClient = (url: string, fetch: Fetch, receive: (line: string) => void) => {
  const tapped = tap(fetch)
  let writer: WritableStreamDefaultWriter<AnyMessage> | undefined
  let connection: string | undefined
  let isOpen = false

  const connect = () => {
    const stream = createHttpStream(url, { fetch: tapped.fetch })
    writer = stream.writable.getWriter()
    writer.closed.catch(() => {})
    const read = async () => {
      for await (const message of stream.readable) {
        const text = JSON.stringify(message)
        const line = tapped.take(text)
        // What the SDK answers itself when a POST is refused; the server's own answer is in there.
        const { body } = (message as Message).error?.data ?? {}
        receive(line ?? JSON.stringify(typeof body === "object" && body !== null ? body : message))
      }
    }
    read().catch(() => {})
  }

  const postByHand = async (line: string, message: Message | undefined) => {
    const sessionId = message?.params?.sessionId
    if (canBeHeader(sessionId)) {
      // Lets the SDK open the stream of the session.
      await writer?.write({ jsonrpc: "2.0", method: "$/open", params: { sessionId } })
    }
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(connection !== undefined && { "Acp-Connection-Id": connection }),
        ...(canBeHeader(sessionId) && { "Acp-Session-Id": sessionId })
      },
      body: line
    })
    const body = await response.text()
    if (response.headers.get("content-type")?.startsWith("application/json") === true) receive(body)
  }

  return {
    /** Ends the connection by DELETE. */
    end: () => writer?.close() ?? Promise.resolve(),
    send: async (line: string) => {
      const message = messageOf(line)
      if (message?.method === "initialize" && message.id !== undefined && message.id !== null && !isOpen) {
        connect()
        await writer?.write(message as AnyMessage)
        const answer = tapped.greeting()
        connection = answer?.connection
        isOpen = answer?.isResult === true
        return
      }
      await (message !== undefined && isSayable(message) && connection !== undefined
        ? writer?.write(message as AnyMessage)
        : postByHand(line, message))
    }
  }
}

/** A connection of its own. Cut off, it leaves without DELETE. */
const connect = Effect.fnUntraced(function* (
  version: HttpVersion,
  server: Server
): Effect.fn.Return<Channel, never, Scope.Scope> {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const fetch = yield* Scope.provide(fetchOf(version, server.origin, server.headers), scope)
  const lines = yield* Queue.unbounded<string, Cause.Done>()
  const closed = yield* Deferred.make<number>()
  const client = makeClient(`${server.origin}/acp`, fetch, (line) => Queue.offerUnsafe(lines, line))
  const leave = Effect.all([Queue.end(lines), Deferred.succeed(closed, 0)])
  yield* Effect.forkScoped(Effect.andThen(server.ended, leave))
  const cut = Effect.asVoid(Effect.andThen(Scope.close(scope, Exit.void), leave))
  return {
    send: (line) => Effect.promise(() => client.send(line).catch(() => {})),
    lines: Stream.fromQueue(lines),
    end: Effect.andThen(
      Effect.promise(() => client.end().catch(() => {})),
      Effect.asVoid(leave)
    ),
    hangUp: cut,
    kill: cut,
    ended: Deferred.await(closed),
    log: server.log
  }
})

const open = (version: HttpVersion) =>
  Effect.fnUntraced(function* (options: AgentOptions) {
    const server = yield* serve(options)
    const channel: Channel = {
      ...(yield* connect(version, server)),
      end: server.stop("SIGTERM"),
      hangUp: server.stop("SIGKILL"),
      kill: server.stop("SIGKILL"),
      ended: server.ended,
      agentPid: () => server.pid,
      another: connect(version, server)
    }
    return channel
  })

const notApplicable = {
  "TR-03": "a message is the body of a request: there are no lines to cut",
  "TR-04": "the body of a request has at most 16 MiB (HTTP-06)",
  "TR-07": "the end of a connection ends no turn",
  "CAN-09": "is shown by the end of the input, which ends no turn here",
  "TR-08": "a turn goes on while nobody reads",
  "TR-09": "says that stdio is served",
  "REC-04": "who does not come back is gone after 30 seconds, and only then does the grace begin"
}

export const http1: Transport = { name: "http1", inProcess: false, open: open(1), notApplicable }
export const http2: Transport = { name: "http2", inProcess: false, open: open(2), notApplicable }
