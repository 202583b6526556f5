/**
 * An MCP server behind Streamable HTTP: each message is a POST, answered by JSON or by events that end with the answer.
 * The given headers go with every request and never to another address, since redirects are not followed.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { EnvHttpProxyAgent } from "undici"
import type { McpSpec } from "../../domain/McpSpec.ts"
import * as JsonRpc from "../../domain/wire/JsonRpc.ts"
import type { RequestId } from "../../domain/wire/RequestId.ts"
import { answerTo, MAX_MESSAGE, McpFailed, type McpTransport, outcomeOf } from "./McpTransport.ts"

/** For telling the server that its session is over. */
const GOODBYE = "1 second"

/** Where the server is. The rest of an address may be secret. */
const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : "")

const refusal = (response: HttpClientResponse, origin: string): string => {
  const { status } = response
  if (status === 401 || status === 403) {
    const metadata = /resource_metadata="([^"]+)"/.exec(response.headers["www-authenticate"] ?? "")?.[1]
    const where = metadata === undefined ? "" : ` (how to sign in: ${metadata})`
    return `refused access with HTTP status ${status}${where}. Give it an Authorization header that is valid`
  }
  if (status >= 300 && status < 400) return `answered HTTP status ${status}: it moved. Give its present address`
  if (status === 404 || status === 405)
    return `answered HTTP status ${status}: the address at ${origin} is no MCP server's`
  return `answered HTTP status ${status}`
}

/** The data of each event, as it arrives. */
const events = <E, R>(text: Stream.Stream<string, E, R>): Stream.Stream<string, E | McpFailed, R> =>
  Stream.suspend(() => {
    const found: Array<string> = []
    const parser = Sse.makeParser(
      (event) => {
        if (event._tag === "Event" && event.data !== "") found.push(event.data)
      },
      { maxEventSize: MAX_MESSAGE }
    )
    return Stream.flatMap(text, (chunk) =>
      parser.feed(chunk) === undefined
        ? Stream.fromIterable(found.splice(0))
        : Stream.fail(new McpFailed({ message: `sent an event of more than ${MAX_MESSAGE} bytes` }))
    )
  })

export const open = Effect.fnUntraced(function* ({
  headers: given,
  url
}: Extract<McpSpec, { readonly _tag: "Http" }>): Effect.fn.Return<McpTransport, McpFailed, Scope.Scope> {
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    return yield* new McpFailed({ message: "has no usable address: give a URL that begins with http:// or https://" })
  }
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new EnvHttpProxyAgent()),
    (agent) => Effect.promise(() => agent.destroy())
  )
  const client = HttpClient.withScope(
    yield* Effect.provideService(NodeHttpClient.makeUndici, NodeHttpClient.Dispatcher, agent)
  )
  // Addresses may be secret, so no trace holds them.
  const execute = (request: HttpClientRequest.HttpClientRequest) =>
    client.execute(request).pipe(
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false)
    )
  let session: string | undefined
  let revision: string | undefined

  const headers = (): Record<string, string> => ({
    ...Object.fromEntries(given.map(({ name, value }) => [name, Redacted.value(value)])),
    accept: "application/json, text/event-stream",
    ...(revision === undefined ? {} : { "mcp-protocol-version": revision }),
    ...(session === undefined ? {} : { "mcp-session-id": session })
  })

  const unreachable = ({ reason }: HttpClientError) => {
    const cause = "cause" in reason && reason.cause instanceof Error ? reason.cause.message : reason._tag
    return new McpFailed({ message: `cannot be reached at ${originOf(url)}: ${cause}` })
  }

  const post = Effect.fnUntraced(function* (body: string) {
    const request = HttpClientRequest.post(url).pipe(
      HttpClientRequest.setHeaders(headers()),
      HttpClientRequest.bodyText(body, "application/json")
    )
    const response = yield* Effect.mapError(execute(request), unreachable)
    if (session !== undefined && response.status === 404) {
      return yield* new McpFailed({ message: "has forgotten this session. Open a new session to connect again" })
    }
    if (response.status < 200 || response.status >= 300) {
      return yield* new McpFailed({ message: refusal(response, originOf(url)) })
    }
    session = response.headers["mcp-session-id"] ?? session
    return response
  })

  const send = (body: string) => Effect.asVoid(Effect.scoped(post(body)))

  /** The messages in an answer's body; a body in mid-event when the stream ends is no message. */
  const messages = (response: HttpClientResponse): Stream.Stream<string, McpFailed> => {
    const text = response.stream.pipe(Stream.mapError(unreachable), Stream.decodeText())
    const type = response.headers["content-type"] ?? ""
    if (type.startsWith("text/event-stream")) return events(text)
    if (!type.startsWith("application/json")) {
      return Stream.fail(new McpFailed({ message: `answered with the content type "${type}", which is no MCP` }))
    }
    return Stream.unwrap(
      text.pipe(
        Stream.runFoldEffect(
          () => "",
          (whole, part) =>
            whole.length + part.length > MAX_MESSAGE
              ? Effect.fail(new McpFailed({ message: `sent a message of more than ${MAX_MESSAGE} characters` }))
              : Effect.succeed(whole + part)
        ),
        Effect.map(Stream.succeed)
      )
    )
  }

  /** The answer to `id`, if this message is it. */
  const receive = Effect.fnUntraced(function* (id: RequestId, text: string) {
    const message = JsonRpc.parse(text)
    if (message._tag === "Request") yield* send(answerTo(message))
    return message._tag === "Response" && message.id === id ? outcomeOf(message) : undefined
  })

  yield* Effect.addFinalizer(() =>
    session === undefined
      ? Effect.void
      : execute(HttpClientRequest.delete(url).pipe(HttpClientRequest.setHeaders(headers()))).pipe(
          Effect.scoped,
          Effect.timeoutOption(GOODBYE),
          Effect.ignore
        )
  )

  return {
    request: Effect.fnUntraced(function* (id, method, params) {
      const response = yield* post(JsonRpc.encodeRequest(id, method, params))
      const answer = yield* messages(response).pipe(
        Stream.mapEffect((text) => receive(id, text)),
        Stream.filter((outcome) => outcome !== undefined),
        Stream.runHead
      )
      return answer._tag === "Some"
        ? yield* Effect.fromResult(answer.value)
        : yield* new McpFailed({ message: "ended its answer before the result came" })
    }, Effect.scoped),
    notify: (method, params) => send(JsonRpc.encodeNotification(method, params)),
    agree: (agreed) => {
      revision = agreed
    }
  }
})
