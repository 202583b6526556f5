import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as HttpTransport from "../../../src/services/mcp/HttpTransport.ts"
import * as McpServer from "../../../src/services/mcp/McpServer.ts"

interface Heard {
  readonly method: string
  readonly headers: IncomingMessage["headers"]
  readonly body: { readonly id?: number; readonly method?: string; readonly result?: unknown }
}

type Respond = (heard: Heard, response: ServerResponse) => void

/** A real HTTP server whose answers the test writes; `heard` is what came, in order. */
const serve = (respond: Respond) =>
  Effect.gen(function* () {
    const heard = yield* Queue.unbounded<Heard>()
    const server = createServer((request, response) => {
      const parts: Array<Buffer> = []
      request.on("data", (part: Buffer) => parts.push(part))
      request.on("end", () => {
        const text = Buffer.concat(parts).toString()
        const one: Heard = {
          method: request.method ?? "",
          headers: request.headers,
          body: text === "" ? {} : JSON.parse(text)
        }
        Queue.offerUnsafe(heard, one)
        respond(one, response)
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.callback<void>((resume) => {
          server.closeAllConnections()
          server.close(() => resume(Effect.void))
        })
    )
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    return { heard, url: `http://127.0.0.1:${port}/secret-path?key=secret-key` }
  })

const authorization = { name: "Authorization", value: Redacted.make("Bearer t0ken") }

const open = (url: string) => HttpTransport.open({ _tag: "Http", name: "x", url, headers: [authorization] })
const connect = (url: string) => Effect.flatMap(open(url), McpServer.connect)

const json = (response: ServerResponse, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(200, { "content-type": "application/json; charset=utf-8", ...headers }).end(JSON.stringify(body))
const event = (body: unknown) => `event: message\nid: 7\ndata: ${JSON.stringify(body)}\n\n`

const initialized = (id: number | undefined) => ({
  jsonrpc: "2.0",
  id,
  result: { protocolVersion: "2025-03-26", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
})

/** Answers as it should, but for what the test does differently. */
const polite =
  (odd: Partial<Record<string, Respond>> = {}): Respond =>
  (heard, response) => {
    const method = heard.body.method ?? heard.method
    const own = odd[method]
    if (own !== undefined) own(heard, response)
    else if (method === "initialize") json(response, initialized(heard.body.id), { "mcp-session-id": "S1" })
    else if (method === "tools/list") json(response, { jsonrpc: "2.0", id: heard.body.id, result: { tools: [] } })
    else response.writeHead(202).end()
  }

/** The reason why the server cannot be used. */
const problem = (respond: Respond) =>
  Effect.gen(function* () {
    const { url } = yield* serve(respond)
    const failure = yield* Effect.flip(connect(url))
    assert.notMatch(failure.message, /t0ken|secret/)
    return failure.message
  }).pipe(Effect.scoped)

describe("HttpTransport", () => {
  it.live("headers, session and revision go with every request, and the end is told", () =>
    Effect.gen(function* () {
      const { heard, url } = yield* serve(polite())
      yield* Effect.scoped(connect(url))
      const requests = yield* Queue.takeAll(heard)
      assert.deepStrictEqual(
        requests.map(({ body, headers, method }) => [
          body.method ?? method,
          headers.authorization,
          headers["mcp-session-id"],
          headers["mcp-protocol-version"]
        ]),
        [
          ["initialize", "Bearer t0ken", undefined, undefined],
          ["notifications/initialized", "Bearer t0ken", "S1", "2025-03-26"],
          ["tools/list", "Bearer t0ken", "S1", "2025-03-26"],
          ["DELETE", "Bearer t0ken", "S1", "2025-03-26"]
        ]
      )
      assert.isTrue(
        requests.every(({ headers }) => headers["traceparent"] === undefined && headers["b3"] === undefined)
      )
      assert.isTrue(requests.every(({ headers }) => headers.accept === "application/json, text/event-stream"))
    }).pipe(Effect.withSpan("a span that is nobody else's"), Effect.scoped)
  )

  it.live("an answer may come as events, after other messages and in pieces", () =>
    Effect.gen(function* () {
      const { heard, url } = yield* serve(
        polite({
          initialize: ({ body }, response) => {
            response.writeHead(200, { "content-type": "text/event-stream" })
            const bytes = Buffer.from(
              `: comment\n\n${event({ jsonrpc: "2.0", method: "notifications/message", params: { data: "é" } })}` +
                event({ jsonrpc: "2.0", id: "ask", method: "ping" }) +
                event({ jsonrpc: "2.0", id: "more", method: "roots/list" }) +
                event(initialized(body.id))
            )
            for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7))
          }
        })
      )
      yield* connect(url)
      const requests = yield* Queue.takeAll(heard)
      assert.deepStrictEqual(requests[1]?.body, { jsonrpc: "2.0", id: "ask", result: {} } as never)
      assert.deepInclude(requests[2]?.body, {
        id: "more",
        error: { code: -32601, message: "This client does not support roots/list" }
      } as never)
    }).pipe(Effect.scoped)
  )

  it.live("an interrupted request is withdrawn", () =>
    Effect.gen(function* () {
      const { heard, url } = yield* serve(polite({ "tools/call": () => {} }))
      const server = yield* connect(url)
      const fiber = yield* Effect.forkChild(server.call("x", {}))
      const until = (method: string): Effect.Effect<Heard> =>
        Effect.filterOrElse(
          Queue.take(heard),
          ({ body }) => body.method === method,
          () => until(method)
        )
      const { body } = yield* until("tools/call")
      yield* Fiber.interrupt(fiber)
      assert.deepInclude(yield* until("notifications/cancelled").pipe(Effect.map(({ body }) => Object(body).params)), {
        requestId: body.id
      })
    }).pipe(Effect.scoped)
  )

  for (const [name, respond, expected] of [
    [
      "no access",
      (_, response) =>
        response
          .writeHead(401, { "www-authenticate": 'Bearer resource_metadata="https://x.example/.well-known/o"' })
          .end("t0ken is bad"),
      /refused access with HTTP status 401 \(how to sign in: https:\/\/x\.example\/\.well-known\/o\)\. Give it an Authorization header/
    ],
    ["forbidden", (_, response) => response.writeHead(403).end(), /refused access with HTTP status 403\. Give/],
    [
      "moved, which is not followed",
      (_, response) => response.writeHead(307, { location: "http://127.0.0.1:9/secret" }).end(),
      /status 307: it moved\. Give its present address/
    ],
    [
      "not there",
      (_, response) => response.writeHead(404).end(),
      /status 404: the address at http:\/\/127\.0\.0\.1:\d+ is no MCP/
    ],
    ["broken", (_, response) => response.writeHead(500).end("t0ken"), /^answered HTTP status 500$/],
    [
      "a page",
      (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
      /"text\/html", which is no MCP/
    ],
    ["no answer", (_, response) => response.writeHead(202).end(), /content type "", which is no MCP/],
    [
      "no JSON",
      (_, response) => response.writeHead(200, { "content-type": "application/json" }).end("{"),
      /ended its answer before/
    ],
    [
      "an early end",
      (_, response) => response.writeHead(200, { "content-type": "text/event-stream" }).end(": x\n\n"),
      /ended its answer before/
    ],
    [
      "a cut",
      (_, response) =>
        response
          .writeHead(200, { "content-type": "application/json", "content-length": "99" })
          .write("{", () => response.destroy()),
      /cannot be reached at http/
    ],
    [
      "another's answer",
      ({ body }, response) => json(response, initialized((body.id ?? 0) + 1)),
      /ended its answer before/
    ],
    [
      "a strange handshake",
      ({ body }, response) => json(response, { jsonrpc: "2.0", id: body.id, result: { protocolVersion: 1 } }),
      /does not follow the protocol/
    ],
    [
      "an error",
      ({ body }, response) =>
        json(response, { jsonrpc: "2.0", id: body.id, error: { code: -32022, message: "too old" } }),
      /answered with the error -32022: too old/
    ]
  ] satisfies ReadonlyArray<readonly [string, Respond, RegExp]>) {
    it.live(`${name}: a reason that says what to do`, () =>
      Effect.gen(function* () {
        assert.match(yield* problem(respond), expected)
      })
    )
  }

  it.live("a session that the server forgot is named as that", () =>
    Effect.gen(function* () {
      const { url } = yield* serve(polite({ "tools/call": (_, response) => response.writeHead(404).end() }))
      const server = yield* connect(url)
      assert.include((yield* Effect.flip(server.call("x", {}))).message, "has forgotten this session")
    }).pipe(Effect.scoped)
  )
})
