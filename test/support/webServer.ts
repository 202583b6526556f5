/** A small web of this machine: what a test answers to each path, and who asked for what. */
import * as Effect from "effect/Effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

export interface WebServer {
  readonly port: number
  /** With the port, such as `http://127.0.0.1:1234/path`. */
  readonly url: (path: string, host?: string) => URL
  /** Paths in the order in which they were asked for. */
  readonly asked: ReadonlyArray<string>
  /** Requests, with their headers. */
  readonly requests: ReadonlyArray<IncomingMessage>
  /** Connections that are open. */
  readonly open: () => number
}

/** An answer with a body of one type. */
export const sends =
  (body: string | Uint8Array, type = "text/plain; charset=utf-8", headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    response.writeHead(200, { ...(type === "" ? {} : { "content-type": type }), ...headers }).end(body)
  }

export const redirects =
  (location: string, status = 302): Answer =>
  (_, response) => {
    response.writeHead(status, { location }).end()
  }

export const serveWeb = (answers: Readonly<Record<string, Answer>>) =>
  Effect.acquireRelease(
    Effect.callback<WebServer & { readonly close: () => void }>((resume) => {
      const requests: Array<IncomingMessage> = []
      let open = 0
      const server = createServer((request, response) => {
        requests.push(request)
        const answer = answers[new URL(request.url ?? "/", "http://x").pathname]
        if (answer === undefined) response.writeHead(404, { "content-type": "text/plain" }).end("Nothing here")
        else answer(request, response)
      })
      server.on("connection", (socket) => {
        open += 1
        socket.on("error", () => {})
        socket.on("close", () => (open -= 1))
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = address !== null && typeof address === "object" ? address.port : 0
        resume(
          Effect.succeed({
            port,
            url: (path, host = "127.0.0.1") => new URL(`http://${host}:${port}${path}`),
            get asked() {
              return requests.map(({ url }) => url ?? "")
            },
            requests,
            open: () => open,
            close: () => {
              server.closeAllConnections()
              server.close()
            }
          })
        )
      })
    }),
    ({ close }) => Effect.sync(close)
  )
