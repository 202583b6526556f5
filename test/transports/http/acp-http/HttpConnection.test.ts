import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Head from "../../../../src/transports/http/acp-http/Head.ts"
import * as HttpConnection from "../../../../src/transports/http/acp-http/HttpConnection.ts"
import type { Mailbox, Reader } from "../../../../src/transports/http/acp-http/Mailbox.ts"
import { defaultHttpLimits } from "../../../../src/transports/http/StreamableHttp.ts"
import { encodeNotification, encodeRequest, encodeResult } from "../../../../src/domain/wire/JsonRpc.ts"
import * as RequestId from "../../../../src/domain/wire/RequestId.ts"

const make = (limits = {}) => HttpConnection.make("c", { ...defaultHttpLimits, ...limits })

const mailboxOf = (connection: HttpConnection.HttpConnection, sessionId: string | undefined): Mailbox => {
  const found = connection.mailbox(sessionId)
  return "_tag" in found ? assert.fail(found.message) : found
}

const decode = (events: ReadonlyArray<Uint8Array>): ReadonlyArray<string> =>
  events.map((event) => Buffer.from(event).toString().slice("data: ".length, -2))

const readAll = (reader: Reader): ReadonlyArray<string> => {
  const all: Array<string> = []
  for (let batch = reader.take(); batch.length > 0; batch = reader.take()) all.push(...decode(batch))
  return all
}

const openOf = (connection: HttpConnection.HttpConnection, sessionId: string | undefined): Reader =>
  mailboxOf(connection, sessionId).open(() => {}) ?? assert.fail("it has a reader")

const update = (sessionId: string, number: number) => encodeNotification("session/update", { sessionId, number })

const names = [undefined, "a", "b", "c"]

const Step = Schema.Struct({
  act: Schema.Literals(["say", "say", "answer", "ask", "open", "read", "close"]),
  stream: Schema.Literals([0, 1, 2, 3])
})

describe("an HTTP connection", () => {
  it.effect.prop(
    "HTTP-05: whatever the order of messages and readers, each message comes once, in order, on its own stream",
    [Schema.Array(Step)],
    ([steps]) =>
      Effect.gen(function* () {
        const connection = yield* make()
        const readers = names.map((): Reader | undefined => undefined)
        const said = names.map((): Array<string> => [])
        const got = names.map((): Array<string> => [])
        let count = 0
        for (const { act, stream } of steps) {
          const sessionId = names[stream]
          const number = count++
          const say = (text: string) => {
            said[stream]?.push(text)
            return connection.frames.send([text])
          }
          switch (act) {
            case "say":
              yield* say(sessionId === undefined ? encodeNotification("_x", { number }) : update(sessionId, number))
              break
            case "ask":
              yield* say(
                encodeRequest(RequestId.fromCount(number), "_ask", sessionId === undefined ? {} : { sessionId })
              )
              assert.strictEqual(connection.askedIn(String(number)), sessionId)
              break
            case "answer": {
              const id = RequestId.fromCount(number)
              yield* connection.receive("{}", { id, destination: { sessionId, after: undefined } })
              yield* say(encodeResult(id, { number }))
              break
            }
            case "open":
              readers[stream] ??= openOf(connection, sessionId)
              break
            case "read":
            case "close": {
              const reader = readers[stream]
              if (reader === undefined) break
              if (act === "read") {
                got[stream]?.push(...readAll(reader))
              } else {
                reader.release()
                readers[stream] = undefined
              }
            }
          }
        }
        for (const [stream, sessionId] of names.entries()) {
          got[stream]?.push(...readAll(readers[stream] ?? openOf(connection, sessionId)))
        }
        assert.deepStrictEqual(got, said)
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect("SES-06, HTTP-05: the answer to session/load comes when the history has been written", () =>
    Effect.gen(function* () {
      const connection = yield* make()
      const session = openOf(connection, "s")
      const common = openOf(connection, undefined)
      const load = RequestId.fromCount(1)
      yield* connection.receive("{}", { id: load, destination: { sessionId: undefined, after: "s" } })
      const sending = yield* Effect.forkChild(connection.frames.send([update("s", 1), encodeResult(load, {})]), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(readAll(common), [])
      assert.deepStrictEqual(readAll(session), [update("s", 1)])
      yield* Effect.forkChild(session.ready, { startImmediately: true })
      assert.deepStrictEqual(readAll(common), [])
      yield* TestClock.adjust(defaultHttpLimits.headStart)
      yield* Fiber.join(sending)
      assert.deepStrictEqual(readAll(common), [encodeResult(load, {})])
    })
  )

  it.effect("CAN-08: a question is taken back where it was asked", () =>
    Effect.gen(function* () {
      const connection = yield* make()
      const withdrawal = '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}'
      const ask = encodeRequest(RequestId.fromCount(5), "session/request_permission", { sessionId: "s" })
      yield* connection.frames.send([ask, withdrawal])
      assert.deepStrictEqual(readAll(openOf(connection, "s")), [ask, withdrawal])
    })
  )

  it.effect("NET-01: the writer waits while too much waits, and goes on when it is read", () =>
    Effect.gen(function* () {
      const connection = yield* make({ waitingEvents: 2 })
      const frames = [0, 1, 2, 3].map((number) => update("s", number))
      const sending = yield* Effect.forkChild(connection.frames.send(frames), { startImmediately: true })
      assert.isUndefined(sending.pollUnsafe())
      const reader = openOf(connection, "s")
      assert.deepStrictEqual(decode(reader.take()), frames.slice(0, 3))
      yield* Fiber.join(sending)
      assert.deepStrictEqual(readAll(reader), frames.slice(3))
      const more = yield* Effect.forkChild(connection.frames.send(frames), { startImmediately: true })
      yield* connection.end
      yield* Fiber.join(more)
    })
  )

  it.effect("NET-02: it ends when nobody uses it, and lives while somebody reads or posts", () =>
    Effect.gen(function* () {
      const connection = yield* make()
      const expiring = yield* Effect.forkChild(connection.expire, { startImmediately: true })
      yield* TestClock.adjust(Duration.minutes(4))
      yield* connection.receive("{}")
      yield* TestClock.adjust(Duration.minutes(4))
      const reader = openOf(connection, undefined)
      yield* TestClock.adjust(Duration.hours(24))
      assert.isFalse(connection.isOver())
      reader.release()
      yield* TestClock.adjust(Duration.minutes(1))
      assert.isTrue(connection.isOver())
      yield* Fiber.join(expiring)
    })
  )
})

describe("the end of an HTTP connection", () => {
  it.effect("waits for what was said to be written, then for readers to leave, and cuts off who does not", () =>
    Effect.gen(function* () {
      const connection = yield* make()
      const cut: Array<string> = []
      const reading = mailboxOf(connection, undefined).open(() => cut.push("reading")) ?? assert.fail("taken")
      const stuck = mailboxOf(connection, "s").open(() => cut.push("stuck")) ?? assert.fail("taken")
      yield* connection.frames.send([update("s", 1), encodeNotification("_x", {})])
      const ending = yield* Effect.forkChild(connection.farewell, { startImmediately: true })
      assert.lengthOf(readAll(reading), 1)
      assert.lengthOf(readAll(stuck), 1)
      yield* Effect.forkChild(reading.ready, { startImmediately: true })
      assert.isFalse(reading.isOver())
      yield* TestClock.adjust(defaultHttpLimits.farewell)
      assert.isTrue(reading.isOver())
      reading.release()
      yield* TestClock.adjust(defaultHttpLimits.farewell)
      yield* Fiber.join(ending)
      assert.deepStrictEqual(cut, ["stuck"])
      assert.isUndefined(mailboxOf(connection, undefined).open(() => {}))
    })
  )
})

describe("the head of a message", () => {
  it.effect.prop(
    "is read without the rest of it, whatever the id and the session",
    [Schema.Union([Schema.String, Schema.Int, Schema.Null]), Schema.String, Schema.Json],
    ([id, sessionId, more]) =>
      Effect.sync(() => {
        const key = JSON.stringify(id)
        const text = (fields: object) => JSON.stringify({ jsonrpc: "2.0", ...fields })
        assert.deepStrictEqual(Head.read(text({ id, result: more })), { _tag: "Answer", id: key })
        assert.deepStrictEqual(Head.read(text({ id, error: { code: 1, message: sessionId } })), {
          _tag: "Answer",
          id: key
        })
        for (const params of [
          { sessionId, more },
          { more, sessionId }
        ]) {
          const called = { _tag: "Call" as const, sessionId, withdrawn: undefined }
          assert.deepStrictEqual(Head.read(text({ method: "m", params })), { ...called, id: undefined })
          assert.deepStrictEqual(Head.read(text({ id, method: "m", params })), { ...called, id: key })
        }
        const withdrawal = text({ method: "$/cancel_request", params: { requestId: id } })
        assert.deepStrictEqual(Head.read(withdrawal), {
          _tag: "Call",
          id: undefined,
          sessionId: undefined,
          withdrawn: key
        })
      }),
    { arbitrary: { runs: 200 } }
  )
})
