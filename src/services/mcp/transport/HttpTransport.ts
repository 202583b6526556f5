/** An MCP server behind Streamable HTTP: each message is a POST, answered by JSON or by events that end with the answer. */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as JsonRpc from "../../../domain/wire/JsonRpc.ts"
import type { RequestId } from "../../../domain/wire/RequestId.ts"
import * as Inbox from "./Inbox.ts"
import { keepOpen } from "./KeepOpen.ts"
import { McpFailed, type McpTransport, outcomeOf, type Peer } from "./McpTransport.ts"
import * as Remote from "./Remote.ts"

/** For telling the server that its session is over. */
const GOODBYE = "1 second"
/** Between two attempts to go on with a stream that the server ended. */
const PAUSE = Duration.seconds(1)
const MAX_RESUMES = 20

const isEvents = (response: HttpClientResponse) =>
  (response.headers["content-type"] ?? "").startsWith("text/event-stream")

/** As the protocol has them; what else a server gives as one could not be sent back in a header. */
const SESSION_ID = /^[\x21-\x7e]{1,2048}$/

/** Where a stream stands, so that it can go on elsewhere. */
interface Mark {
  last: string | undefined
}

export const open = Effect.fnUntraced(function* (
  spec: Remote.RemoteSpec,
  peer: Peer
): Effect.fn.Return<McpTransport, McpFailed, Scope.Scope> {
  const remote = yield* Remote.make(spec)
  const ended = yield* Deferred.make<never, McpFailed>()
  let session: string | undefined
  let revision: string | undefined

  const headers = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
    ...remote.headers,
    accept: "application/json, text/event-stream",
    ...(revision === undefined ? {} : { "mcp-protocol-version": revision }),
    ...(session === undefined ? {} : { "mcp-session-id": session }),
    ...more
  })

  /** A server that began anew knows no session of before: some say so with 404, others with 400 and a text. */
  const isForgotten = (status: number, { message }: McpFailed) =>
    session !== undefined && (status === 404 || (status === 400 && /session/i.test(message)))

  const lose = (failure: McpFailed) => Effect.andThen(Deferred.fail(ended, failure), Effect.fail(failure))

  const execute = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest) {
    const response = yield* Effect.catch(remote.execute(request), lose)
    if (response.status >= 200 && response.status < 300) {
      const given = response.headers["mcp-session-id"]
      if (given !== undefined && !SESSION_ID.test(given)) {
        return yield* new McpFailed({
          message: "gave a session id that the protocol does not allow: it has to be visible ASCII, and short",
          reason: "final"
        })
      }
      session = given ?? session
      return response
    }
    const failure = yield* remote.refusal(response)
    // Of a stream beside the answers, all that means is that there is none.
    if (request.method === "GET" || !isForgotten(response.status, failure)) return yield* failure
    return yield* lose(
      new McpFailed({ message: "has forgotten this session, so it has to begin anew", reason: "lost" })
    )
  })

  const post = (body: string, more?: Readonly<Record<string, string>>) =>
    execute(
      HttpClientRequest.post(remote.url).pipe(
        HttpClientRequest.setHeaders(headers(more)),
        HttpClientRequest.bodyText(body, "application/json")
      )
    )

  const get = (last: string | undefined) =>
    execute(
      HttpClientRequest.get(remote.url).pipe(
        HttpClientRequest.setHeaders(headers({ accept: "text/event-stream" })),
        HttpClientRequest.setHeaders(last === undefined ? {} : { "last-event-id": last })
      )
    )

  const send = (body: string) => Effect.asVoid(Effect.scoped(post(body)))
  const inbox = yield* Inbox.make({ peer, write: send })

  /** The answer to `id`, if this message is it. */
  const receive = (id: RequestId | undefined, text: string) =>
    Effect.map(inbox.receive(text, id), (answers) => {
      const answer = answers.find((response) => response.id === id)
      return answer === undefined ? Option.none() : Option.some(outcomeOf(answer))
    })

  /** The first answer in the events; what comes beside it is taken. */
  const answerIn = (response: HttpClientResponse, id: RequestId | undefined, mark: Mark) =>
    remote.events(response).pipe(
      Stream.tap(({ id }) =>
        Effect.sync(() => {
          mark.last = id ?? mark.last
        })
      ),
      Stream.filter(({ data }) => data !== ""),
      Stream.mapEffect(({ data }) => receive(id, data)),
      Stream.filterMap((outcome) => Result.fromOption(outcome, () => undefined)),
      Stream.runHead
    )

  /** A stream that ends before the answer goes on where a server can do that, which it says by ids of its events. */
  const follow = Effect.fnUntraced(function* (response: HttpClientResponse, id: RequestId) {
    const mark: Mark = { last: undefined }
    let current = response
    for (let resumes = 0; resumes <= MAX_RESUMES; resumes++) {
      const seen = mark.last
      const answer = yield* Effect.catchIf(
        answerIn(current, id, mark),
        ({ reason }) => reason === "lost" && mark.last !== undefined,
        () => Effect.succeedNone
      )
      if (answer._tag === "Some") return answer.value
      if (mark.last === undefined || (resumes > 0 && mark.last === seen)) break
      yield* Effect.sleep(PAUSE)
      const next = yield* Effect.option(get(mark.last))
      if (Option.isNone(next) || !isEvents(next.value)) break
      current = next.value
    }
    return yield* new McpFailed({ message: "ended its answer before the result came" })
  })

  const answerOf = Effect.fnUntraced(function* (response: HttpClientResponse, id: RequestId) {
    if (isEvents(response)) return yield* follow(response, id)
    const type = response.headers["content-type"] ?? ""
    if (!type.startsWith("application/json")) {
      return yield* new McpFailed({ message: `answered with the content type "${type}", which is no MCP` })
    }
    const outcome = yield* Effect.flatMap(remote.text(response), (text) => receive(id, text))
    return Option.isSome(outcome)
      ? outcome.value
      : yield* new McpFailed({ message: "ended its answer before the result came" })
  })

  const listenOnce = Effect.fnUntraced(function* (mark: Mark) {
    const response = yield* get(mark.last)
    if (!isEvents(response)) return yield* new McpFailed({ message: "offers no stream", reason: "final" })
    yield* answerIn(response, undefined, mark)
  }, Effect.scoped)

  yield* Effect.addFinalizer(() =>
    session === undefined
      ? Effect.void
      : remote
          .execute(HttpClientRequest.delete(remote.url).pipe(HttpClientRequest.setHeaders(headers())))
          .pipe(Effect.scoped, Effect.timeoutOption(GOODBYE), Effect.ignore)
  )

  return {
    kind: "http",
    request: Effect.fnUntraced(function* ({ headers, id, method, params }) {
      const response = yield* post(JsonRpc.encodeRequest(id, method, params), headers)
      return yield* Effect.fromResult(yield* answerOf(response, id))
    }, Effect.scoped),
    notify: (method, params) => send(JsonRpc.encodeNotification(method, params)),
    agree: (agreed) => {
      revision = agreed
    },
    // A server that offers no such stream says so with a status; one that ends it is asked again, after a while.
    listen: Effect.suspend(() => {
      const mark: Mark = { last: undefined }
      return keepOpen(listenOnce(mark))
    }),
    lost: Deferred.await(ended)
  }
})
