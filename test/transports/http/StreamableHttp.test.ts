import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, dial, serve } from "../../support/HttpAgent.ts"
import type { HttpVersion, Request } from "../../support/RawHttp.ts"
import { result, note } from "../../support/Link.ts"

const versions: ReadonlyArray<HttpVersion> = [1, 2]
const json = { "content-type": "application/json" }

const parsed = (texts: ReadonlyArray<string>) => texts.map((text): unknown => JSON.parse(text))

for (const version of versions) {
  describe(`over HTTP/${version}`, () => {
    it.live("HTTP-02, HTTP-03, HTTP-04, HTTP-05: initialize in the body, the rest on its stream", () =>
      Effect.gen(function* () {
        const server = yield* serve(version)
        const dialed = yield* dial(server)
        assert.strictEqual(dialed.reply.status, 200)
        assert.match(dialed.reply.headers["content-type"] ?? "", /^application\/json/)
        assert.match(dialed.reply.headers["acp-connection-id"] ?? "", /^[\w-]{32}$/)
        const greeting = { protocolVersion: 1, agentCapabilities: { loadSession: true } }
        assert.deepStrictEqual(JSON.parse(dialed.reply.body), result(0, greeting))

        const common = yield* dialed.events()
        assert.strictEqual(common.status, 200)
        assert.match(common.headers["content-type"] ?? "", /^text\/event-stream/)
        const posted = yield* dialed.post(call("session/new", {}, 1))
        assert.deepStrictEqual([posted.status, posted.body], [202, ""])
        yield* common.until(() => common.data[0])
        const session = yield* dialed.events("s1")
        yield* dialed.post(call("session/prompt", { sessionId: "s1", count: 2, name: "a", ask: true }, 2), "s1")
        const asked = yield* session.until(() => session.data[2])
        assert.deepStrictEqual(JSON.parse(asked).method, "session/request_permission")
        const { id } = JSON.parse(asked)
        const late = { jsonrpc: "2.0", id, result: { outcome: "ok" } }
        assert.strictEqual((yield* dialed.post(late)).status, 400)
        assert.strictEqual((yield* dialed.post(late, "s2")).status, 400)
        assert.strictEqual((yield* dialed.post(late, "s1")).status, 202)
        const answer = yield* session.until(() => session.data[3])
        assert.deepStrictEqual(
          JSON.parse(answer),
          result(2, { stopReason: "end_turn", _meta: { answer: { outcome: "ok" } } })
        )
        yield* dialed.post(call("session/load", { sessionId: "s1", count: 3 }, 3), "s1")
        yield* dialed.post(call("echo", { a: 1 }, 4))
        yield* dialed.post(call("echo", { sessionId: "s1" }, 5), "s1")
        yield* session.until(() => session.data[7])
        yield* common.until(() => common.data[2])
        assert.deepStrictEqual(parsed(common.data), [
          result(1, { sessionId: "s1" }),
          result(3, {}),
          result(4, { a: 1 })
        ])
        assert.deepStrictEqual(JSON.parse(session.data[7] ?? ""), result(5, { sessionId: "s1" }))
        assert.strictEqual((yield* dialed.post(note("_note", { b: 2 }))).status, 202)
        assert.strictEqual((yield* dialed.remove).status, 202)
        assert.isTrue(yield* common.ended)
        assert.isTrue(yield* session.ended)
        assert.deepStrictEqual(server.seen.notes, [{ method: "_note", params: { b: 2 } }])
      }).pipe(Effect.scoped)
    )

    it.live("HTTP-06: every status code", () =>
      Effect.gen(function* () {
        const server = yield* serve(version, { http: { bodyBytes: 1000, idLength: 20 } })
        const dialed = yield* dial(server)
        const { connection } = dialed
        const sessions = yield* dialed.events("s1")
        assert.strictEqual(sessions.status, 200)
        const post = (body: unknown, headers: Readonly<Record<string, string>> = connection): Request => ({
          method: "POST",
          headers: { ...json, ...headers },
          body: typeof body === "string" ? body : JSON.stringify(body)
        })
        const get = (headers: Readonly<Record<string, string>>): Request => ({ headers })
        const stream = { accept: "text/event-stream" }
        const gone = { "acp-connection-id": "nobody" }
        const prompt = call("session/prompt", { sessionId: "s1" }, 9)
        const rows: ReadonlyArray<readonly [name: string, status: number, request: Request, body: RegExp]> = [
          ["no content type", 415, { method: "POST", headers: connection, body: "{}" }, /application\/json/],
          ["text", 415, post("{}", { ...connection, "content-type": "text/plain" }), /application\/json/],
          ["not JSON", 400, post("{"), /"id":null,"error":\{"code":-32700/],
          ["empty", 400, post(""), /"id":null,"error":\{"code":-32700/],
          ["an array", 400, post([call("echo")]), /"id":null,"error":\{"code":-32600/],
          ["an array to nobody", 400, post([call("echo")], {}), /"id":null,"error":\{"code":-32600/],
          ["a number", 400, post("5"), /"id":null,"error":\{"code":-32600/],
          ["no message", 400, post({}), /"id":null,"error":\{"code":-32600/],
          [
            "no connection",
            400,
            post(prompt, {}),
            /"id":9,"error":\{"code":-32600,"message":"Missing Acp-Connection-Id/
          ],
          ["no connection, a notification", 400, post(note("x"), {}), /^Missing Acp-Connection-Id/],
          ["an unknown connection", 404, post(prompt, gone), /^Unknown Acp-Connection-Id/],
          ["initialize twice", 400, post(call("initialize", {}, 1)), /"id":1,"error":.*already initialized/],
          ["initialize without id", 400, post(call("initialize", {}, null), {}), /not null/],
          ["initialize as a notification", 400, post(note("initialize"), {}), /^Missing Acp-Connection-Id/],
          ["no session", 400, post(prompt), /"id":9,"error":\{"code":-32602,"message":"Missing Acp-Session-Id/],
          ["no session at all", 400, post(call("session/load", {})), /Missing Acp-Session-Id/],
          [
            "another session",
            400,
            post(prompt, { ...connection, "acp-session-id": "s2" }),
            /Mismatched Acp-Session-Id/
          ],
          ["a long session", 400, post(prompt, { ...connection, "acp-session-id": "s".repeat(21) }), /at most 20/],
          ["a long id", 400, post(call("echo", {}, "i".repeat(21))), /at most 20/],
          ["too large", 413, post(call("echo", "x".repeat(1000))), /limit of 1000 bytes/],
          ["accepted", 202, post(call("echo")), /^$/],
          [
            "accepted as JSON in UTF-8",
            202,
            post(call("echo"), { ...connection, "content-type": "Application/JSON; charset=utf-8" }),
            /^$/
          ],
          ["a notification", 202, post(note("x")), /^$/],
          ["an answer to nothing", 202, post(result(77, {})), /^$/],
          ["no Accept", 406, get(connection), /text\/event-stream/],
          ["wrong Accept", 406, get({ ...connection, accept: "application/json" }), /text\/event-stream/],
          ["a stream of nobody", 400, get(stream), /^Missing Acp-Connection-Id/],
          ["a stream of an unknown connection", 404, get({ ...stream, ...gone }), /^Unknown/],
          ["a second reader", 409, get({ ...stream, ...connection, "acp-session-id": "s1" }), /reader already/],
          [
            "a stream of a long session",
            400,
            get({ ...stream, ...connection, "acp-session-id": "s".repeat(21) }),
            /at most 20/
          ],
          ["PUT", 405, { method: "PUT", headers: connection, body: "{}" }, /POST, GET or DELETE/],
          ["PATCH", 405, { method: "PATCH", headers: connection }, /POST, GET or DELETE/],
          ["OPTIONS", 405, { method: "OPTIONS", headers: connection }, /POST, GET or DELETE/],
          ["DELETE of nobody", 400, { method: "DELETE" }, /^Missing/],
          ["DELETE of an unknown connection", 404, { method: "DELETE", headers: gone }, /^Unknown/],
          ["DELETE", 202, { method: "DELETE", headers: connection }, /^$/],
          ["DELETE again", 404, { method: "DELETE", headers: connection }, /^Unknown/],
          ["after DELETE", 404, post(call("echo")), /^Unknown/],
          ["a stream after DELETE", 404, get({ ...stream, ...connection }), /^Unknown/]
        ]
        for (const [name, status, request, body] of rows) {
          const reply = yield* server.client.request(request)
          assert.strictEqual(reply.status, status, `${name}: ${reply.body}`)
          assert.match(reply.body, body, name)
          if (status === 405) assert.strictEqual(reply.headers["allow"], "GET, POST, DELETE")
        }
      }).pipe(Effect.scoped)
    )
  })
}

describe("over HTTP/1.1", () => {
  it.live("HTTP-06: 426 to an upgrade that reaches the endpoint", () =>
    Effect.gen(function* () {
      const server = yield* serve(1)
      const reply = yield* server.client.request({ headers: { upgrade: "websocket" } })
      assert.strictEqual(reply.status, 426)
      assert.strictEqual(reply.headers["upgrade"], "websocket")
    }).pipe(Effect.scoped)
  )
})
