import { assert, describe, it } from "@effect/vitest"
import * as AiTool from "effect/ai/Tool"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Socket } from "node:net"
import { gzipSync } from "node:zlib"
import {
  begin as beginBody,
  forever,
  slowly,
  polite,
  reply,
  replyJson,
  serveRaw,
  type Answer
} from "../../support/mcp/hostile.ts"
import {
  begin,
  call,
  connectWith,
  find,
  http,
  manager,
  secret,
  sse,
  wanted,
  workspace
} from "../../support/mcp/session.ts"

const named = (name: string, url: string) => ({
  ...http(url, { Authorization: `Bearer ${secret}` }),
  name
})

/** One hostile server and one as it should be, in one session, at their first use. */
const meet = Effect.fnUntraced(function* (answer: Answer, seconds = 2) {
  const hostile = yield* serveRaw(answer)
  const good = yield* serveRaw(polite())
  const patience = { startupTimeout: Duration.seconds(seconds), toolTimeout: Duration.seconds(seconds) }
  const connection = yield* begin([wanted(named("hostile", hostile.url), patience), wanted(named("good", good.url))])
  const tools = yield* connection.tools
  const [status] = yield* connection.status
  assert.strictEqual((yield* call({ tools }, "mcp__good__echo")).text, "echoed", "another server goes on")
  const told = connection.notices.map(({ description, title }) => `${title}: ${description}`)
  const said = [...told, status?.problem ?? "", status?.software ?? ""].join("\n")
  assert.notInclude(said, secret)
  // oxlint-disable-next-line no-control-regex -- what would move the cursor of a terminal
  assert.notMatch(said, /[\0-\x08\x0b-\x1f\x7f]/)
  assert.isBelow(said.length, 20_000)
  assert.isBelow(hostile.sent(), 120 * 1024 * 1024, "and nothing is read without an end")
  return { hostile, status, told, tools, connection }
})

const listing = (tools: ReadonlyArray<unknown>): Answer =>
  polite({ "tools/list": ({ body }, socket) => replyJson(socket, body.id, { tools }) })
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`
const initializing = (answer: Answer): Answer => polite({ initialize: answer })

const json = "content-type: application/json"

/** The hostile server cannot be used, for this reason. */
const refusals: Readonly<Record<string, readonly [Answer, RegExp, patience?: number]>> = {
  "headers without an end": [
    initializing((_, socket) => {
      socket.write("HTTP/1.1 200 OK\r\n")
      forever(socket, "x-more: and more\r\n")
    }),
    /answers at http:\/\/127\.0\.0\.1:\d+ with more headers than are read/,
    // It floods the process of the test, too.
    20
  ],
  "announcements without an end": [
    initializing((_, socket) => slowly(socket, "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n")),
    /did not get ready within 2s|cannot be reached/
  ],
  "no answer at all": [initializing(() => {}), /did not get ready within 2s/],
  "no HTTP": [initializing((_, socket) => socket.write("SSH-2.0-x\r\n\r\n")), /cannot be reached at/],
  "a switch of protocols": [
    initializing((_, socket) => socket.write("HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n")),
    /cannot be reached at/
  ],
  "a status that there is not": [initializing((_, socket) => reply(socket, "999 Odd", [], "")), /HTTP status 999/],
  "an event that never ends": [
    initializing((_, socket) => {
      beginBody(socket, "text/event-stream")
      forever(socket, `data: ${"x".repeat(64 * 1024)}`)
    }),
    /sent an event of more than 16777216 characters/
  ],
  "a body that never ends": [
    initializing((_, socket) => {
      beginBody(socket, "application/json")
      forever(socket, "x".repeat(64 * 1024))
    }),
    /sent a message of more than 16777216 characters/
  ],
  "comments without an end": [
    initializing((_, socket) => {
      beginBody(socket, "text/event-stream")
      socket.write(": nothing\n\n")
    }),
    /did not get ready within 2s/
  ],
  "a content-length of ten gigabytes": [
    initializing((_, socket) => socket.write(`HTTP/1.1 200 OK\r\n${json}\r\ncontent-length: 10000000000\r\n\r\n{`)),
    /sent a message of more than 16777216 characters/
  ],
  "a gzip bomb": [
    initializing((_, socket) =>
      reply(socket, "200 OK", [json, "content-encoding: gzip"], gzipSync(Buffer.alloc(50 * 1024 * 1024)))
    ),
    /answered in the encoding "gzip", which was not asked for/
  ],
  "a session id on two lines": [
    initializing(({ body }, socket) =>
      reply(
        socket,
        "200 OK",
        [json, "mcp-session-id: one\r\n two"],
        JSON.stringify({ jsonrpc: "2.0", id: body.id, result: {} })
      )
    ),
    /gave a session id that the protocol does not allow|cannot be reached at/
  ],
  "a session id that no header can hold": [
    initializing((_, socket) => reply(socket, "200 OK", [json, "mcp-session-id: \u00e9 x"], "{}")),
    /gave a session id that the protocol does not allow/
  ],
  "a session id without an end": [
    initializing((_, socket) => reply(socket, "200 OK", [json, `mcp-session-id: ${"s".repeat(8_000)}`], "{}")),
    /gave a session id that the protocol does not allow/
  ],
  "a hostile challenge": [
    (asked, socket) =>
      reply(
        socket,
        "401 No",
        [
          `www-authenticate: Bearer ${"x".repeat(3_000)} scope="read <script> $(rm) a;b ${"y".repeat(500)}", ` +
            'resource_metadata="http://169.254.169.254/latest/meta-data/?secret"'
        ],
        asked.head
      ),
    /\(HTTP status 401\)\. How to sign in is described at http:\/\/169\.254\.169\.254\/latest\/meta-data\/\. Get a token there for the scopes read, and give it/
  ],
  "an answer to what was not asked": [
    initializing((_, socket) => replyJson(socket, 4_711, {})),
    /ended its answer before the result came/
  ],
  "an answer that is too deep": [
    initializing((_, socket) =>
      reply(socket, "200 OK", [json], `{"jsonrpc":"2.0","id":1,"result":${nested(1_000_000)}}`)
    ),
    /sent a message that is not read: it is nested more than 500 levels deep/
  ],
  "an answer that is small and deep": [
    initializing((_, socket) => reply(socket, "200 OK", [json], `{"jsonrpc":"2.0","id":1,"result":${nested(9_000)}}`)),
    /sent a message that is not read: it is nested more than 500 levels deep/
  ],
  "an answer of brackets": [
    initializing((_, socket) =>
      reply(socket, "200 OK", [json], `{"jsonrpc":"2.0","id":1,"result":[${"[],".repeat(3_000_000)}1]}`)
    ),
    /sent a message that is not read: it has more than 2000000 values/
  ],
  "an error that writes over the screen": [
    initializing(({ body }, socket) =>
      reply(
        socket,
        "200 OK",
        [json],
        JSON.stringify({ jsonrpc: "2.0", id: body.id, error: { code: -1, message: `\u001b[2J\u202e${secret}` } })
      )
    ),
    /answered with the error -1: \[2J<redacted>/
  ],
  "a schema of 50 MB": [
    listing([{ name: "big", inputSchema: { type: "object", description: "x".repeat(50 * 1024 * 1024) } }]),
    /sent a message of more than 16777216 characters/
  ]
}

describe("an MCP server over HTTP that attacks", () => {
  for (const [name, [answer, expected, patience]] of Object.entries(refusals)) {
    it.live(`with ${name} is named, and nothing else suffers`, () =>
      Effect.gen(function* () {
        const { status, told, tools } = yield* meet(answer, patience)
        assert.match(status?.problem ?? "", expected)
        assert.match(told[0] ?? "", expected)
        assert.include(told[0] ?? "", 'The MCP server "hostile" cannot be used')
        assert.lengthOf(tools, 1)
      }).pipe(Effect.scoped, Effect.provide(manager))
    )
  }

  for (const status of ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"]) {
    it.live(`with ${status} is not followed, neither to another origin nor to where a cloud keeps its keys`, () =>
      Effect.gen(function* () {
        const other = yield* serveRaw(polite())
        for (const location of [other.url, "http://169.254.169.254/latest/meta-data/iam"]) {
          const { status: found } = yield* meet((_, socket) => reply(socket, status, [`location: ${location}`], ""))
          assert.match(found?.problem ?? "", /^answered HTTP status 30\d: it moved\. Give its present address$/)
        }
        assert.lengthOf(other.asked, 0)
      }).pipe(Effect.scoped, Effect.provide(manager))
    )
  }

  it.live("by sending whoever asks where to sign in elsewhere is not followed either", () =>
    Effect.gen(function* () {
      const other = yield* serveRaw(polite())
      const { hostile, status } = yield* meet(({ method }, socket) =>
        method === "GET"
          ? reply(socket, "302 Found", [`location: ${other.url}`], "")
          : reply(socket, "401 No", [`www-authenticate: Bearer resource_metadata="${other.url}"`], "")
      )
      assert.match(status?.problem ?? "", /^did not accept the Authorization header/)
      assert.lengthOf(other.asked, 0)
      for (const { head } of hostile.asked.filter(({ path }) => path.startsWith("/.well-known"))) {
        assert.notInclude(head, secret)
      }
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("may say what nobody asked before it answers", () =>
    Effect.gen(function* () {
      const { tools } = yield* meet(
        polite({
          "tools/call": ({ body }, socket) => {
            beginBody(socket, "text/event-stream")
            for (const id of [4_711, "x", body.id]) {
              const result = { content: [{ type: "text", text: `for ${id}` }] }
              socket.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`)
            }
          }
        })
      )
      assert.match((yield* call({ tools }, "mcp__hostile__echo")).text, /^for \d$/)
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("with an answer to one call is still there for the next", () =>
    Effect.gen(function* () {
      const attacks: Array<Answer> = [
        (_, socket) => socket.write(`HTTP/1.1 200 OK\r\n${json}\r\ncontent-length: 10000000000\r\n\r\n{`),
        ({ body }, socket) =>
          reply(socket, "200 OK", [json], `{"jsonrpc":"2.0","id":${body.id},"result":${nested(5_000)}}`),
        (_, socket) => reply(socket, "200 OK", [json, "content-encoding: br"], "x"),
        (_, socket) => {
          socket.write(`HTTP/1.1 200 OK\r\n${json}\r\ncontent-length: 100\r\n\r\n{`, () => socket.destroy())
        },
        () => {}
      ]
      let count = 0
      const { connection, tools } = yield* meet(
        polite({
          "tools/call": (asked, socket) => {
            const attack = count % 2 === 0 ? attacks[count / 2] : undefined
            count += 1
            if (attack === undefined) polite()(asked, socket)
            else attack(asked, socket)
          }
        })
      )
      for (const expected of [/more than 16777216/, /is not read/, /encoding "br"/, /cannot be reached/, /within 2s/]) {
        const failed = yield* call({ tools }, "mcp__hostile__echo")
        assert.strictEqual(failed.status, "failed")
        assert.match(failed.text, expected)
        assert.strictEqual((yield* call({ tools }, "mcp__hostile__echo")).text, "echoed", `after ${expected}`)
      }
      assert.strictEqual((yield* connection.status)[0]?.state, "ready")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})

describe("an MCP server over HTTP with events that attacks", () => {
  const events = (onCall: Answer): Answer => {
    let stream: Socket | undefined
    return (asked, socket) => {
      if (asked.method === "GET") {
        stream = socket
        beginBody(socket, "text/event-stream")
        return void socket.write("event: endpoint\ndata: /messages\n\n")
      }
      if (asked.body.method === "tools/call") return onCall(asked, stream ?? socket)
      reply(socket, "202 Accepted", [], "")
      const { id, method } = asked.body
      const result = method === "tools/list" ? { tools: [{ name: "echo" }] } : welcome
      if (id !== undefined) stream?.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`)
    }
  }
  const welcome = { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: { name: "s" } }

  for (const [name, attack, expected] of [
    ["an event that never ends", (_, stream) => forever(stream, "x".repeat(64 * 1024)), /event of more than 16777216/],
    [
      "what is too deep",
      (_, stream) => stream.write(`data: {"jsonrpc":"2.0","id":3,"result":${nested(600)}}\n\n`),
      /is not read: it is nested more than 500/
    ],
    ["the end of the stream", (_, stream) => stream.destroy(), /cannot be reached|ended its stream/]
  ] satisfies ReadonlyArray<readonly [string, Answer, RegExp]>) {
    it.live(`with ${name} fails that call, and is there again for the next`, () =>
      Effect.gen(function* () {
        let calls = 0
        const { url } = yield* serveRaw(
          events((asked, stream) => {
            calls += 1
            const result = { content: [{ type: "text", text: "echoed" }] }
            if (calls === 1) attack(asked, stream)
            else stream.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: asked.body.id, result })}\n\n`)
          })
        )
        const connection = yield* connectWith([wanted({ ...sse(url), name: "old" })])
        const failed = yield* call(connection, "mcp__old__echo")
        assert.match(failed.text, expected)
        assert.strictEqual((yield* call(connection, "mcp__old__echo")).text, "echoed")
      }).pipe(Effect.scoped, Effect.provide(manager))
    )
  }

  it.live("with a post that it cuts is connected anew, although its stream goes on", () =>
    Effect.gen(function* () {
      let cuts = 1
      const { asked, url } = yield* serveRaw((asked, socket) => {
        if (asked.body.method === "tools/call" && cuts-- > 0) return void socket.destroy()
        return served(asked, socket)
      })
      const served = events((asked, stream) => {
        const result = { content: [{ type: "text", text: "echoed" }] }
        stream.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: asked.body.id, result })}\n\n`)
      })
      const connection = yield* connectWith([wanted({ ...sse(url), name: "old" })])
      assert.match((yield* call(connection, "mcp__old__echo")).text, /cannot be reached/)
      assert.strictEqual((yield* call(connection, "mcp__old__echo")).text, "echoed")
      assert.lengthOf(
        asked.filter(({ method }) => method === "GET"),
        2
      )
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})

describe("tools that are an attack", () => {
  it.live("of one name are one tool", () =>
    Effect.gen(function* () {
      const { tools } = yield* meet(listing([{ name: "a", title: "first" }, { name: "a" }, { name: "a" }]))
      assert.deepStrictEqual(
        tools.map(({ tool }) => [tool.name, tool.description]),
        [
          ["mcp__hostile__a", "first"],
          ["mcp__good__echo", "echo"]
        ]
      )
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("are the first thousand of a hundred thousand, which is told", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 100_000 }, (_, at) => ({ name: `t${at}`, inputSchema: { type: "object" } }))
      const { connection, status, told } = yield* meet(listing(many))
      assert.lengthOf(status?.tools ?? [], 1_000)
      assert.deepStrictEqual(told, [
        'Not all tools of the MCP server "hostile" are used: Of the MCP server "hostile", only 1000 of its tools are used, because it has too many. Have it offer fewer or smaller ones.'
      ])
      yield* connection.tools
      assert.lengthOf(connection.notices, 1)
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("with endless pages are cut as well", () =>
    Effect.gen(function* () {
      let pages = 0
      const { status, told } = yield* meet(
        polite({
          "tools/list": ({ body }, socket) => {
            pages += 1
            replyJson(socket, body.id, { tools: [{ name: `t${pages}` }], nextCursor: `${pages}` })
          }
        }),
        20
      )
      assert.lengthOf(status?.tools ?? [], 100)
      assert.match(told[0] ?? "", /only 100 of its tools are used/)
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("leave out what no model could read, and keep the rest", () =>
    Effect.gen(function* () {
      const { status, told } = yield* meet(
        listing([
          { name: "fits" },
          { name: "huge", inputSchema: { type: "object", description: "x".repeat(12 * 1024 * 1024) } },
          { name: `\u001b[2J${"n".repeat(1_000)}` }
        ])
      )
      assert.deepStrictEqual(status?.tools, ["mcp__hostile__fits"])
      assert.match(told[0] ?? "", /, 2 with too long a name or schema are not used, such as huge\./)
      const wide = Array.from({ length: 100 }, (_, at) => ({
        name: `t${at}`,
        inputSchema: { type: "object", description: "x".repeat(100_000) }
      }))
      const other = yield* meet(listing(wide))
      assert.lengthOf(other.status?.tools ?? [], 39)
      assert.match(other.told[0] ?? "", /only 39 of its tools are used/)
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("have a name, a description and a schema that can be used and shown", () =>
    Effect.gen(function* () {
      const cyclic = { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }
      const { tools } = yield* meet(
        listing([
          {
            name: "../../etc/passwd\u001b[2J\n\u202ex",
            description: "d".repeat(10 * 1024 * 1024),
            inputSchema: cyclic
          },
          {
            name: "__proto__",
            inputSchema: JSON.parse('{"__proto__":{"type":"string"},"properties":{"__proto__":{}}}')
          }
        ])
      )
      const odd = find({ tools }, "mcp__hostile________etc_passwd__2J__x")
      assert.strictEqual(odd.title, "hostile: ../../etc/passwd[2J x")
      assert.strictEqual(odd.tool.description?.length, 10_000)
      assert.deepInclude(AiTool.getJsonSchema(odd.tool), cyclic)
      const prepared = yield* odd.prepare({ a: 1 }, workspace)
      assert.deepInclude(prepared.access, { _tag: "Mcp", server: "hostile" })
      assert.strictEqual((yield* call({ tools }, "mcp__hostile____proto__")).text, "echoed")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})
