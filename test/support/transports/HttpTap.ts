/** `fetch` over either version of HTTP, and a tap that keeps the text of every message below the client. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as http2 from "node:http2"
import { Readable } from "node:stream"
import { Agent, fetch as undiciFetch } from "undici"
import type { HttpVersion } from "../RawHttp.ts"

export type Fetch = typeof globalThis.fetch

type Headers2 = Readonly<Record<string, string>>

const overHttp2 =
  (session: http2.ClientHttp2Session, headers: Headers2): Fetch =>
  (input, init = {}) =>
    new Promise((resolve, reject) => {
      const { pathname, search } = new URL(String(input))
      const own = Object.fromEntries(new Headers(init.headers))
      const stream = session.request({
        ":method": init.method ?? "GET",
        ":path": pathname + search,
        ...own,
        ...headers
      })
      init.signal?.addEventListener("abort", () => stream.close(http2.constants.NGHTTP2_CANCEL))
      stream.on("error", reject)
      stream.on("response", ({ ":status": status = 0, ...rest }) => {
        const told = Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)])
        resolve(new Response(Readable.toWeb(stream) as ReadableStream<Uint8Array>, { status, headers: told }))
      })
      stream.end(init.body)
    })

/** `headers` are added to every request. The connections are gone with the scope. */
export const fetchOf = Effect.fnUntraced(function* (
  version: HttpVersion,
  origin: string,
  headers: Headers2
): Effect.fn.Return<Fetch, never, Scope.Scope> {
  if (version === 2) {
    const session = yield* Effect.acquireRelease(
      Effect.sync(() => http2.connect(origin).on("error", () => {})),
      (session) => Effect.sync(() => session.destroy())
    )
    return overHttp2(session, headers)
  }
  const dispatcher = yield* Effect.acquireRelease(
    Effect.sync(() => new Agent({ bodyTimeout: 0, headersTimeout: 0 })),
    (agent) => Effect.promise(() => agent.destroy().catch(() => {}))
  )
  const fetch = ((input: string, init: RequestInit = {}) =>
    undiciFetch(input, {
      ...(init as object),
      headers: { ...Object.fromEntries(new Headers(init.headers)), ...headers },
      dispatcher
    })) as unknown as Fetch
  return fetch
})

interface Greeting {
  readonly connection: string | undefined
  readonly isResult: boolean
}

/** Keeps the text of the messages that come in, until the client above gives them out. */
export const tap = (fetch: Fetch) => {
  const kept = new Map<string, Array<string>>()
  let greeting: Greeting | undefined

  const keep = (line: string): void => {
    const key = JSON.stringify(JSON.parse(line))
    kept.set(key, [...(kept.get(key) ?? []), line])
  }

  const listen = () => {
    const decoder = new TextDecoder()
    let rest = ""
    return new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const events = (rest + decoder.decode(chunk, { stream: true })).split("\n\n")
        rest = events.pop() ?? ""
        for (const event of events) if (event.startsWith("data: ")) keep(event.slice("data: ".length))
        controller.enqueue(chunk)
      }
    })
  }

  const tapped: Fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!response.ok || response.body === null) return response
    const { headers, status } = response
    if (init?.method === "GET") return new Response(response.body.pipeThrough(listen()), { headers, status })
    if (init?.method !== "POST" || !headers.has("acp-connection-id")) return response
    const text = await response.text()
    keep(text)
    greeting = { connection: headers.get("acp-connection-id") ?? undefined, isResult: "result" in JSON.parse(text) }
    return new Response(text, { headers, status })
  }

  return {
    fetch: tapped,
    /** The text of a message that the client gave out; once for each time that it came. */
    take: (message: string): string | undefined => kept.get(message)?.shift(),
    /** How the last `initialize` went. */
    greeting: () => greeting
  }
}
