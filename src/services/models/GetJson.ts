/** JSON that a server gives away for the asking: bounded in time and size, and never from where a redirect leads. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** `message` says what came instead, in words that follow the name of the server. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", {
  message: Schema.String,
  /** Whether it wants another key, or one at all. Absent: it does not say so. */
  isRefused: Schema.optionalKey(Schema.Boolean)
}) {}

/** A way to send a request; its rejection is what the network said. */
export type Send = (
  url: string,
  init: {
    readonly method: "GET" | "POST"
    readonly headers: Readonly<Record<string, string>>
    readonly body: string | null
    readonly redirect: "manual"
    readonly signal: AbortSignal
  }
) => Promise<Response>

/** Bytes; a router that knows every model there is needs about one million. */
const LARGEST = 8 * 1024 * 1024

/** Straight to a server on this machine, past every proxy. */
// @effect-diagnostics-next-line globalFetch:off
export const direct: Send = (url, init) => fetch(url, init)

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))

const no = (message: string) => new NoAnswer({ message })

const refusal = (status: number): NoAnswer => {
  if (status === 401 || status === 403) {
    return new NoAnswer({ message: `refuses the request (${status})`, isRefused: true })
  }
  return no(status === 404 ? "has no list of models (404)" : `answers with status ${status}`)
}

const textOf = (body: ReadableStream<Uint8Array> | null): Effect.Effect<string, NoAnswer> => {
  if (body === null) return Effect.succeed("")
  let size = 0
  return Stream.fromReadableStream({ evaluate: () => body, onError: () => no("broke off its answer") }).pipe(
    Stream.tap((bytes) => {
      size += bytes.length
      return size > LARGEST ? Effect.fail(no("answers with more than a list of models")) : Effect.void
    }),
    Stream.decodeText(),
    Stream.mkString
  )
}

/** What is asked for. With a `body` it is sent there, as JSON. */
export interface Question {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Schema.JsonObject
  readonly patience: Duration.Duration
}

export const getJson = (
  send: Send,
  { body: sent, headers, patience, url }: Question
): Effect.Effect<unknown, NoAnswer> =>
  Effect.tryPromise({
    try: (signal) =>
      send(url, {
        method: sent === undefined ? "GET" : "POST",
        headers: {
          accept: "application/json",
          ...(sent === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        },
        body: sent === undefined ? null : JSON.stringify(sent),
        redirect: "manual",
        signal
      }),
    catch: () => no("cannot be reached")
  }).pipe(
    Effect.flatMap(({ body, ok, status }) => (ok ? textOf(body) : Effect.fail(refusal(status)))),
    Effect.flatMap((text) => Effect.mapError(decode(text), () => no("answers with something that is no JSON"))),
    Effect.timeoutOrElse({
      duration: patience,
      orElse: () => Effect.fail(no(`does not answer within ${Duration.format(patience)}`))
    })
  )
