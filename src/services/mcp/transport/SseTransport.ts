/**
 * An MCP server behind HTTP as in the protocol's first revision: one stream of events brings all that it says, and names the
 * address that our messages are posted to.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as JsonRpc from "../../../domain/wire/JsonRpc.ts"
import * as Inbox from "./Inbox.ts"
import { McpFailed, type McpTransport, type Peer } from "./McpTransport.ts"
import * as Pending from "./Pending.ts"
import * as Remote from "./Remote.ts"

/** What was given for a server goes to no other host, whatever the server says. */
const endpointOf = ({ origin, url }: Remote.Remote, text: string): string | undefined => {
  const endpoint = URL.parse(text, url)
  return endpoint?.origin === origin ? endpoint.href : undefined
}

export const open = Effect.fnUntraced(function* (
  spec: Remote.RemoteSpec,
  peer: Peer
): Effect.fn.Return<McpTransport, McpFailed, Scope.Scope> {
  const remote = yield* Remote.make(spec)
  const pending = yield* Pending.make
  const endpoint = yield* Deferred.make<string, McpFailed>()
  let revision: string | undefined

  const response = yield* remote.execute(
    HttpClientRequest.get(remote.url).pipe(
      HttpClientRequest.setHeaders({ ...remote.headers, accept: "text/event-stream" })
    )
  )
  if (response.status < 200 || response.status >= 300) return yield* yield* remote.refusal(response)
  const type = response.headers["content-type"] ?? ""
  if (!type.startsWith("text/event-stream")) {
    return yield* new McpFailed({
      message: `answered with the content type "${type}", which is no stream of events`,
      reason: "mismatch"
    })
  }

  const write = Effect.fnUntraced(function* (body: string) {
    const address = yield* Effect.raceFirst(Deferred.await(endpoint), pending.lost)
    const answer = yield* remote.execute(
      HttpClientRequest.post(address).pipe(
        HttpClientRequest.setHeaders({
          ...remote.headers,
          ...(revision === undefined ? {} : { "mcp-protocol-version": revision })
        }),
        HttpClientRequest.bodyText(body, "application/json")
      )
    )
    if (answer.status < 200 || answer.status >= 300) return yield* yield* remote.refusal(answer)
    return undefined
  }, Effect.scoped)
  const send = (body: string) => Effect.asVoid(write(body))

  const inbox = yield* Inbox.make({ peer, write: send })

  const take = ({ data, event }: Remote.ServerEvent) => {
    if (event !== "endpoint") return Effect.flatMap(inbox.receive(data), pending.settle)
    const address = endpointOf(remote, data)
    return Effect.asVoid(
      address === undefined
        ? Deferred.fail(
            endpoint,
            new McpFailed({
              message: "names an address of another host for its messages, which is not used",
              reason: "final"
            })
          )
        : Deferred.succeed(endpoint, address)
    )
  }

  yield* remote.events(response).pipe(
    Stream.filter(({ data }) => data !== ""),
    Stream.runForEach(take),
    Effect.matchEffect({
      onFailure: ({ message }) => pending.end(message),
      onSuccess: () => pending.end("ended its stream of events")
    }),
    Effect.forkScoped
  )

  return {
    kind: "sse",
    request: ({ id, method, params }) => pending.request(id, send(JsonRpc.encodeRequest(id, method, params))),
    notify: (method, params) => send(JsonRpc.encodeNotification(method, params)),
    agree: (agreed) => {
      revision = agreed
    },
    listen: Effect.void,
    lost: pending.lost
  }
})
