/** A proxy that knows `CONNECT` and nothing else: it joins the two connections and looks at nothing that passes. */
import * as Effect from "effect/Effect"
import { createServer } from "node:http"
import { connect, type Socket } from "node:net"

export interface Proxy {
  readonly port: number
  /** What it was asked for, with the credentials that came along. */
  readonly asked: ReadonlyArray<{ readonly authority: string; readonly credentials: string | undefined }>
  /** Requests of any other kind. */
  readonly others: () => number
}

/** `refuse`: the status of every answer. */
export const startProxy = (refuse?: number) =>
  Effect.acquireRelease(
    Effect.callback<Proxy & { readonly close: () => void }>((resume) => {
      const asked: Array<Proxy["asked"][number]> = []
      const sockets = new Set<Socket>()
      let others = 0
      const server = createServer((_, response) => {
        others++
        response.writeHead(501).end()
      })
      server.on("connection", (socket) => sockets.add(socket))
      server.on("connect", ({ headers, url = "" }, client) => {
        asked.push({ authority: url, credentials: headers["proxy-authorization"] })
        client.on("error", () => {})
        if (refuse !== undefined) {
          client.end(`HTTP/1.1 ${refuse} No\r\n\r\n`)
          return
        }
        const { hostname, port } = new URL(`http://${url}`)
        const target = connect(Number(port), hostname.replace(/^\[|\]$/g, ""), () => {
          client.write("HTTP/1.1 200 Connection established\r\n\r\n")
          client.pipe(target)
          target.pipe(client)
        })
        sockets.add(target)
        target.on("error", () => client.destroy())
        client.on("close", () => target.destroy())
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(
          Effect.succeed({
            port: address !== null && typeof address === "object" ? address.port : 0,
            asked,
            others: () => others,
            close: () => {
              for (const socket of sockets) socket.destroy()
              server.close()
            }
          })
        )
      })
    }),
    ({ close }) => Effect.sync(close)
  )
