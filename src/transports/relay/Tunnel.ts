/** A connection through a proxy: it is asked by `CONNECT`, and then passes bytes on without looking at them. */
import * as Effect from "effect/Effect"
import { request as httpRequest } from "node:http"
import { request as httpsRequest } from "node:https"
import type { Socket } from "node:net"
import { connect as tlsConnect } from "node:tls"
import { LinkFailed } from "./Link.ts"

const unreachable = (message: string) => new LinkFailed({ problem: "unreachable", message })

/** Name and password of the proxy's address, as the proxy wants them. */
const authorizationOf = ({ password, username }: URL): Readonly<Record<string, string>> => {
  if (username === "" && password === "") return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` }
}

/** Asks `proxy` for a connection to `authority`, such as `relay.example.org:443`. */
const ask = (proxy: URL, authority: string): Effect.Effect<Socket, LinkFailed> =>
  Effect.callback((resume) => {
    const asked = (proxy.protocol === "https:" ? httpsRequest : httpRequest)({
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
      method: "CONNECT",
      path: authority,
      headers: { host: authority, ...authorizationOf(proxy) },
      agent: false
    })
    const fail = (problem: string) => resume(Effect.fail(unreachable(`The proxy ${proxy.host} ${problem}`)))
    asked.on("error", ({ message }) => fail(`cannot be reached: ${message}`))
    asked.on("response", (response) => {
      response.destroy()
      fail(`answered ${response.statusCode} in place of a connection`)
    })
    asked.on("connect", ({ statusCode }, socket, head) => {
      if (statusCode !== 200) {
        socket.destroy()
        return fail(
          `refused the connection with ${statusCode}${statusCode === 407 ? ": put name and password into its address" : ""}`
        )
      }
      if (head.length > 0) socket.unshift(head)
      resume(Effect.succeed(socket))
    })
    asked.end()
    return Effect.sync(() => asked.destroy())
  })

/** TLS through the tunnel, with the name of the relay; the proxy sees nothing of it. */
const secure = (socket: Socket, host: string): Effect.Effect<Socket, LinkFailed> =>
  Effect.callback((resume) => {
    const secured = tlsConnect({ socket, host, servername: /^[\d.]+$|:/.test(host) ? "" : host })
    secured.once("error", ({ message }) => resume(Effect.fail(unreachable(`TLS failed: ${message}`))))
    secured.once("secureConnect", () => resume(Effect.succeed(secured)))
    return Effect.sync(() => secured.destroy())
  })

/** A connection to the address through the proxy, ready for the request to it. */
export const tunnel = Effect.fnUntraced(function* (address: URL, proxy: URL): Effect.fn.Return<Socket, LinkFailed> {
  const isSecure = address.protocol === "wss:"
  const host = address.hostname.replace(/^\[|\]$/g, "")
  const socket = yield* ask(proxy, `${address.hostname}:${address.port || (isSecure ? 443 : 80)}`)
  return isSecure ? yield* Effect.onError(secure(socket, host), () => Effect.sync(() => socket.destroy())) : socket
})
