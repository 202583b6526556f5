/**
 * ACP over Streamable HTTP: POST says something to the agent, GET opens a stream of what it says, DELETE ends the
 * connection (HTTP-01 to HTTP-08). Works the same over HTTP/1.1 and HTTP/2, at whatever path it is mounted. Who may come
 * in is for the listener to decide.
 */
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import { MaxBodySize } from "effect/http/HttpIncomingMessage"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import { ErrorCode } from "../../domain/wire/ErrorCode.ts"
import * as JsonRpc from "../../domain/wire/JsonRpc.ts"
import type { Agent } from "../../services/Agent.ts"
import type { Settings } from "../../services/Settings.ts"
import * as Connection from "../acp/Connection.ts"
import type { FramesShape } from "../Frames.ts"
import * as Connections from "./acp-http/Connections.ts"
import * as EventStream from "./acp-http/EventStream.ts"
import type { HttpConnection } from "./acp-http/HttpConnection.ts"
import { defaultHttpLimits, type HttpLimits } from "./acp-http/HttpLimits.ts"
import { missingConnection, type Refusal, refusal, respond, unknownConnection } from "./acp-http/Refusal.ts"
import * as SessionHeader from "./acp-http/SessionHeader.ts"

export { defaultHttpLimits, type HttpLimits } from "./acp-http/HttpLimits.ts"

/** One request, and its response. The scope is the request. */
export type App = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

const connectionHeader = "acp-connection-id"

const mediaType = (header: string | undefined): string => header?.split(";", 1)[0]?.trim().toLowerCase() ?? ""

const wrongType = refusal(415, "Unsupported Media Type: send one JSON-RPC message as application/json")
const twice = refusal(
  400,
  "This connection is already initialized: POST initialize without Acp-Connection-Id for a new one"
)
const needsId = refusal(400, `"initialize" needs an id that is not null`)
const notStarted = refusal(500, "The connection ended before initialize was answered", ErrorCode.InternalError)
const upgradeRefused = refusal(
  426,
  "A WebSocket needs an HTTP/1.1 upgrade, which this request did not get as far as",
  undefined,
  {
    upgrade: "websocket"
  }
)
const notAcceptable = refusal(406, "Not Acceptable: say Accept: text/event-stream")
const secondReader = refusal(409, "This stream has a reader already: close the other request first")
const wrongVerb = refusal(405, "Method Not Allowed: use POST, GET or DELETE", undefined, { allow: "GET, POST, DELETE" })

/** Nobody reads it any more, and a body on a stream that HTTP/2 has reset would keep its session open for ever. */
const cutOff = HttpServerResponse.empty({ status: 400 })

const accepted = HttpServerResponse.empty({ status: 202 })

const isRefusal = (value: object): value is Refusal => "_tag" in value && value._tag === "Refusal"

const appOf = (connections: Connections.Connections, limits: HttpLimits): App => {
  const tooLarge = refusal(413, `The message is longer than the limit of ${limits.bodyBytes} bytes`)
  const longId = refusal(400, `The id of a request has at most ${limits.idLength} characters`)

  const lookUp = (request: HttpServerRequest.HttpServerRequest): HttpConnection | Refusal => {
    const id = request.headers[connectionHeader]
    if (id === undefined || id === "") return missingConnection
    return connections.get(id) ?? unknownConnection
  }

  const bodyOf = (
    request: HttpServerRequest.HttpServerRequest
  ): Effect.Effect<string | HttpServerResponse.HttpServerResponse> =>
    Number(request.headers["content-length"] ?? 0) > limits.bodyBytes
      ? Effect.succeed(respond(tooLarge))
      : request.text.pipe(
          // A client that goes away interrupts its request.
          Effect.interruptible,
          Effect.provideService(MaxBodySize, ByteSize.bytes(limits.bodyBytes)),
          Effect.catch((error) =>
            Effect.succeed(
              error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
                ? respond(tooLarge)
                : cutOff
            )
          )
        )

  const initialize = Effect.fnUntraced(function* (text: string, message: JsonRpc.Request) {
    if (message.id === "null") return respond(needsId, message)
    const connection = yield* connections.open
    if (isRefusal(connection)) return respond(connection, message)
    // A client that leaves before the answer will never know of this connection.
    const answer = yield* connection.initialize(text, message.id).pipe(
      Effect.interruptible,
      Effect.onInterrupt(() => connection.end)
    )
    return answer === undefined
      ? respond(notStarted, message)
      : HttpServerResponse.text(answer, {
          contentType: "application/json",
          headers: { [connectionHeader]: connection.id }
        })
  })

  const post = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    if (mediaType(request.headers["content-type"]) !== "application/json") return respond(wrongType)
    const connection = lookUp(request)
    // Nothing is read for a connection that has ended.
    if (isRefusal(connection) && connection.status === 404) return respond(connection)
    const text = yield* bodyOf(request)
    if (typeof text !== "string") return text
    const message = JsonRpc.parseBounded(text)
    if (message._tag === "Invalid") return respond(refusal(400, message.message, message.code), message)
    if (message._tag === "Request") {
      if (message.id.length > limits.idLength + 2) return respond(longId)
      if (message.method === "initialize") {
        return isRefusal(connection) ? yield* initialize(text, message) : respond(twice, message)
      }
    }
    if (isRefusal(connection)) return respond(connection, message)
    const refused = yield* SessionHeader.deliver(
      connection,
      { text, message, sessionId: request.headers[SessionHeader.name] },
      { isForeign: (sessionId) => connections.isForeign(sessionId, connection), idLength: limits.idLength }
    )
    return refused === undefined ? accepted : respond(refused, message)
  })

  const get = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    if (request.headers["upgrade"]?.toLowerCase() === "websocket") return respond(upgradeRefused)
    if (request.headers["accept"]?.toLowerCase().includes("text/event-stream") !== true) return respond(notAcceptable)
    const connection = lookUp(request)
    if (isRefusal(connection)) return respond(connection)
    const sessionId = SessionHeader.read(request.headers[SessionHeader.name], limits.idLength)
    if (typeof sessionId === "object") return respond(sessionId)
    const mailbox = connection.mailbox(sessionId)
    if (isRefusal(mailbox)) return respond(mailbox)
    return (yield* EventStream.respond(mailbox, limits.keepAlive)) ?? respond(secondReader)
  })

  const remove = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const connection = lookUp(request)
    if (isRefusal(connection)) return respond(connection)
    yield* connection.end
    return accepted
  })

  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    switch (request.method) {
      case "POST":
        return post(request)
      case "GET":
        return get(request)
      case "DELETE":
        return remove(request)
      default:
        return Effect.succeed(respond(wrongVerb))
    }
  })
}

/** Over any way to serve a connection. The scope ends all connections. */
export const makeWith = <R>(
  serve: (frames: FramesShape) => Effect.Effect<void, never, R>,
  options: Partial<HttpLimits> = {}
): Effect.Effect<App, never, R | Scope.Scope> => {
  const limits = { ...defaultHttpLimits, ...options }
  return Effect.map(Connections.make(serve, limits), (connections) => appOf(connections, limits))
}

/** What the endpoint needs to know. `version` is that of the program, shown to people. */
export interface HttpOptions extends Connection.ConnectionOptions {
  /** Bounds of the endpoint. Default: `defaultHttpLimits`. */
  readonly http?: Partial<HttpLimits>
}

/** The endpoint of this agent. The scope ends its connections. */
export const make = ({ http, ...options }: HttpOptions): Effect.Effect<App, never, Agent | Settings | Scope.Scope> =>
  makeWith((frames) => Connection.serveRemote(frames, options), http)
