/** HTTP by hand, over either version of the protocol: every header, status and byte is the test's own. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as http from "node:http"
import * as http2 from "node:http2"
import type { Readable, Writable } from "node:stream"

export type HttpVersion = 1 | 2

type Headers = Readonly<Record<string, string>>

export interface Request {
  readonly method?: string
  readonly path?: string
  readonly headers?: Headers
  /** Sent as it is; an object as JSON, with its content type. */
  readonly body?: string | object
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** A request whose head has come, and whose body is still under way. */
export interface Exchange {
  readonly status: number
  readonly headers: Headers
  readonly body: Readable
  /** Cuts it off, as a client does that goes away. */
  readonly cut: () => void
}

/** A stream of events, read as they come. */
export interface Events {
  readonly status: number
  readonly headers: Headers
  /** The data of all events so far. */
  readonly data: ReadonlyArray<string>
  /** All bytes so far, as text. */
  readonly text: () => string
  /** Waits until something holds of what has come; it is looked at again whenever something comes, and at the end. */
  readonly until: <A>(find: () => A | undefined) => Effect.Effect<A>
  /** Waits for the end: `true` when it was orderly. */
  readonly ended: Effect.Effect<boolean>
  readonly cut: () => void
  readonly pause: () => void
  readonly resume: () => void
}

export interface RawHttp {
  readonly version: HttpVersion
  /** Sends a request; its body is the caller's to write. */
  readonly begin: (
    request: Request
  ) => Effect.Effect<{ readonly input: Writable; readonly head: Effect.Effect<Exchange> }>
  readonly request: (request: Request) => Effect.Effect<Reply>
  /** GET of a stream; gives also a refusal, which has no events. */
  readonly events: (headers: Headers, path?: string) => Effect.Effect<Events, never, Scope.Scope>
}

const plain = (headers: Readonly<Record<string, unknown>>): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

/** A client of one server, which is gone with the scope. */
export const connect = Effect.fnUntraced(function* (
  version: HttpVersion,
  origin: string
): Effect.fn.Return<RawHttp, never, Scope.Scope> {
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new http.Agent({ keepAlive: false })),
    (agent) => Effect.sync(() => agent.destroy())
  )
  const session =
    version === 1
      ? undefined
      : yield* Effect.acquireRelease(
          Effect.sync(() => http2.connect(origin).on("error", () => {})),
          (session) => Effect.sync(() => session.destroy())
        )

  const begin: RawHttp["begin"] = Effect.fnUntraced(function* ({ body, headers = {}, method = "GET", path = "/acp" }) {
    const head = yield* Deferred.make<Exchange>()
    const done = (exchange: Exchange) => Deferred.doneUnsafe(head, Effect.succeed(exchange))
    const all = { ...(typeof body === "object" && { "content-type": "application/json" }), ...headers }
    const fail = (error: Error) => Deferred.doneUnsafe(head, Effect.die(error))
    if (session !== undefined) {
      const stream = session.request({ ":method": method, ":path": path, ...all }, { endStream: false })
      stream.on("response", (answer) => {
        const { ":status": status = 0, ...rest } = answer
        done({ status, headers: plain(rest), body: stream, cut: () => stream.close(http2.constants.NGHTTP2_CANCEL) })
      })
      stream.on("error", fail)
      return { input: stream, head: Deferred.await(head) }
    }
    const request = http.request(`${origin}${path}`, { method, headers: all, agent })
    request.on("response", (answer) =>
      done({
        status: answer.statusCode ?? 0,
        headers: plain(answer.headers),
        body: answer,
        cut: () => request.destroy()
      })
    )
    request.on("error", fail)
    request.flushHeaders()
    return { input: request, head: Deferred.await(head) }
  })

  const send = (request: Request): Effect.Effect<Exchange> =>
    Effect.flatMap(begin(request), ({ head, input }) => {
      input.end(typeof request.body === "object" ? JSON.stringify(request.body) : request.body)
      return head
    })

  return {
    version,
    begin,
    request: (request) =>
      Effect.flatMap(send(request), ({ body, headers, status }) =>
        Effect.callback<Reply>((resume) => {
          let text = ""
          body.setEncoding("utf8")
          body.on("data", (part: string) => (text += part))
          body.on("close", () => resume(Effect.succeed({ status, headers, body: text })))
        })
      ),
    events: Effect.fnUntraced(function* (headers, path) {
      const { body, ...exchange } = yield* Effect.acquireRelease(
        send({ headers: { accept: "text/event-stream", ...headers }, ...(path !== undefined && { path }) }),
        ({ cut }) => Effect.sync(cut)
      )
      let text = ""
      let rest = ""
      let end: boolean | undefined
      const data: Array<string> = []
      const watchers = new Set<() => void>()
      const look = () => {
        for (const watcher of watchers) watcher()
      }
      body.setEncoding("utf8")
      body.on("data", (part: string) => {
        text += part
        const blocks = (rest + part).split("\n\n")
        rest = blocks.pop() ?? ""
        for (const block of blocks) if (block.startsWith("data: ")) data.push(block.slice("data: ".length))
        look()
      })
      body.on("error", () => {})
      body.on("end", () => (end = true))
      body.on("close", () => {
        end ??= false
        look()
      })
      const until: Events["until"] = (find) =>
        Effect.callback((resume) => {
          const watcher = () => {
            const found = find()
            if (found === undefined) return
            watchers.delete(watcher)
            resume(Effect.succeed(found))
          }
          watchers.add(watcher)
          watcher()
          return Effect.sync(() => watchers.delete(watcher))
        })
      return {
        ...exchange,
        data,
        text: () => text,
        until,
        ended: until(() => (body.closed ? end : undefined)),
        pause: () => body.pause(),
        resume: () => body.resume()
      }
    })
  }
})
