/** WebSockets of the `ws` package as tests use them: what came in waits until it is looked at. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { WebSocket } from "ws"

export interface Socket {
  readonly raw: WebSocket
  readonly headers: Readonly<Record<string, unknown>>
  readonly send: (data: string | Uint8Array) => Effect.Effect<void>
  /** The next message: text, or the bytes of one that is binary. */
  readonly next: Effect.Effect<string | Buffer>
  readonly pinged: Effect.Effect<string>
  readonly ended: Effect.Effect<{ readonly code: number; readonly reason: string }>
  readonly close: Effect.Effect<void>
}

/** The answer of a server that lets nobody in. */
export interface Refused {
  readonly status: number
  readonly body: string
  readonly headers: Readonly<Record<string, unknown>>
}

export const connect = (
  url: string,
  headers: Record<string, string> = {},
  protocols: ReadonlyArray<string> = [],
  autoPong = true
) =>
  Effect.gen(function* () {
    const messages = yield* Queue.unbounded<string | Buffer>()
    const pings = yield* Queue.unbounded<string>()
    const ended = yield* Deferred.make<{ readonly code: number; readonly reason: string }>()
    return yield* Effect.acquireRelease(
      Effect.callback<Socket, Refused>((resume) => {
        const raw = new WebSocket(url, [...protocols], { autoPong, headers, perMessageDeflate: false })
        let answered = {}
        raw.on("upgrade", (response) => (answered = response.headers))
        raw.on("message", (data: Buffer, isBinary) =>
          Queue.offerUnsafe(messages, isBinary ? data : data.toString("utf8"))
        )
        raw.on("ping", (data) => Queue.offerUnsafe(pings, data.toString()))
        raw.on("error", () => {})
        raw.on("close", (code, reason) =>
          Deferred.doneUnsafe(ended, Effect.succeed({ code, reason: reason.toString() }))
        )
        raw.on("unexpected-response", (request, response) => {
          let body = ""
          response.on("data", (text) => (body += text))
          response.on("end", () => {
            request.destroy()
            resume(Effect.fail({ status: response.statusCode ?? 0, body, headers: response.headers }))
          })
        })
        raw.on("open", () =>
          resume(
            Effect.succeed({
              raw,
              headers: answered,
              send: (data) => Effect.callback((done) => raw.send(data, () => done(Effect.void))),
              next: Queue.take(messages),
              pinged: Queue.take(pings),
              ended: Deferred.await(ended),
              close: Effect.sync(() => raw.close())
            })
          )
        )
      }),
      ({ raw }) => Effect.sync(() => raw.terminate())
    )
  })
