/** Calls a relay: one WebSocket outward, through a proxy where the environment has one. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Socket } from "node:net"
import { type ClientOptions, WebSocket } from "ws"
import { maxFrameBytes } from "../Frames.ts"
import * as WebSocketFrames from "../http/WebSocketFrames.ts"
import { instanceHeader, type Link, LinkFailed, pairedSign, relayHeader } from "./Link.ts"
import { proxyOf, type Variables } from "./Proxy.ts"
import { tunnel } from "./Tunnel.ts"
import { whole } from "../../domain/text/Clip.ts"

/** Whom to call, and as whom. */
export interface DialOptions {
  /** `ws:` or `wss:`. */
  readonly address: URL
  readonly token: Redacted.Redacted<string> | undefined
  /** The `Origin` header. */
  readonly origin: string | undefined
  /** Random, and the same for all links of this process. */
  readonly instance: string
  readonly version: string
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are. */
  readonly variables: Variables
}

/** Bytes of an error answer that are read for its text. */
const most = 512

const fail = (problem: LinkFailed["problem"], message: string) => new LinkFailed({ problem, message })

const headersOf = ({ instance, token, version }: DialOptions): Readonly<Record<string, string>> => ({
  "user-agent": `super-pi/${version}`,
  "x-client-version": version,
  [instanceHeader]: instance,
  ...(token === undefined ? {} : { authorization: `Bearer ${Redacted.value(token)}` })
})

/** What a relay says in place of a link, in its own words where it has some. */
const refusalOf = (status: number, words: string): LinkFailed => {
  const text = words.replaceAll(/[\s\p{Cc}]+/gu, " ").trim()
  return fail(
    status === 401 ? "unauthorized" : "refused",
    `The relay answered ${status}${text === "" || text.startsWith("<") ? "" : `: ${text}`}`
  )
}

/** Opens the socket and leaves it paused, so that no message is missed. */
const open = (options: DialOptions, through: Socket | undefined) =>
  Effect.callback<{ readonly socket: WebSocket; readonly stream: Socket; readonly pairs: boolean }, LinkFailed>(
    (resume) => {
      const settings: ClientOptions = {
        headers: headersOf(options),
        maxPayload: maxFrameBytes,
        perMessageDeflate: false,
        ...(options.origin === undefined ? {} : { origin: options.origin }),
        ...(through === undefined ? {} : { createConnection: () => through })
      }
      const socket = new WebSocket(options.address, settings)
      let connection: { readonly stream: Socket; readonly pairs: boolean } | undefined
      socket.once("upgrade", ({ headers, socket: stream }) => {
        connection = { stream, pairs: headers[relayHeader] === "pairs" }
      })
      socket.once("open", () => {
        socket.pause()
        if (connection !== undefined) resume(Effect.succeed({ socket, ...connection }))
      })
      socket.once("unexpected-response", (request, response) => {
        let words = ""
        const done = () => {
          request.destroy()
          resume(Effect.fail(refusalOf(response.statusCode ?? 0, whole(words))))
        }
        response.setEncoding("utf8")
        response.on("data", (text: string) => {
          words = (words + text).slice(0, most)
          if (words.length === most) done()
        })
        response.on("end", done)
        response.on("error", done)
      })
      // It stays: a socket that is ended while it connects says so by an error.
      socket.on("error", ({ message }) =>
        resume(Effect.fail(fail("unreachable", `The relay cannot be reached: ${message}`)))
      )
      return Effect.sync(() => socket.terminate())
    }
  )

const connect = Effect.fnUntraced(function* (options: DialOptions) {
  const proxy = proxyOf(options.address, options.variables)
  if (proxy === "invalid") {
    return yield* fail(
      "unreachable",
      "The proxy of the environment is no address such as http://proxy.example.org:3128"
    )
  }
  if (proxy === undefined) return yield* open(options, undefined)
  const through = yield* tunnel(options.address, proxy)
  return yield* Effect.onError(open(options, through), () => Effect.sync(() => through.destroy()))
})

/** One link, within 30 seconds or not at all. It is lost when nothing was heard of the relay for 60 seconds. */
export const dial = Effect.fn("Relay.dial")(function* (
  options: DialOptions
): Effect.fn.Return<Link, LinkFailed, Scope.Scope> {
  const paired = yield* Deferred.make<void>()
  const { pairs, socket, stream } = yield* Effect.acquireRelease(
    Effect.timeoutOrElse(Effect.interruptible(connect(options)), {
      duration: "30 seconds",
      orElse: () => Effect.fail(fail("unreachable", "The relay did not answer within 30 seconds"))
    }),
    ({ socket }) => Effect.sync(() => socket.terminate())
  )
  socket.on("ping", (payload) => {
    if (payload.toString() === pairedSign) Deferred.doneUnsafe(paired, Effect.void)
  })
  // A relay that gives no sign gives at least a message.
  socket.once("message", () => Deferred.doneUnsafe(paired, Effect.void))
  const frames = yield* WebSocketFrames.make(socket, { ping: "15 seconds", readLiveness: "60 seconds", stream })
  return { frames, pairs, paired: Deferred.await(paired) }
})
