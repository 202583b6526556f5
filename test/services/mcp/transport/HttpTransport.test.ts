import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as HttpTransport from "../../../../src/services/mcp/transport/HttpTransport.ts"
import * as McpServer from "../../../../src/services/mcp/McpServer.ts"
import * as SseTransport from "../../../../src/services/mcp/transport/SseTransport.ts"
import { callContext, makePeer } from "../../../support/mcp/peer.ts"

interface Heard {
  readonly method: string
  readonly path: string
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
          path: request.url ?? "",
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

const spec = (url: string) => ({ _tag: "Http", name: "x", url, headers: [authorization] }) as const
const connect = Effect.fnUntraced(function* (url: string) {
  const peer = makePeer()
  const changes = yield* Queue.sliding<void>(1)
  const transport = yield* HttpTransport.open(spec(url), peer)
  return yield* McpServer.connect({
    transport,
    peer,
    changes,
    listLimit: Duration.minutes(1),
    onTools: () => Effect.void
  })
})
const tool = { name: "x" }

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
      const requests = (yield* Queue.takeAll(heard)).filter(({ method }) => method !== "GET")
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
                event({ jsonrpc: "2.0", id: "more", method: "sampling/createMessage" }) +
                event(initialized(body.id))
            )
            for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7))
          }
        })
      )
      yield* connect(url)
      const answers = (yield* Queue.takeAll(heard)).map(({ body }) => body).filter(({ method }) => method === undefined)
      assert.deepStrictEqual(answers[0], { jsonrpc: "2.0", id: "ask", result: {} } as never)
      assert.deepInclude(answers[1], {
        id: "more",
        error: { code: -32601, message: "This client does not support sampling/createMessage" }
      } as never)
    }).pipe(Effect.scoped)
  )

  it.live("an interrupted request is withdrawn", () =>
    Effect.gen(function* () {
      const { heard, url } = yield* serve(polite({ "tools/call": () => {} }))
      const server = yield* connect(url)
      const fiber = yield* Effect.forkChild(server.call(tool, {}, callContext()))
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
      /did not accept the Authorization header that it was given \(HTTP status 401\)\. How to sign in is described at https:\/\/x\.example\/\.well-known\/o\. Get a token there, and give it/
    ],
    [
      "forbidden",
      (_, response) => response.writeHead(403).end(),
      /refused access \(HTTP status 403\): what it was given does not allow that\. How to sign in is described at http:\/\/127/
    ],
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
      assert.include((yield* Effect.flip(server.call(tool, {}, callContext()))).message, "has forgotten this session")
    }).pipe(Effect.scoped)
  )

  it.live("an answer that breaks off goes on where it stopped, if its events have ids", () =>
    Effect.gen(function* () {
      let answered: number | undefined
      const { heard, url } = yield* serve(
        polite({
          "tools/call": ({ body }, response) => {
            answered = body.id
            response.writeHead(200, { "content-type": "text/event-stream" }).end("id: e-1\nretry: 1\ndata: \n\n")
          },
          GET: ({ headers }, response) => {
            if (headers["last-event-id"] !== "e-1") return response.writeHead(405).end()
            response.writeHead(200, { "content-type": "text/event-stream" })
            return response.end(`id: e-2\n${event({ jsonrpc: "2.0", id: answered, result: { content: [] } })}`)
          }
        })
      )
      const server = yield* connect(url)
      assert.deepStrictEqual(yield* server.call(tool, {}, callContext()), { content: [] })
      const gets = (yield* Queue.takeAll(heard)).filter(({ headers }) => headers["last-event-id"] !== undefined)
      assert.lengthOf(gets, 1)
    }).pipe(Effect.scoped)
  )

  it.live("a server that offers no stream beside its answers is not lost, whatever it says to that", () =>
    Effect.gen(function* () {
      for (const status of [404, 405, 400, 202]) {
        const { heard, url } = yield* serve(
          polite({
            GET: (_, response) => response.writeHead(status).end("no session"),
            "tools/call": ({ body }, response) => json(response, { jsonrpc: "2.0", id: body.id, result: {} })
          })
        )
        const server = yield* connect(url)
        yield* Effect.repeat(Queue.take(heard), { until: ({ method }) => method === "GET" })
        assert.deepStrictEqual(yield* server.call(tool, {}, callContext()), {})
        assert.strictEqual((yield* Effect.timeoutOption(server.lost, "20 millis"))._tag, "None")
      }
    }).pipe(Effect.scoped)
  )

  it.live("a server that begins anew is lost, however it says so", () =>
    Effect.gen(function* () {
      for (const [status, body] of [
        [404, ""],
        [400, JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "No valid session ID" } })]
      ] as const) {
        const { url } = yield* serve(polite({ "tools/call": (_, response) => response.writeHead(status).end(body) }))
        const server = yield* connect(url)
        const failure = yield* Effect.flip(server.call(tool, {}, callContext()))
        assert.strictEqual(failure.reason, "lost")
        assert.strictEqual((yield* Effect.flip(server.lost)).message, failure.message)
      }
    }).pipe(Effect.scoped)
  )
})

describe("a server that wants to know who asks", () => {
  const wall =
    (metadata: object, challenge: string): Respond =>
    ({ method, path }, response) => {
      if (path.startsWith("/.well-known/")) json(response, metadata)
      else response.writeHead(method === "POST" ? 401 : 405, { "www-authenticate": challenge }).end("t0ken is bad")
    }

  const said = (url: string, headers = [authorization]) =>
    Effect.gen(function* () {
      const peer = makePeer()
      const changes = yield* Queue.sliding<void>(1)
      const transport = yield* HttpTransport.open({ ...spec(url), headers }, peer)
      return yield* Effect.flip(
        McpServer.connect({ transport, peer, changes, listLimit: Duration.minutes(1), onTools: () => Effect.void })
      )
    })

  it.live("is told with the address of its authorization server and with what to do", () =>
    Effect.gen(function* () {
      const metadata = {
        resource: "x",
        authorization_servers: ["https://user:pass@auth.example.com/tenant?state=secret#x", "javascript:alert(1)"]
      }
      const { heard, url } = yield* serve(wall(metadata, 'Bearer realm="x", scope="files:read files:write"'))
      const failure = yield* said(url, [])
      assert.strictEqual(failure.reason, "final")
      assert.strictEqual(
        failure.message,
        "wants to know who asks (HTTP status 401). Its authorization server is https://auth.example.com/tenant. " +
          'Get a token there for the scopes files:read files:write, and give it to the server as the header Authorization = "Bearer …": ' +
          "in the editor's settings of this server, or under headers in config.toml"
      )
      const asked = (yield* Queue.takeAll(heard)).find(({ path }) => path.startsWith("/.well-known"))
      assert.strictEqual(asked?.path, "/.well-known/oauth-protected-resource/secret-path")
    }).pipe(Effect.scoped)
  )

  it.live("does not get its headers sent along when it is asked where to sign in, nor other hosts asked at all", () =>
    Effect.gen(function* () {
      const other = yield* serve((_, response) => json(response, { authorization_servers: ["https://evil.example"] }))
      const { heard, url } = yield* serve(wall({}, `Bearer resource_metadata="${other.url}"`))
      const failure = yield* said(url)
      assert.match(failure.message, /^did not accept the Authorization header that it was given/)
      assert.notMatch(failure.message, /t0ken|evil|secret-key/)
      const asked = (yield* Queue.takeAll(heard)).filter(({ path }) => path.startsWith("/.well-known"))
      assert.isAbove(asked.length, 0)
      for (const { headers } of asked) assert.isUndefined(headers.authorization)
      assert.lengthOf(yield* Queue.clear(other.heard), 0)
    }).pipe(Effect.scoped)
  )
})

describe("the older HTTP with events", () => {
  const older = (endpoint: (port: string) => string): Respond => {
    let stream: ServerResponse | undefined
    return ({ body, headers, method, path }, response) => {
      if (method === "GET" && path.startsWith("/secret-path")) {
        stream = response
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(`event: endpoint\ndata: ${endpoint(headers.host ?? "")}\n\n`)
        return
      }
      if (!path.startsWith("/messages")) return void response.writeHead(405).end()
      response.writeHead(202).end()
      const results: Record<string, object> = {
        initialize: initialized(body.id).result,
        "tools/list": { tools: [{ name: "x" }] },
        "tools/call": { content: [{ type: "text", text: "hello" }] }
      }
      const result = results[body.method ?? ""]
      if (result !== undefined) stream?.write(event({ jsonrpc: "2.0", id: body.id, result }))
      if (body.method === "tools/call") stream?.end()
    }
  }

  const connectOlder = Effect.fnUntraced(function* (url: string) {
    const peer = makePeer()
    const changes = yield* Queue.sliding<void>(1)
    const transport = yield* SseTransport.open({ ...spec(url), _tag: "Sse" }, peer)
    return yield* McpServer.connect({
      transport,
      peer,
      changes,
      listLimit: Duration.minutes(1),
      onTools: () => Effect.void
    })
  })

  it.live("posts to the address that the stream names, with the headers, until the stream ends", () =>
    Effect.gen(function* () {
      const { heard, url } = yield* serve(older(() => "/messages?session=1"))
      const server = yield* connectOlder(url)
      assert.deepStrictEqual((yield* server.call(tool, {}, callContext())).content, [{ type: "text", text: "hello" }])
      assert.strictEqual((yield* Effect.flip(server.lost)).message, "ended its stream of events")
      const requests = yield* Queue.takeAll(heard)
      assert.isTrue(requests.every(({ headers }) => headers.authorization === "Bearer t0ken"))
      assert.deepStrictEqual(
        requests.map(({ body, path }) => body.method ?? path.split("?")[0]),
        ["/secret-path", "initialize", "notifications/initialized", "tools/list", "tools/call"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("never posts to another host", () =>
    Effect.gen(function* () {
      const other = yield* serve((_, response) => response.writeHead(202).end())
      const { url } = yield* serve(older(() => other.url))
      const failure = yield* Effect.flip(connectOlder(url))
      assert.match(failure.message, /names an address of another host/)
      assert.lengthOf(yield* Queue.clear(other.heard), 0)
    }).pipe(Effect.scoped)
  )

  it.live("an address that is neither says which status it gave", () =>
    Effect.gen(function* () {
      const { url } = yield* serve((_, response) => response.writeHead(404).end())
      assert.match((yield* Effect.flip(connectOlder(url))).message, /status 404: the address at .* is no MCP server's/)
    }).pipe(Effect.scoped)
  )
})
