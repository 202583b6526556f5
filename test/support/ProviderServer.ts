/**
 * A model provider on 127.0.0.1 that speaks the four real protocols and answers as it is told: each request takes the
 * next reply, the last reply serves all further ones.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as http from "node:http"
import { anthropic } from "./provider/Anthropic.ts"
import { chat } from "./provider/Chat.ts"
import type { Finish, Piece, Usage, Writer } from "./provider/Dialect.ts"
import { gemini } from "./provider/Gemini.ts"
import { responses } from "./provider/Responses.ts"

export const dialects = { anthropic, openai: responses, "openai-compatible": chat, google: gemini }
export type DialectName = keyof typeof dialects

export type Reply =
  /** `then`: how the stream goes on after the pieces; default a proper close. */
  | {
      readonly pieces: ReadonlyArray<Piece>
      readonly finish?: Finish
      readonly usage?: Usage
      readonly then?: "close" | "overloaded" | "cut" | "end" | "hang"
      /** Bytes of one write; default all at once. */
      readonly bytes?: number
    }
  | { readonly status: number; readonly message: string; readonly headers?: { readonly [name: string]: string } }
  | { readonly silent: true }

export interface Seen {
  readonly dialect: DialectName
  readonly path: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: unknown
  /** The text of the body as it came. */
  readonly text: string
}

export interface ProviderServer {
  readonly origin: string
  /** What the next requests get. */
  readonly answer: (...replies: ReadonlyArray<Reply>) => void
  readonly seen: () => ReadonlyArray<Seen>
  /** What it answers who asks for its models, with a key only to those who have it; nothing at first. */
  readonly offer: (list: unknown, key?: string) => void
  /** The keys of those who asked for its models. */
  readonly asked: () => ReadonlyArray<string | undefined>
  /** Adds a piece to an answer that hangs. */
  readonly add: (piece: Piece) => void
  /** Done when a request has arrived. */
  readonly arrived: Effect.Effect<void>
  /** Done when a client has gone away before its answer was complete. */
  readonly abandoned: Effect.Effect<void>
}

export const plainUsage: Usage = { input: 1000, cached: 200, output: 50, reasoning: 20 }

const dialectOf = (path: string): DialectName | undefined => {
  if (path.endsWith("/messages")) return "anthropic"
  if (path.endsWith("/responses")) return "openai"
  if (path.endsWith("/chat/completions")) return "openai-compatible"
  return path.includes(":streamGenerateContent") ? "google" : undefined
}

const modelOf = (body: unknown): string =>
  typeof body === "object" && body !== null && "model" in body && typeof body.model === "string" ? body.model : "model"

const writeInPieces = (response: http.ServerResponse, text: string, size: number): void => {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size))
}

const stream = (writer: Writer, reply: Extract<Reply, { pieces: unknown }>, response: http.ServerResponse): void => {
  const { bytes, finish = "stop", pieces, then = "close", usage = plainUsage } = reply
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" })
  response.flushHeaders()
  const text =
    writer.open() +
    pieces.map(writer.piece).join("") +
    (then === "close" ? writer.close(finish, usage) : then === "overloaded" ? writer.overloaded() : "")
  writeInPieces(response, text, bytes ?? Math.max(1, Buffer.byteLength(text)))
  if (then === "cut") setImmediate(() => response.destroy())
  else if (then !== "hang") response.end()
}

const listen = (server: http.Server): Effect.Effect<number> =>
  Effect.callback((resume) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resume(
        typeof address === "object" && address !== null
          ? Effect.succeed(address.port)
          : Effect.die("the server has no port")
      )
    })
  })

const close = (server: http.Server): Effect.Effect<void> =>
  Effect.callback((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

export const start: Effect.Effect<ProviderServer, never, Scope.Scope> = Effect.gen(function* () {
  const arrived = yield* Deferred.make<void>()
  const abandoned = yield* Deferred.make<void>()
  const seen: Array<Seen> = []
  let replies: ReadonlyArray<Reply> = []
  let offered: unknown
  let wanted: string | undefined
  const asked: Array<string | undefined> = []
  let add: (piece: Piece) => void = () => {}
  const nextReply = (): Reply => {
    const [first, ...rest] = replies
    if (rest.length > 0) replies = rest
    return first ?? { status: 500, message: "no reply was prepared" }
  }
  const server = http.createServer((request, response) => {
    const path = request.url ?? ""
    const dialect = dialectOf(path)
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    response.on("close", () => {
      if (!response.writableFinished) Deferred.doneUnsafe(abandoned, Effect.void)
    })
    request.on("end", () => {
      if (dialect === undefined) {
        if (path.endsWith("/models")) asked.push(request.headers.authorization)
        if (path.endsWith("/models") && wanted !== undefined && request.headers.authorization !== `Bearer ${wanted}`) {
          response.writeHead(401, { "content-type": "application/json" }).end('{"error":{"message":"no such key"}}')
          return
        }
        if (path.endsWith("/models") && offered !== undefined) {
          response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(offered))
          return
        }
        response.writeHead(404).end()
        return
      }
      const text = Buffer.concat(chunks).toString()
      const body: unknown = JSON.parse(text)
      seen.push({ dialect, path, headers: request.headers, body, text })
      Deferred.doneUnsafe(arrived, Effect.void)
      const reply = nextReply()
      if ("silent" in reply) return
      if ("pieces" in reply) {
        const writer = dialects[dialect].writer(modelOf(body))
        add = (piece) => response.write(writer.piece(piece))
        return stream(writer, reply, response)
      }
      response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers })
      response.end(dialects[dialect].refusal(reply.status, reply.message))
    })
  })
  const port = yield* Effect.acquireRelease(listen(server), () => close(server))
  return {
    origin: `http://127.0.0.1:${port}`,
    answer: (...next) => {
      replies = next
    },
    seen: () => seen,
    offer: (list, key) => {
      offered = list
      wanted = key
    },
    asked: () => asked,
    add: (piece) => add(piece),
    arrived: Deferred.await(arrived),
    abandoned: Deferred.await(abandoned)
  }
})
