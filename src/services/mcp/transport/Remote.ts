/**
 * The HTTP client for one MCP server. The given headers go with every request and never to another address, since redirects
 * are not followed.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { McpSpec } from "../../../domain/McpSpec.ts"
import { clip } from "../../../domain/text/Clip.ts"
import * as JsonRpc from "../../../domain/wire/JsonRpc.ts"
import { makeProxyAgent } from "../../network/ProxyAgent.ts"
import { MAX_MESSAGE, McpFailed, outcomeOf, tooLong } from "./McpTransport.ts"
import { signInText } from "./SignIn.ts"

/** Where a server is, and what goes with every request. */
export type RemoteSpec = Extract<McpSpec, { readonly url: string }>

/** One event of a stream. */
export interface ServerEvent {
  readonly event: string
  readonly data: string
  readonly id: string | undefined
}

export interface Remote {
  /** Where the server is. The rest of an address may be secret. */
  readonly origin: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly execute: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse, McpFailed, Scope.Scope>
  /** Why an answer with that status is of no use. */
  readonly refusal: (response: HttpClientResponse) => Effect.Effect<McpFailed>
  readonly events: (response: HttpClientResponse) => Stream.Stream<ServerEvent, McpFailed>
  /** The whole body, bounded. */
  readonly text: (response: HttpClientResponse, limit?: number) => Effect.Effect<string, McpFailed>
}

const MAX_ERROR_BODY = 64 * 1024
const MAX_ID = 1_024

/** What the server says in JSON-RPC with a status that is no success. */
const errorIn = (body: string): McpFailed | undefined => {
  const message = JsonRpc.parse(body)
  const outcome = message._tag === "Response" ? outcomeOf(message) : undefined
  return outcome?._tag === "Failure" ? outcome.failure : undefined
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** An id goes back in a header. */
const usableId = (id: string | undefined): string | undefined =>
  id !== undefined && id !== "" && id.length <= MAX_ID && /^[\x20-\x7e]*$/.test(id) ? id : undefined

const isMoved = (status: number) => status >= 300 && status < 400

export const make = Effect.fnUntraced(function* (spec: RemoteSpec): Effect.fn.Return<Remote, McpFailed, Scope.Scope> {
  const { headers: given, url } = spec
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    return yield* new McpFailed({
      message: "has no usable address: give a URL that begins with http:// or https://",
      reason: "final"
    })
  }
  const { origin } = new URL(url)
  const odd = given.find(
    ({ name, value }) => !HEADER_NAME.test(name) || !HEADER_VALUE.test(Redacted.value(value).trim())
  )
  if (odd !== undefined) {
    return yield* new McpFailed({
      message: `has a header ${JSON.stringify(clip(odd.name, 100))} that HTTP does not allow: a name has no spaces, and a value no line ends`,
      reason: "final"
    })
  }
  // A call may be silent for long: its own limit ends it, and not the client's of five minutes (F103).
  const agent = yield* makeProxyAgent({ headersTimeout: 0, bodyTimeout: 0 })
  const client = HttpClient.withScope(
    yield* Effect.provideService(NodeHttpClient.makeUndici, NodeHttpClient.Dispatcher, agent)
  )

  const unreachable = ({ reason }: HttpClientError) => {
    const cause = "cause" in reason && reason.cause instanceof Error ? reason.cause : undefined
    if (Predicate.hasProperty(cause, "code") && cause.code === "UND_ERR_HEADERS_OVERFLOW") {
      return new McpFailed({ message: `answers at ${origin} with more headers than are read`, reason: "final" })
    }
    return new McpFailed({
      message: `cannot be reached at ${origin}: ${cause?.message ?? reason._tag}`,
      reason: "lost"
    })
  }

  // Addresses may be secret, so no trace holds them.
  const execute = (request: HttpClientRequest.HttpClientRequest) =>
    client.execute(HttpClientRequest.setHeader(request, "accept-encoding", "identity")).pipe(
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.mapError(unreachable)
    )

  const textOf = (response: HttpClientResponse): Stream.Stream<string, McpFailed> => {
    const encoding = (response.headers["content-encoding"] ?? "").trim().toLowerCase()
    return encoding === "" || encoding === "identity"
      ? response.stream.pipe(Stream.mapError(unreachable), Stream.decodeText())
      : Stream.fail(
          new McpFailed({
            message: `answered in the encoding ${JSON.stringify(clip(encoding, 100))}, which was not asked for`
          })
        )
  }

  const text = Effect.fnUntraced(function* (response: HttpClientResponse, limit = MAX_MESSAGE) {
    // No character has more than three bytes here that is not two of them.
    if (Number(response.headers["content-length"] ?? 0) > 3 * limit) return yield* tooLong()
    let size = 0
    const parts = yield* Stream.runFoldEffect(
      textOf(response),
      () => new Array<string>(),
      (parts, part) => {
        size += part.length
        parts.push(part)
        return size > limit ? Effect.fail(tooLong()) : Effect.succeed(parts)
      }
    )
    return parts.join("")
  })

  const refusal = Effect.fnUntraced(function* (response: HttpClientResponse) {
    const { status } = response
    if (status === 401 || status === 403) {
      const isGiven = given.some(({ name }) => name.toLowerCase() === "authorization")
      const message = yield* signInText({
        response,
        url,
        isGiven,
        fetch: (request) =>
          Effect.scoped(
            Effect.flatMap(execute(request), (answer) =>
              answer.status === 200 ? text(answer, MAX_ERROR_BODY) : Effect.fail(new McpFailed({ message: "" }))
            )
          )
      })
      return new McpFailed({ message, reason: "final" })
    }
    if (isMoved(status)) {
      return new McpFailed({
        message: `answered HTTP status ${status}: it moved. Give its present address`,
        reason: "final"
      })
    }
    const said = errorIn(yield* Effect.orElseSucceed(text(response, MAX_ERROR_BODY), () => ""))
    if (said !== undefined) return said
    if (status === 400 || status === 404 || status === 405) {
      return new McpFailed({
        message: `answered HTTP status ${status}: the address at ${origin} is no MCP server's`,
        reason: "mismatch"
      })
    }
    return new McpFailed({ message: `answered HTTP status ${status}` })
  })

  const events = (response: HttpClientResponse): Stream.Stream<ServerEvent, McpFailed> =>
    Stream.suspend(() => {
      const found: Array<ServerEvent> = []
      const parser = Sse.makeParser(
        (event) => {
          if (event._tag === "Event") found.push({ event: event.event, data: event.data, id: usableId(event.id) })
        },
        { maxEventSize: MAX_MESSAGE }
      )
      return Stream.flatMap(textOf(response), (chunk) =>
        parser.feed(chunk) === undefined
          ? Stream.fromIterable(found.splice(0))
          : Stream.fail(new McpFailed({ message: `sent an event of more than ${MAX_MESSAGE} characters` }))
      )
    })

  return {
    origin,
    url,
    headers: Object.fromEntries(given.map(({ name, value }) => [name, Redacted.value(value).trim()])),
    execute,
    refusal,
    events,
    text
  }
})
