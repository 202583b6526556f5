/** A server over bare sockets, which may say what no HTTP library would: `answer` writes whatever it wants. */
import * as Effect from "effect/Effect"
import { createServer, type Socket } from "node:net"

export interface Asked {
  readonly method: string
  readonly path: string
  /** The head as it came. */
  readonly head: string
  readonly body: { readonly id?: number; readonly method?: string }
}

export type Answer = (asked: Asked, socket: Socket) => void

const END_OF_HEAD = "\r\n\r\n"

/** An answer as it should be. */
export const reply = (socket: Socket, status: string, headers: ReadonlyArray<string>, body: string | Buffer): void => {
  const length = `content-length: ${Buffer.byteLength(body)}`
  socket.write([`HTTP/1.1 ${status}`, ...headers, length, "", ""].join("\r\n"))
  socket.write(body)
}

export const replyJson = (socket: Socket, id: number | undefined, result: unknown): void =>
  reply(socket, "200 OK", ["content-type: application/json"], JSON.stringify({ jsonrpc: "2.0", id, result }))

/** The head of an answer whose body has no end in sight. */
export const begin = (socket: Socket, type: string): void => {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n`)
}

/** Writes `piece` again and again for as long as somebody reads. */
export const forever = (socket: Socket, piece: string): void => {
  const more = () => {
    while (!socket.destroyed && socket.write(piece)) {
      // The reader sets the pace.
    }
    if (!socket.destroyed) socket.once("drain", more)
  }
  more()
}

/** The same, with time for others in between. */
export const slowly = (socket: Socket, piece: string): void => {
  const timer = setInterval(() => void socket.write(piece), 5)
  socket.on("close", () => clearInterval(timer))
}

/** Speaks the protocol, with one tool `echo`, but for the methods in `odd`; those of HTTP count where there is no other. */
export const polite =
  (odd: Readonly<Record<string, Answer>> = {}): Answer =>
  (asked, socket) => {
    const method = asked.body.method ?? asked.method
    const own = odd[method]
    if (own !== undefined) return own(asked, socket)
    const { id } = asked.body
    switch (method) {
      case "initialize":
        return replyJson(socket, id, {
          protocolVersion: "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: "s", version: "1" }
        })
      case "tools/list":
        return replyJson(socket, id, { tools: [{ name: "echo", inputSchema: { type: "object" } }] })
      case "tools/call":
        return replyJson(socket, id, { content: [{ type: "text", text: "echoed" }] })
      default:
        return reply(socket, asked.method === "POST" ? "202 Accepted" : "405 No", [], "")
    }
  }

/** Serves on a free port of the loopback. `sent` counts what left for any reader. */
export const serveRaw = Effect.fnUntraced(function* (answer: Answer) {
  const asked: Array<Asked> = []
  const sockets = new Set<Socket>()
  let sent = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => {
      sent += socket.bytesWritten
      sockets.delete(socket)
    })
    let text = ""
    socket.setEncoding("utf8").on("data", (part) => {
      text += part
      const end = text.indexOf(END_OF_HEAD)
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (end === -1 || Buffer.byteLength(text.slice(end + 4)) < length) return
      const [, method = "", path = ""] = /^(\w+) (\S+)/.exec(text) ?? []
      const body = text.slice(end + 4)
      const one: Asked = { method, path, head: text.slice(0, end), body: body === "" ? {} : JSON.parse(body) }
      text = ""
      asked.push(one)
      answer(one, socket)
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resume(Effect.void))
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    asked,
    sent: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, sent),
    url: `http://127.0.0.1:${port}/mcp`
  }
})
