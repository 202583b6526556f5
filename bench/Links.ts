/** The ways to an agent: lines over its stdin and stdout, a WebSocket, and Streamable HTTP. */
import { Agent, type IncomingMessage, request } from "node:http"
import { WebSocket } from "ws"
import type { Process } from "./Process.ts"

/** Messages as text, both ways. */
export interface Link {
  readonly send: (text: string) => void
  /** To be set before anything is sent. */
  take: (text: string) => void
  /** Done when nothing can come any more. */
  readonly closed: Promise<void>
  readonly close: () => void
}

/** Where a server is, and what its clients have to know. */
export interface Server {
  readonly port: string
  readonly secret: string
}

/** Gives the parts between separators, as soon as each is whole. */
const cutter = (separator: string, take: (part: string) => void) => {
  let rest = ""
  return (text: string) => {
    const parts = (rest + text).split(separator)
    rest = parts.pop() ?? ""
    for (const part of parts) take(part)
  }
}

export const stdio = (process: Process): Link => {
  const link: Link = {
    send: (text) => process.stdin.write(`${text}\n`),
    take: () => {},
    closed: process.gone,
    close: () => process.stdin.end()
  }
  const cut = cutter("\n", (line) => link.take(line))
  process.stdout.setEncoding("utf8").on("data", cut)
  return link
}

export const webSocket = async ({ port, secret }: Server): Promise<Link> => {
  const headers = { authorization: `Bearer ${secret}` }
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers, perMessageDeflate: false })
  const link: Link = {
    send: (text) => socket.send(text),
    take: () => {},
    closed: new Promise((resolve) => socket.on("close", () => resolve())),
    close: () => socket.close()
  }
  socket.on("message", (data: Buffer) => link.take(data.toString()))
  await new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject))
  return link
}

/** One connection, over HTTP/1.1: each POST and each stream has a socket, and sockets are used again. */
export const http = ({ port, secret }: Server): Link => {
  const agent = new Agent({ keepAlive: true })
  const ended = Promise.withResolvers<void>()
  const streams = new Set<IncomingMessage>()
  const followed = new Set<string>()
  let connection: string | undefined

  const ask = (method: string, headers: Record<string, string>, body?: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const asked = request({
        agent,
        port,
        host: "127.0.0.1",
        path: "/acp",
        method,
        headers: {
          authorization: `Bearer ${secret}`,
          ...(connection !== undefined && { "acp-connection-id": connection }),
          ...headers
        }
      })
      asked.on("response", resolve).on("error", reject).end(body)
    })

  /** Opens a stream of events, once. */
  const follow = async (session = ""): Promise<void> => {
    if (followed.has(session)) return
    followed.add(session)
    const about: Record<string, string> = session === "" ? {} : { "acp-session-id": session }
    const stream = await ask("GET", { accept: "text/event-stream", ...about })
    if (stream.statusCode !== 200) throw new Error(`a stream of events was answered with ${stream.statusCode}`)
    streams.add(stream)
    const cut = cutter("\n\n", (event) => {
      if (event.startsWith("data: ")) take(event.slice("data: ".length))
    })
    stream.setEncoding("utf8").on("data", cut).on("error", ended.resolve).on("close", ended.resolve)
  }

  /** The updates of a session come on a stream of its own. */
  const take = (text: string): void => {
    const opened = /^\{"jsonrpc":"2\.0","id":\d+,"result":\{"sessionId":"([^"]+)"/.exec(text)?.[1]
    if (opened !== undefined) follow(opened).catch(ended.resolve)
    link.take(text)
  }

  const post = async (text: string): Promise<void> => {
    const session = /"sessionId":"([^"]+)"/.exec(text)?.[1]
    const about: Record<string, string> = session === undefined ? {} : { "acp-session-id": session }
    const answer = await ask("POST", { "content-type": "application/json", ...about }, text)
    const body = (await answer.setEncoding("utf8").toArray()).join("")
    if (text.includes('"method":"session/load"')) await follow(session)
    if (connection !== undefined) return
    connection = String(answer.headers["acp-connection-id"])
    await follow()
    link.take(body)
  }

  const link: Link = {
    send: (text) => void post(text).catch(ended.resolve),
    take: () => {},
    closed: ended.promise,
    close: () => {
      for (const stream of streams) stream.destroy()
      agent.destroy()
    }
  }
  return link
}
