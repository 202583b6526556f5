import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { call, dial, serve } from "../../support/HttpAgent.ts"
import { captureLogs, note, result } from "../../support/Link.ts"
import { until } from "../../support/Processes.ts"
import { connect, type HttpVersion } from "../../support/RawHttp.ts"

const versions: ReadonlyArray<HttpVersion> = [1, 2]

const idOf = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text).id)

/** Waits for the answer to a request on a stream. */
const answerIn = (data: ReadonlyArray<string>, id: unknown) => () =>
  data.find((text) => idOf(text) === id && !text.includes('"method"'))

for (const version of versions) {
  describe(`faults over HTTP/${version}`, () => {
    it.live("a stream that was cut has room for its next reader, who gets what was not taken", () =>
      Effect.gen(function* () {
        const server = yield* serve(version)
        const dialed = yield* dial(server)
        const first = yield* dialed.events("s")
        yield* dialed.post(call("session/prompt", { sessionId: "s", name: "a" }, 1), "s")
        yield* first.until(answerIn(first.data, 1))
        assert.strictEqual((yield* dialed.events("s")).status, 409)
        first.cut()
        // The server learns of it in its own time.
        const second = yield* Effect.repeat(dialed.events("s"), { until: ({ status }) => status !== 409 })
        second.cut()
        yield* dialed.post(call("session/prompt", { sessionId: "s", name: "b", count: 100 }, 2), "s")
        const third = yield* Effect.repeat(dialed.events("s"), { until: ({ status }) => status !== 409 })
        yield* third.until(answerIn(third.data, 2))
      }).pipe(Effect.scoped)
    )

    it.live("a cut in the middle of an event leaves the turn, the connection and its other streams alone", () =>
      Effect.gen(function* () {
        const server = yield* serve(version)
        const dialed = yield* dial(server)
        const common = yield* dialed.events()
        // Over HTTP/2 streams of one session share a window, which one that is not read can fill.
        const aside = yield* connect(version, server.origin)
        const first = yield* aside.events(dialed.headersOf("s"))
        first.pause()
        const big = { sessionId: "s", count: 10, size: 300_000 }
        yield* dialed.post(call("session/prompt", big, 1), "s")
        yield* dialed.post(call("echo", {}, 2))
        yield* common.until(answerIn(common.data, 2))
        first.cut()
        const second = yield* Effect.repeat(dialed.events("s"), { until: ({ status }) => status !== 409 })
        yield* dialed.post(call("echo", { sessionId: "s" }, 3), "s")
        yield* second.until(answerIn(second.data, 3))
        const numbers = second.data.flatMap((text) => /:(\d+) x/.exec(text)?.[1] ?? [])
        assert.deepStrictEqual(
          numbers.map(Number),
          numbers.map((_, index) => 10 - numbers.length + index)
        )
      }).pipe(Effect.scoped)
    )

    it.live("NET-01: a reader that reads nothing is disconnected, in bounded memory, and others are served", () =>
      Effect.gen(function* () {
        const logs = captureLogs()
        const server = yield* Effect.provide(serve(version, { peer: { stall: "10 seconds" } }), logs.layer)
        const other = yield* dial(server)
        const common = yield* other.events()
        const slow = yield* dial(server)
        const stuck = yield* slow.events("s")
        stuck.pause()
        const before = process.memoryUsage().rss
        yield* slow.post(call("session/prompt", { sessionId: "s", count: 20_000, size: 10_000 }, 1), "s")
        yield* until(() => server.seen.open === 1)
        assert.isBelow(process.memoryUsage().rss - before, 150 * 1024 * 1024)
        assert.strictEqual((yield* slow.post(call("echo"))).status, 404)
        yield* other.post(call("echo", {}, 2))
        yield* common.until(answerIn(common.data, 2))
        assert.match(logs.lines.join("\n"), /disconnected/)
        stuck.resume()
        assert.isBoolean(yield* stuck.ended)
      }).pipe(Effect.scoped)
    )

    it.live("what waits for a stream that nobody opens is bounded", () =>
      Effect.gen(function* () {
        const limits = { waitingEvents: 10 }
        const server = yield* serve(version, { http: limits, peer: { stall: "50 millis" } })
        const dialed = yield* dial(server)
        yield* dialed.post(call("session/prompt", { sessionId: "s", count: 50 }, 1), "s")
        yield* until(() => server.seen.open === 0)
        assert.strictEqual((yield* dialed.post(call("echo"))).status, 404)
      }).pipe(Effect.scoped)
    )

    it.live("streams of a connection are bounded", () =>
      Effect.gen(function* () {
        const server = yield* serve(version, { http: { streams: 2 } })
        const dialed = yield* dial(server)
        const [one, two] = [yield* dialed.events("1"), yield* dialed.events("2")]
        assert.deepStrictEqual([one.status, two.status], [200, 200])
        assert.strictEqual((yield* dialed.events("3")).status, 409)
        one.cut()
        yield* Effect.repeat(dialed.events("3"), { until: ({ status }) => status === 200 })
      }).pipe(Effect.scoped)
    )

    it.live("a body that is cut is no message, and one that is too long is none either", () =>
      Effect.gen(function* () {
        const server = yield* serve(version, { http: { bodyBytes: 100_000 } })
        const dialed = yield* dial(server)
        const common = yield* dialed.events()
        const headers = { ...dialed.connection, "content-type": "application/json" }
        const half = yield* server.client.begin({ method: "POST", headers })
        half.input.write('{"jsonrpc":"2.0","method":"_note","params":{')
        half.input.destroy()
        const huge = yield* server.client.begin({ method: "POST", headers })
        const chunk = Buffer.alloc(50_000, " ")
        for (let sent = 0; sent < 20; sent++) huge.input.write(chunk)
        const refused = yield* huge.head
        assert.strictEqual(refused.status, 413)
        huge.input.destroy()
        yield* dialed.post(note("_note", { whole: true }))
        yield* dialed.post(call("echo", {}, 1))
        yield* common.until(answerIn(common.data, 1))
        assert.deepStrictEqual(server.seen.notes, [{ method: "_note", params: { whole: true } }])
      }).pipe(Effect.scoped)
    )

    it.live("a client that leaves before initialize is answered leaves nothing", () =>
      Effect.gen(function* () {
        const server = yield* serve(version)
        const headers = { "content-type": "application/json" }
        const asked = yield* server.client.begin({ method: "POST", headers })
        asked.input.end(JSON.stringify(call("initialize", { hang: true }, 1)))
        yield* until(() => server.seen.open === 1)
        asked.input.destroy()
        yield* until(() => server.seen.open === 0)
      }).pipe(Effect.scoped)
    )

    it.live("HTTP-06: DELETE in the middle of a turn ends its streams in order", () =>
      Effect.gen(function* () {
        const server = yield* serve(version)
        const dialed = yield* dial(server)
        const [common, session] = [yield* dialed.events(), yield* dialed.events("s")]
        yield* dialed.post(call("session/prompt", { sessionId: "s", hang: true }, 1), "s")
        yield* session.until(() => session.data[0])
        assert.strictEqual((yield* dialed.remove).status, 202)
        assert.deepStrictEqual([yield* common.ended, yield* session.ended], [true, true])
        yield* until(() => server.seen.open === 0)
        assert.strictEqual((yield* dialed.remove).status, 404)
      }).pipe(Effect.scoped)
    )

    it.live("200 connections at once, and one more than the limit", () =>
      Effect.gen(function* () {
        const server = yield* serve(version, { http: { connections: 200 } })
        const all = yield* Effect.forEach(
          Array.from({ length: 200 }, (_, index) => index),
          Effect.fnUntraced(function* (index) {
            const dialed = yield* dial(server)
            const common = yield* dialed.events()
            yield* dialed.post(call("echo", { index }, index))
            const text = yield* common.until(() => common.data[0])
            assert.deepStrictEqual(JSON.parse(text), result(index, { index }))
            return { dialed, common }
          }),
          { concurrency: 20 }
        )
        assert.strictEqual(server.seen.open, 200)
        const { reply } = yield* dial(server)
        assert.strictEqual(reply.status, 503)
        assert.match(reply.body, /200 clients are connected/)
        assert.strictEqual(reply.headers["retry-after"], "30")
        yield* Effect.forEach(all, ({ dialed }) => dialed.remove, { discard: true, concurrency: 20 })
        yield* until(() => server.seen.open === 0)
        assert.isTrue(yield* all[0]?.common.ended ?? Effect.succeed(false))
        assert.strictEqual((yield* dial(server)).reply.status, 200)
      }).pipe(Effect.scoped)
    )

    it.live("HTTP-04: a quiet stream is kept alive by comments", () =>
      Effect.gen(function* () {
        const server = yield* serve(version, { http: { keepAlive: Duration.millis(10) } })
        const dialed = yield* dial(server)
        const common = yield* dialed.events()
        yield* common.until(() => (common.text().startsWith(":\n\n:\n\n:\n\n") ? true : undefined))
        yield* dialed.post(call("echo", {}, 1))
        yield* common.until(answerIn(common.data, 1))
      }).pipe(Effect.scoped)
    )

    it.live("NET-02: a connection that nobody uses ends, and one with a stream does not", () =>
      Effect.gen(function* () {
        const [idle, abandoned] = [Duration.millis(300), Duration.millis(100)]
        const server = yield* serve(version, { http: { idle, abandoned } })
        const used = yield* dial(server)
        const common = yield* used.events()
        const lost = yield* dial(server)
        const stream = yield* lost.events()
        yield* dial(server)
        assert.strictEqual(server.seen.open, 3)
        stream.cut()
        yield* until(() => server.seen.open === 1)
        assert.strictEqual((yield* lost.post(call("echo"))).status, 404)
        yield* used.post(call("echo", {}, 1))
        yield* common.until(answerIn(common.data, 1))
      }).pipe(Effect.scoped)
    )

    it.live("a session that another connection has is refused until this one opens it", () =>
      Effect.gen(function* () {
        const server = yield* serve(version)
        const [one, two] = [yield* dial(server), yield* dial(server)]
        const prompt = call("session/prompt", { sessionId: "s" }, 7)
        yield* one.post(call("session/load", { sessionId: "s" }), "s")
        const refused = yield* two.post(prompt, "s")
        assert.strictEqual(refused.status, 400)
        assert.match(
          refused.body,
          /"id":7,"error":\{"code":-32002,"message":"This session is open on another connection/
        )
        assert.strictEqual((yield* two.post(call("session/load", { sessionId: "s" }), "s")).status, 202)
        assert.strictEqual((yield* two.post(prompt, "s")).status, 202)
      }).pipe(Effect.scoped)
    )
  })
}
