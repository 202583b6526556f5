import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { ErrorCode, WireError } from "../../src/domain/wire/ErrorCode.ts"
import * as Peer from "../../src/transports/Peer.ts"
import {
  call,
  cancel,
  captureLogs,
  failed,
  failure,
  link,
  note,
  result,
  routes,
  slowFrames,
  until
} from "../support/Link.ts"

const none = routes({})

describe("own requests", () => {
  it.effect("RPC-12: answers come in any order, and each goes to its request", () =>
    Effect.gen(function* () {
      const { next, peer, send } = yield* link(none)
      const first = yield* Effect.forkChild(peer.request("a", { n: 1 }))
      assert.deepStrictEqual(yield* next, call(0, "a", { n: 1 }))
      const second = yield* Effect.forkChild(peer.request("b", undefined))
      assert.deepStrictEqual(yield* next, { jsonrpc: "2.0", id: 1, method: "b" })
      const third = yield* Effect.forkChild(failed(peer.request("c", {})))
      assert.deepStrictEqual(yield* next, call(2, "c", {}))
      yield* send(failure(2, -32002, "no file"), result(1, null), result(0, { deep: [1] }))
      assert.deepStrictEqual(yield* Fiber.join(first), { deep: [1] })
      assert.strictEqual(yield* Fiber.join(second), null)
      assert.deepStrictEqual(yield* Fiber.join(third), new WireError({ code: -32002, message: "no file" }))
    })
  )

  it.effect("a malformed answer fails only its own request", () =>
    Effect.gen(function* () {
      const { next, peer, quiet, send } = yield* link(none)
      const malformed = [
        {},
        { error: "x" },
        { error: { code: "1", message: "x" } },
        { error: { code: 1, message: "x" }, result: 1 }
      ]
      const asked = yield* Effect.forEach(malformed, () => Effect.forkChild(failed(peer.request("a", {}))))
      const good = yield* Effect.forkChild(peer.request("good", {}))
      for (let count = 0; count <= malformed.length; count++) yield* next
      yield* send(...malformed.map((answer, id) => ({ jsonrpc: "2.0", id, ...answer })))
      for (const fiber of asked) {
        const error = yield* Fiber.join(fiber)
        assert.include(error.message, "The answer cannot be read")
      }
      yield* send(result(malformed.length, "fine"))
      assert.strictEqual(yield* Fiber.join(good), "fine")
      assert.deepStrictEqual(yield* quiet, [])
    })
  )

  it.effect("RPC-11, F07: answers to no request, or under the text of an id, are dropped in silence", () =>
    Effect.gen(function* () {
      const { next, peer, quiet, send } = yield* link(none)
      const asked = yield* Effect.forkChild(peer.request("a", {}))
      yield* next
      yield* send(result("0", 1), result(999, {}), result(null, 1), result(1.5, 1), failure(1, 1, "x"), {
        jsonrpc: "2.0",
        result: 1
      })
      assert.deepStrictEqual(yield* quiet, [])
      yield* send(result(0, "mine"), result(0, "again"))
      assert.strictEqual(yield* Fiber.join(asked), "mine")
      assert.deepStrictEqual(yield* quiet, [])
    })
  )

  it.effect("CAN-08: an interrupted request is withdrawn once, and its late answer dropped", () =>
    Effect.gen(function* () {
      const { next, peer, quiet, send } = yield* link(none)
      const asked = yield* Effect.forkChild(peer.request("a", {}))
      yield* next
      yield* Fiber.interrupt(asked)
      assert.deepStrictEqual(yield* next, cancel(0))
      yield* send(result(0, {}), cancel(0))
      assert.deepStrictEqual(yield* quiet, [])
    })
  )

  it.effect("an interrupted request that was not written yet leaves no trace", () =>
    Effect.gen(function* () {
      const frames = yield* slowFrames
      const peer = yield* Peer.make(frames.shape, { queuedFrames: 2 })
      yield* Effect.forkScoped(peer.serve(none))
      yield* peer.notify("taken by the writer", {})
      yield* frames.stuck
      const queued = yield* Effect.forkChild(peer.request("queued", {}), { startImmediately: true })
      yield* peer.notify("fills the queue", {})
      const waiting = yield* Effect.forkChild(peer.request("waiting", {}), { startImmediately: true })
      const behind = yield* Effect.forkChild(peer.notify("behind", {}), { startImmediately: true })
      yield* Fiber.interruptAll([queued, waiting])
      yield* Fiber.join(behind)
      yield* frames.unblock
      yield* frames.send(call(1, "none"))
      yield* until(() => frames.written.length === 4)
      assert.deepStrictEqual(
        frames.written.map((text) => JSON.parse(text)),
        [
          note("taken by the writer", {}),
          note("fills the queue", {}),
          note("behind", {}),
          failure(1, -32601, "Method not found: none")
        ]
      )
    })
  )

  it.effect("a request that is queued behind a stuck pipe can be interrupted at once", () =>
    Effect.gen(function* () {
      const frames = yield* slowFrames
      const peer = yield* Peer.make(frames.shape, { queuedFrames: 1 })
      const asked = yield* Effect.forkChild(peer.request("written", {}), { startImmediately: true })
      yield* frames.stuck
      yield* peer.notify("fills the queue", {})
      yield* Fiber.interrupt(asked)
      yield* frames.unblock
      yield* until(() => frames.written.length === 3)
      assert.deepStrictEqual(
        frames.written.map((text) => JSON.parse(text)),
        [call(0, "written", {}), note("fills the queue", {}), cancel(0)]
      )
    })
  )

  it.effect("the table of open requests is bounded, and frees its places", () =>
    Effect.gen(function* () {
      const { next, peer, send } = yield* link(none, { requestsOut: 2 })
      const first = yield* Effect.forkChild(peer.request("a", {}))
      const second = yield* Effect.forkChild(peer.request("a", {}))
      yield* next
      yield* next
      const error = yield* failed(peer.request("third", {}))
      assert.strictEqual(error.message, "2 requests already wait for an answer; third was not sent")
      yield* send(result(0, 1))
      yield* Fiber.join(first)
      yield* Fiber.interrupt(second)
      assert.deepStrictEqual(yield* next, cancel(1))
      yield* Effect.forkChild(peer.request("b", {}))
      yield* Effect.forkChild(peer.request("b", {}))
      assert.deepStrictEqual(yield* next, call(2, "b", {}))
      assert.deepStrictEqual(yield* next, call(3, "b", {}))
    })
  )
})

describe("what does not fit", () => {
  const long = "x".repeat(1000)

  const sizeOf = (message: unknown) => new TextEncoder().encode(JSON.stringify(message)).byteLength

  it.effect("TR-04: an answer over the limit becomes an error that says so", () =>
    Effect.gen(function* () {
      const failing = new WireError({ code: 1, message: "x", data: long })
      const { next, send } = yield* link(
        routes({ long: () => Effect.succeed({ long }), failing: () => Effect.fail(failing) }),
        { frameBytes: 500 }
      )
      const problem = (bytes: number) =>
        `The answer was not sent: it is ${bytes} bytes long, and the limit is 500 bytes`
      yield* send(call(1, "long"), call(2, "failing"))
      assert.deepStrictEqual(yield* next, failure(1, ErrorCode.InternalError, problem(sizeOf(result(1, { long })))))
      const bytes = sizeOf({ jsonrpc: "2.0", id: 2, error: { code: 1, message: "x", data: long } })
      assert.deepStrictEqual(yield* next, failure(2, ErrorCode.InternalError, problem(bytes)))
    })
  )

  it.effect("TR-04: the limit counts bytes, not characters", () =>
    Effect.gen(function* () {
      const text = "漢".repeat(150)
      const fits = sizeOf(result(1, text))
      const { next, send } = yield* link(routes({ text: () => Effect.succeed(text) }), { frameBytes: fits })
      yield* send(call(1, "text"))
      assert.deepStrictEqual(yield* next, result(1, text))
      yield* send(call(22, "text"))
      const message = `The answer was not sent: it is ${fits + 1} bytes long, and the limit is ${fits} bytes`
      assert.deepStrictEqual(yield* next, failure(22, ErrorCode.InternalError, message))
    })
  )

  it.effect("TR-04: a message over the limit is refused over every transport; the next one is served", () =>
    Effect.gen(function* () {
      const fits = sizeOf(call(1, "echo", "漢".repeat(150)))
      const { next, send } = yield* link(routes({ echo: (params) => Effect.succeed(params) }), { frameBytes: fits })
      const message = `Invalid request: the message is ${fits + 1} bytes long, and the limit is ${fits} bytes`
      yield* send(call(22, "echo", "漢".repeat(150)), call(1, "echo", "漢".repeat(150)))
      assert.deepStrictEqual(yield* next, failure(null, ErrorCode.InvalidRequest, message))
      assert.deepStrictEqual(yield* next, result(1, "漢".repeat(150)))
    })
  )

  it.effect("TR-04: a notification over the limit is not sent but logged; a request fails", () =>
    Effect.gen(function* () {
      const logs = captureLogs()
      const { peer, quiet } = yield* link(none, { frameBytes: 500 })
      yield* Effect.provide(peer.notify("update", { long }), logs.layer)
      assert.isTrue(logs.lines.some((line) => line.includes("ERROR") && line.includes("update was not sent")))
      assert.isFalse(logs.lines.some((line) => line.includes(long)))
      const error = yield* failed(peer.request("write", { long }))
      const bytes = sizeOf(call(0, "write", { long }))
      assert.strictEqual(error.message, `write was not sent: it is ${bytes} bytes long, and the limit is 500 bytes`)
      assert.deepStrictEqual(yield* quiet, [])
    })
  )
})

describe("what comes too fast", () => {
  it.effect("requests beyond the limit are refused, while cancellation and answers still pass", () =>
    Effect.gen(function* () {
      const { next, peer, send } = yield* link(routes({ stuck: () => Effect.never }), { requestsIn: 2 })
      const asked = yield* Effect.forkChild(peer.request("a", {}))
      yield* next
      yield* send(call(1, "stuck"), call(2, "stuck"), call(3, "stuck"), result(0, "passed"))
      assert.deepStrictEqual(
        yield* next,
        failure(3, ErrorCode.InternalError, "2 requests already wait for an answer; send it again when one is answered")
      )
      assert.strictEqual(yield* Fiber.join(asked), "passed")
      yield* send(cancel(1), call(4, "ping"))
      assert.deepStrictEqual(yield* next, failure(1, ErrorCode.RequestCancelled, "Request cancelled"))
      assert.deepStrictEqual(yield* next, result(4, "pong"))
    })
  )

  it.effect("notifications beyond the limit are dropped and logged", () =>
    Effect.gen(function* () {
      const logs = captureLogs()
      let started = 0
      const wait = () =>
        Effect.andThen(
          Effect.sync(() => started++),
          Effect.never
        )
      const { quiet, send } = yield* Effect.provide(link(routes({}, { wait }), { notificationsIn: 2 }), logs.layer)
      yield* send(note("wait"), note("wait"), note("wait"))
      assert.deepStrictEqual(yield* quiet, [])
      assert.strictEqual(started, 2)
      assert.isTrue(logs.lines.some((line) => line.includes("WARN") && line.includes("Dropped wait")))
    })
  )

  it.effect("notifications that end free their places", () =>
    Effect.gen(function* () {
      let ended = 0
      const { quiet, send } = yield* link(
        routes({}, { a: () => Effect.sync(() => ended++), b: () => Effect.die("b"), c: () => Effect.interrupt }),
        { notificationsIn: 1 }
      )
      for (let count = 0; count < 5; count++) yield* send(note("a"), note("c"))
      assert.deepStrictEqual(yield* quiet, [])
      assert.strictEqual(ended, 5)
    })
  )
})
