/**
 * The HTTP client for one MCP server. The given headers go with every request and never to another address, since redirects
 * are not followed.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { EnvHttpProxyAgent } from "undici"
import type { McpSpec } from "../../../domain/McpSpec.ts"
import * as JsonRpc from "../../../domain/wire/JsonRpc.ts"
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

/** What the server says in JSON-RPC with a status that is no success. */
const errorIn = (body: string): McpFailed | undefined => {
  const message = JsonRpc.parse(body)
  const outcome = message._tag === "Response" ? outcomeOf(message) : undefined
  return outcome?._tag === "Failure" ? outcome.failure : undefined
}

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
  const agent = yield* Effect.acquireRelease(
    // A call may be silent for long: its own limit ends it, and not the client's of five minutes (F103).
    Effect.sync(() => new EnvHttpProxyAgent({ headersTimeout: 0, bodyTimeout: 0 })),
    (agent) => Effect.promise(() => agent.destroy())
  )
  const client = HttpClient.withScope(
    yield* Effect.provideService(NodeHttpClient.makeUndici, NodeHttpClient.Dispatcher, agent)
  )

  const unreachable = ({ reason }: HttpClientError) => {
    const cause = "cause" in reason && reason.cause instanceof Error ? reason.cause.message : reason._tag
    return new McpFailed({ message: `cannot be reached at ${origin}: ${cause}`, reason: "lost" })
  }

  // Addresses may be secret, so no trace holds them.
  const execute = (request: HttpClientRequest.HttpClientRequest) =>
    client.execute(request).pipe(
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.mapError(unreachable)
    )

  const textOf = (response: HttpClientResponse) =>
    response.stream.pipe(Stream.mapError(unreachable), Stream.decodeText())

  const text = (response: HttpClientResponse, limit = MAX_MESSAGE) =>
    Stream.runFoldEffect(
      textOf(response),
      () => "",
      (whole, part) => (whole.length + part.length > limit ? Effect.fail(tooLong()) : Effect.succeed(whole + part))
    )

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
          if (event._tag === "Event") found.push({ event: event.event, data: event.data, id: event.id })
        },
        { maxEventSize: MAX_MESSAGE }
      )
      return Stream.flatMap(textOf(response), (chunk) =>
        parser.feed(chunk) === undefined
          ? Stream.fromIterable(found.splice(0))
          : Stream.fail(new McpFailed({ message: `sent an event of more than ${MAX_MESSAGE} bytes`, reason: "lost" }))
      )
    })

  return {
    origin,
    url,
    headers: Object.fromEntries(given.map(({ name, value }) => [name, Redacted.value(value)])),
    execute,
    refusal,
    events,
    text
  }
})
