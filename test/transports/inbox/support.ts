/** An inbox of this process on a real port, over an agent whose model and tools are the test's. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Guard from "../../../src/transports/http/Guard.ts"
import * as Listener from "../../../src/transports/http/Listener.ts"
import { parameters } from "../../../src/transports/inbox/Credentials.ts"
import { InboxEvent } from "../../../src/transports/inbox/Event.ts"
import * as Inbox from "../../../src/transports/inbox/Inbox.ts"

export const secret = "0123456789abcdefghij"
export const authorization = { authorization: `Bearer ${secret}` }

export type Json = Schema.Json
const toJson = Schema.decodeUnknownSync(Schema.Json)
/** The real client of this machine. */
const request = async (
  url: string,
  usual: Record<string, string>,
  { headers, ...init }: RequestInit
): Promise<Response> => fetch(url, { ...init, headers: { ...usual, ...Object.fromEntries(new Headers(headers)) } })

const toEvent = Schema.decodeUnknownSync(Schema.fromJsonString(InboxEvent), { onExcessProperty: "error" })

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
}

export interface Reader {
  readonly status: number
  readonly headers: Headers
  /** Waits for the next event; nothing at the end. */
  readonly next: Effect.Effect<InboxEvent | undefined>
  /** Waits for that many. */
  readonly take: (count: number) => Effect.Effect<ReadonlyArray<InboxEvent>>
  /** All up to the first that fits, which is the last one. */
  readonly until: (fits: (event: InboxEvent) => boolean) => Effect.Effect<ReadonlyArray<InboxEvent>>
  readonly all: Effect.Effect<ReadonlyArray<InboxEvent>>
  /** Cuts the connection. */
  readonly cut: Effect.Effect<void>
}

/** Reads server-sent events as the standard says, of lines that end with line feeds. */
const makeReader = (response: Response, abort: AbortController): Reader => {
  const bytes = response.body?.getReader()
  const decoder = new TextDecoder()
  const ready: Array<InboxEvent> = []
  let text = ""
  const next = Effect.promise(async () => {
    while (ready.length === 0) {
      const chunk = await bytes?.read().catch(() => undefined)
      if (chunk?.value === undefined) return undefined
      text += decoder.decode(chunk.value, { stream: true })
      const blocks = text.split("\n\n")
      text = blocks.pop() ?? ""
      for (const block of blocks) {
        const data = block.split("\n").filter((line) => line.startsWith("data: "))
        if (data.length === 0) continue
        const event = toEvent(data.map((line) => line.slice(6)).join("\n"))
        assert.include(block.split("\n"), `id: ${event.id}`)
        ready.push(event)
      }
    }
    return ready.shift()
  })
  const until = Effect.fnUntraced(function* (fits: (event: InboxEvent) => boolean) {
    const events: Array<InboxEvent> = []
    for (;;) {
      const event = yield* next
      if (event === undefined) return assert.fail(`it ended: ${JSON.stringify(events)}`)
      events.push(event)
      if (fits(event)) return events
    }
  })
  return {
    status: response.status,
    headers: response.headers,
    next,
    take: (count) => {
      let left = count
      return count === 0 ? Effect.succeed([]) : until(() => --left === 0)
    },
    until,
    all: Effect.gen(function* () {
      const events: Array<InboxEvent> = []
      for (let event = yield* next; event !== undefined; event = yield* next) events.push(event)
      return events
    }),
    cut: Effect.sync(() => abort.abort())
  }
}

export const client = (origin: string, usual: Record<string, string> = authorization) => {
  const ask = (path: string, init: RequestInit = {}) =>
    Effect.promise(async (): Promise<Answered> => {
      const response = await request(`${origin}${path}`, usual, init)
      assert.notInclude(response.headers.get("content-type"), "text/event-stream", `${path} ${JSON.stringify(init)}`)
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: text === "" ? null : toJson(JSON.parse(text)) }
    })
  const stream = (path: string, init: RequestInit = {}) =>
    Effect.acquireRelease(
      Effect.promise(async () => {
        const abort = new AbortController()
        const response = await request(`${origin}${path}`, usual, { ...init, signal: abort.signal })
        return makeReader(response, abort)
      }),
      ({ cut }) => cut
    )
  const json = (body: object): RequestInit => ({
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  return {
    origin,
    request: (path: string, init: RequestInit) => Effect.promise(() => request(`${origin}${path}`, usual, init)),
    get: (path: string, headers: Record<string, string> = {}) => ask(path, { headers }),
    post: (path: string, body: object = {}) => ask(path, json(body)),
    ask,
    /** Posts a message and reads the events of its turn. */
    say: (message: string, more: object = {}) => stream("/v1/chat", json({ message, ...more })),
    /** Follows the events of one conversation, or of all. */
    follow: (sessionId?: string, since?: string, headers: Record<string, string> = {}) => {
      const query = new URLSearchParams({ ...(sessionId && { sessionId }), ...(since && { since }) })
      return stream(`/v1/chat/events?${query}`, { headers })
    }
  }
}

export type Client = ReturnType<typeof client>

/** It ends with the scope. */
export const inbox = Effect.fnUntraced(function* (cwd = "/") {
  const bind = { host: "127.0.0.1", port: 0 }
  const guard = yield* Guard.make({ secret: Redacted.make(secret), bind, query: parameters })
  const endpoints = yield* Inbox.make({
    guard,
    secret: Redacted.make(secret),
    cwd
  })
  const { port } = yield* Listener.listen({ ...bind, ...endpoints })
  return client(`http://127.0.0.1:${port}`)
})

export const typesOf = (events: ReadonlyArray<InboxEvent>): ReadonlyArray<string> => events.map(({ type }) => type)

export const textOf = (events: ReadonlyArray<InboxEvent>): string =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("")

export const firstOf = (events: ReadonlyArray<InboxEvent>): InboxEvent => events[0] ?? assert.fail("nothing was told")
