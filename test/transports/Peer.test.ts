import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import { ErrorCode, WireError } from "../../src/domain/wire/ErrorCode.ts"
import { call, cancel, captureLogs, failure, link, messageOf, note, result, routes } from "../support/Link.ts"

const fail = (code: number, message: string) => Effect.fail(new WireError({ code, message }))

const stuck = Effect.never

const echo = routes({ echo: Effect.succeed, stuck: () => stuck })

const updateOf = Schema.decodeUnknownSync(Schema.Struct({ tool: Schema.Int, at: Schema.Int }))

const notMessage = "Invalid request: a message is a JSON object"

describe("answers", () => {
  it.effect("RPC-01, RPC-02, RPC-03: each request is answered under its own id, with its type", () =>
    Effect.gen(function* () {
      const { nextText, send } = yield* link(echo)
      const ids = ["0", "-1", "9007199254740991", "9007199254740993", '""', '"x"', "1", '"1"', "null"]
      for (const id of ids) {
        yield* send(`{"jsonrpc":"2.0","id":${id},"method":"echo","params":{"a":[1]}}`)
        assert.strictEqual(yield* nextText, `{"jsonrpc":"2.0","id":${id},"result":{"a":[1]}}`)
      }
    })
  )

  it.effect("RPC-15: a request without params has empty ones", () =>
    Effect.gen(function* () {
      const { next, send } = yield* link(echo)
      yield* send(call(1, "echo"), call(2, "echo", null))
      assert.deepStrictEqual(yield* next, result(1, {}))
      assert.deepStrictEqual(yield* next, result(2, {}))
    })
  )

  it.effect("RPC-05: a notification is never answered, whatever becomes of it", () =>
    Effect.gen(function* () {
      const logs = captureLogs()
      const { quiet, send } = yield* Effect.provide(
        link(routes({}, { fine: () => Effect.void, broken: () => Effect.die(new Error("secret")) })),
        logs.layer
      )
      yield* send(
        note("fine"),
        note("broken", 1),
        note("_x/unknown"),
        note("$/z"),
        note("$/cancel_request", 4),
        note("ping")
      )
      assert.deepStrictEqual(yield* quiet, [])
      assert.isTrue(
        logs.lines.some((line) => line.includes("ERROR") && line.includes("broken") && line.includes("secret"))
      )
    })
  )

  it.effect("RPC-06, RPC-07: an unknown method is refused and the connection lives on", () =>
    Effect.gen(function* () {
      const { next, quiet, send } = yield* link(echo)
      for (const method of ["foo/bar", "_tck/none", "$/cancel_request", "$/x", "__proto__", "constructor", ""]) {
        yield* send(call(1, method, { requestId: 1 }))
        assert.deepStrictEqual(yield* next, failure(1, ErrorCode.MethodNotFound, `Method not found: ${method}`))
      }
      yield* send(call(2, "x".repeat(5000)))
      assert.deepStrictEqual(yield* next, failure(2, ErrorCode.MethodNotFound, `Method not found: ${"x".repeat(100)}…`))
      assert.deepStrictEqual(yield* quiet, [])
    })
  )

  it.effect("RPC-08, RPC-09, RPC-10: what is no message is answered without id, and costs nothing else", () =>
    Effect.gen(function* () {
      const { next, quiet, send } = yield* link(echo)
      yield* send(
        "not json",
        "42",
        "[]",
        [call(1, "echo"), note("x")],
        { id: 1, method: "echo" },
        call(2, "echo", { a: 1 })
      )
      const batch = "Invalid request: batches are not supported, send each message by itself"
      assert.deepStrictEqual(
        yield* next,
        failure(null, ErrorCode.ParseError, "Parse error: the message is not valid JSON")
      )
      assert.deepStrictEqual(yield* next, failure(null, ErrorCode.InvalidRequest, notMessage))
      assert.deepStrictEqual(yield* next, failure(null, ErrorCode.InvalidRequest, batch))
      assert.deepStrictEqual(yield* next, failure(null, ErrorCode.InvalidRequest, batch))
      assert.deepStrictEqual(
        yield* next,
        failure(null, ErrorCode.InvalidRequest, 'Invalid request: "jsonrpc" must be "2.0"')
      )
      assert.deepStrictEqual(yield* next, result(2, { a: 1 }))
      assert.deepStrictEqual(yield* quiet, [])
    })
  )

  it.effect("a failure arrives as it is; a defect is bare, and its cause is in the log only", () =>
    Effect.gen(function* () {
      const logs = captureLogs()
      const circular: { self?: unknown } = {}
      circular.self = circular
      const { next, send } = yield* Effect.provide(
        link(
          routes({
            fail: () =>
              Effect.fail(new WireError({ code: -32002, message: "No such session", data: { sessionId: "s" } })),
            die: () => Effect.die(new Error("secret")),
            throw: () => {
              throw new Error("secret")
            },
            circular: () => Effect.succeed(circular),
            bigint: () => Effect.succeed(1n)
          })
        ),
        logs.layer
      )
      yield* send(call(1, "fail"))
      assert.deepStrictEqual(yield* next, {
        jsonrpc: "2.0",
        id: 1,
        error: { code: -32002, message: "No such session", data: { sessionId: "s" } }
      })
      for (const method of ["die", "throw", "circular", "bigint"]) {
        yield* send(call(2, method, { token: "never logged" }))
        assert.deepStrictEqual(yield* next, failure(2, ErrorCode.InternalError, "Internal error"))
        assert.isTrue(logs.lines.some((line) => line.includes("ERROR") && line.includes(method)))
      }
      assert.isTrue(logs.lines.some((line) => line.includes("secret")))
      assert.isFalse(logs.lines.some((line) => line.includes("never logged")))
    })
  )

  it.effect("a table of routes that throws costs one answer, not the connection", () =>
    Effect.gen(function* () {
      const logs = captureLogs()
      const broken = () => {
        throw new Error("no table")
      }
      const { next, quiet, send } = yield* Effect.provide(link({ request: broken, notification: broken }), logs.layer)
      yield* send(note("a"), call(1, "a"))
      assert.deepStrictEqual(yield* next, failure(1, ErrorCode.InternalError, "Internal error"))
      assert.deepStrictEqual(yield* quiet, [])
    })
  )

  it.effect("deep nesting comes in and goes out, or is refused, but ends nothing", () =>
    Effect.gen(function* () {
      const logs = captureLogs()
      const { next, nextText, quiet, send } = yield* Effect.provide(link(echo), logs.layer)
      const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
      yield* send(`{"jsonrpc":"2.0","id":1,"method":"echo","params":${nested(500)}}`)
      assert.strictEqual(yield* nextText, `{"jsonrpc":"2.0","id":1,"result":${nested(500)}}`)
      yield* send(`{"jsonrpc":"2.0","id":2,"method":"echo","params":${nested(300_000)}}`)
      const refusal = "Invalid request: it is nested more than 1000 levels deep"
      assert.deepStrictEqual(yield* next, failure(2, ErrorCode.InvalidRequest, refusal))
      assert.deepStrictEqual(yield* quiet, [])
    })
  )

  it.effect("an answer that cannot be written is an internal error", () =>
    Effect.gen(function* () {
      const logs = captureLogs()
      const endless = { request: () => () => Effect.succeed({ value: 1n }), notification: () => undefined }
      const { next, quiet, send } = yield* Effect.provide(link(endless), logs.layer)
      yield* send(call(2, "echo"))
      assert.deepStrictEqual(yield* next, failure(2, ErrorCode.InternalError, "Internal error"))
      assert.deepStrictEqual(yield* quiet, [])
    })
  )

  it.effect("each request is a span of its own", () =>
    Effect.gen(function* () {
      const traced = () =>
        Effect.map(Effect.orDie(Effect.currentSpan), ({ kind, name, parent }) => ({ kind, name, parent }))
      const { next, send } = yield* Effect.withSpan(link(routes({ traced })), "the connection")
      yield* send(call(1, "traced"))
      assert.deepStrictEqual(
        yield* next,
        result(1, { kind: "server", name: "traced", parent: { _id: "Option", _tag: "None" } })
      )
    })
  )

  it.effect("a live id cannot be used twice; an answered one can", () =>
    Effect.gen(function* () {
      const { next, send } = yield* link(echo)
      const taken = "Invalid request: another request with this id still waits for its answer"
      yield* send(call(1, "stuck"), call("1", "echo", {}), call(1, "echo", {}))
      assert.deepStrictEqual(yield* next, result("1", {}))
      assert.deepStrictEqual(yield* next, failure(1, ErrorCode.InvalidRequest, taken))
      yield* send(cancel(1))
      assert.deepStrictEqual(yield* next, failure(1, ErrorCode.RequestCancelled, "Request cancelled"))
      yield* send(call(1, "echo", { again: true }))
      assert.deepStrictEqual(yield* next, result(1, { again: true }))
    })
  )
})

describe("$/cancel_request", () => {
  it.effect("CAN-07: interrupts the request, and its answer follows its finalizers", () =>
    Effect.gen(function* () {
      const { next, send } = yield* link((peer) =>
        routes({ work: () => Effect.onInterrupt(Effect.never, () => peer.notify("cleaned", {})) })
      )
      for (const id of [1, "a", null]) {
        yield* send(call(id, "work"), cancel(id))
        assert.deepStrictEqual(yield* next, note("cleaned", {}))
        assert.deepStrictEqual(yield* next, failure(id, ErrorCode.RequestCancelled, "Request cancelled"))
      }
    })
  )

  it.effect("finds an id beyond 2^53, and tells 1 from its text", () =>
    Effect.gen(function* () {
      const { nextText, send } = yield* link(echo)
      yield* send(call("1", "stuck"), '{"jsonrpc":"2.0","id":9007199254740993,"method":"stuck"}')
      yield* send(cancel(1), '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":9007199254740993}}')
      const error = '"error":{"code":-32800,"message":"Request cancelled"}'
      assert.strictEqual(yield* nextText, `{"jsonrpc":"2.0","id":9007199254740993,${error}}`)
      yield* send(cancel("1"))
      assert.strictEqual(yield* nextText, `{"jsonrpc":"2.0","id":"1",${error}}`)
    })
  )

  it.effect("is ignored for ids that are unknown, answered, or not ids", () =>
    Effect.gen(function* () {
      const { next, quiet, send } = yield* link(echo)
      yield* send(call(1, "echo", {}))
      assert.deepStrictEqual(yield* next, result(1, {}))
      yield* send(cancel(1), cancel(99), cancel("x"), cancel({}), cancel(1.5), note("$/cancel_request"))
      assert.deepStrictEqual(yield* quiet, [])
    })
  )

  it.effect("CAN-09: a handler that gives itself up answers the same", () =>
    Effect.gen(function* () {
      const { next, send } = yield* link(routes({ abort: () => Effect.interrupt }))
      yield* send(call(1, "abort"))
      assert.deepStrictEqual(yield* next, failure(1, ErrorCode.RequestCancelled, "Request cancelled"))
    })
  )

  it.effect("CAN-08: reaches the requests that the handler itself sent", () =>
    Effect.gen(function* () {
      const { next, quiet, send } = yield* link((peer) =>
        routes({ turn: () => Effect.catchTag(peer.request("ask", { a: 1 }), "ConnectionClosed", Effect.die) })
      )
      yield* send(call("p", "turn"))
      assert.deepStrictEqual(yield* next, call(0, "ask", { a: 1 }))
      yield* send(cancel("p"))
      assert.deepStrictEqual(yield* next, cancel(0))
      assert.deepStrictEqual(yield* next, failure("p", ErrorCode.RequestCancelled, "Request cancelled"))
      yield* send(result(0, { late: true }), failure(0, ErrorCode.RequestCancelled, "late"))
      assert.deepStrictEqual(yield* quiet, [])
    })
  )
})

describe("order", () => {
  it.effect("TR-06: a hung request keeps nothing else from being served", () =>
    Effect.gen(function* () {
      const { next, send } = yield* link(echo)
      yield* send(call(1, "stuck"), call(2, "echo", {}))
      assert.deepStrictEqual(yield* next, result(2, {}))
    })
  )

  it.effect("handlers start in the order of their messages, before the next one is read", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const see = (params: unknown) => Effect.sync(() => seen.push(params))
      const { quiet, send } = yield* link(
        routes(
          { ask: (params) => Effect.andThen(see(params), Effect.never) },
          { tell: (params) => Effect.andThen(see(params), Effect.yieldNow) }
        )
      )
      yield* send(
        ...Array.from({ length: 50 }, (_, at) => (at % 3 === 0 ? call(at, "ask", { at }) : note("tell", { at })))
      )
      assert.deepStrictEqual(yield* quiet, [])
      assert.deepStrictEqual(
        seen,
        Array.from({ length: 50 }, (_, at) => ({ at }))
      )
    })
  )

  it.effect("TRN-04: updates of the handler and of fibers that it joins precede its answer", () =>
    Effect.gen(function* () {
      const { next, send } = yield* link((peer) =>
        routes({
          prompt: () =>
            Effect.as(
              Effect.forEach(
                [0, 1, 2],
                (tool) =>
                  Effect.forEach(
                    Array.from({ length: 200 }, (_, at) => at),
                    (at) => Effect.andThen(peer.notify("update", { tool, at }), Effect.yieldNow)
                  ),
                { concurrency: "unbounded" }
              ),
              { stopReason: "end_turn" }
            )
        })
      )
      yield* send(call(1, "prompt"))
      const perTool: Array<Array<unknown>> = [[], [], []]
      for (let count = 0; count < 600; count++) {
        const message = yield* next
        const { at, tool } = updateOf(messageOf(message).params)
        perTool[tool]?.push(at)
      }
      for (const seen of perTool)
        assert.deepStrictEqual(
          seen,
          Array.from({ length: 200 }, (_, at) => at)
        )
      assert.deepStrictEqual(yield* next, result(1, { stopReason: "end_turn" }))
    })
  )

  it.effect("SES-05: what is said after a reply follows it, in order; after a failure it is not said", () =>
    Effect.gen(function* () {
      const { next, quiet, send } = yield* link((peer) =>
        routes({
          new: (params, { afterReply }) =>
            Effect.gen(function* () {
              yield* afterReply(peer.notify("commands", params))
              yield* afterReply(peer.notify("mode", params))
              return params instanceof Object && "bad" in params ? yield* fail(-32602, "bad") : params
            })
        })
      )
      yield* send(call(1, "new", { a: 1 }), call(2, "new", { bad: 1 }))
      const first = [yield* next, yield* next, yield* next, yield* next]
      assert.deepStrictEqual(
        first.filter((message) => message instanceof Object && !("error" in message)),
        [result(1, { a: 1 }), note("commands", { a: 1 }), note("mode", { a: 1 })]
      )
      assert.deepStrictEqual(yield* quiet, [])
    })
  )

  it.effect("a notification that waits for work whose end needs an answer does not deadlock", () =>
    Effect.gen(function* () {
      const turn = yield* Deferred.make<Fiber.Fiber<unknown, unknown>>()
      const { next, send } = yield* link((peer) =>
        routes(
          {
            prompt: () =>
              Effect.gen(function* () {
                const ask = Effect.ignore(peer.request("last_words", {}))
                const fiber = yield* Effect.forkChild(Effect.ensuring(Effect.never, ask), { startImmediately: true })
                yield* Deferred.succeed(turn, fiber)
                yield* Fiber.await(fiber)
                return { stopReason: "cancelled" }
              })
          },
          { cancel: () => Effect.flatMap(Deferred.await(turn), Fiber.interrupt) }
        )
      )
      yield* send(call(1, "prompt"), note("cancel"))
      assert.deepStrictEqual(yield* next, call(0, "last_words", {}))
      yield* send(result(0, {}))
      assert.deepStrictEqual(yield* next, result(1, { stopReason: "cancelled" }))
    })
  )
})
