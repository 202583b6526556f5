import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ErrorCode } from "../../src/domain/wire/ErrorCode.ts"
import type { FramesShape } from "../../src/transports/Frames.ts"
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

const cancelled = (id: unknown) => failure(id, ErrorCode.RequestCancelled, "Request cancelled")

const parsed = (texts: ReadonlyArray<string>) => texts.map((text): unknown => JSON.parse(text))

describe("a frame that was thrown away", () => {
  it.effect("TR-04, F02: is answered without id and names the limit; the next one is served", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const frames: FramesShape = {
        incoming: Stream.make(
          { _tag: "TooLong" as const, bytes: 40_000_000 },
          { _tag: "Text" as const, text: JSON.stringify(call(1, "echo", { a: 1 })) }
        ),
        send: (batch) => Effect.sync(() => said.push(...batch)),
        closed: Effect.never,
        disconnect: () => Effect.void
      }
      const peer = yield* Peer.make(frames)
      yield* peer.serve(routes({ echo: Effect.succeed }))
      assert.deepStrictEqual(parsed(said), [
        failure(
          null,
          ErrorCode.InvalidRequest,
          "Invalid request: the message is 40000000 bytes long, and the limit is 33554432 bytes"
        ),
        result(1, { a: 1 })
      ])
    })
  )
})

describe("a reader that does not read", () => {
  it.effect("holds notifications back by count, while requests, cancellation and answers still come in", () =>
    Effect.gen(function* () {
      const frames = yield* slowFrames
      const peer = yield* Peer.make(frames.shape)
      let sent = 0
      yield* Effect.forkScoped(
        peer.serve(
          routes({
            turn: () =>
              Effect.forEach(
                Array.from({ length: 10_000 }, (_, at) => at),
                (at) =>
                  Effect.andThen(
                    peer.notify("update", { at }),
                    Effect.sync(() => sent++)
                  ),
                { discard: true }
              ),
            ask: () => peer.request("ask", {}).pipe(Effect.orDie)
          })
        )
      )
      yield* frames.send(call(0, "ping"), call(1, "turn"))
      yield* frames.stuck
      const asked = yield* Effect.forkChild(peer.request("own", {}), { startImmediately: true })
      assert.isAtMost(sent, 2 * 256)
      yield* frames.send(cancel(1), call(2, "unknown"))
      for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow
      const before = sent
      yield* frames.unblock
      yield* until(() => frames.written.some((text) => text.includes('"id":1,')))
      assert.strictEqual(sent, before, "the cancelled turn goes on")
      const said = parsed(frames.written)
      const updates = said.filter((message) => JSON.stringify(message).includes('"update"'))
      assert.deepStrictEqual(
        updates,
        updates.map((_, at) => note("update", { at }))
      )
      assert.deepInclude(said, failure(2, ErrorCode.MethodNotFound, "Method not found: unknown"))
      assert.isAbove(
        said.findIndex((message) => Object.is(message, said.at(-1))),
        said.indexOf(updates.at(-1))
      )
      yield* Fiber.interrupt(asked)
    })
  )

  it.effect("holds notifications back by bytes; a larger one passes alone", () =>
    Effect.gen(function* () {
      const frames = yield* slowFrames
      const peer = yield* Peer.make(frames.shape, { queuedBytes: 1000 })
      yield* peer.notify("first", {})
      yield* frames.stuck
      yield* peer.notify("larger than the limit", { text: "x".repeat(5000) })
      const second = yield* Effect.forkChild(peer.notify("second", {}), { startImmediately: true })
      assert.isUndefined(second.pollUnsafe())
      yield* frames.unblock
      yield* Fiber.join(second)
      yield* until(() => frames.written.length === 3)
      assert.include(frames.written[2], "second")
    })
  )

  it.effect("SES-05: a cancellation that comes after the work is done changes neither answer nor what follows", () =>
    Effect.gen(function* () {
      const frames = yield* slowFrames
      const peer = yield* Peer.make(frames.shape, { queuedFrames: 1 })
      yield* Effect.forkScoped(
        peer.serve(
          routes({
            new: (_, request) => Effect.as(request.afterReply(peer.notify("commands", {})), { sessionId: "s" })
          })
        )
      )
      yield* peer.notify("first", {})
      yield* frames.stuck
      yield* peer.notify("fills the queue", {})
      yield* frames.send(call(1, "new"), cancel(1), "not json")
      yield* frames.unblock
      yield* until(() => frames.written.length === 5)
      const said = parsed(frames.written)
      assert.deepInclude(said, result(1, { sessionId: "s" }))
      assert.deepStrictEqual(said[4], note("commands", {}))
    })
  )

  it.effect("is still read, until it has not read a thousand refusals", () =>
    Effect.gen(function* () {
      const frames = yield* slowFrames
      const peer = yield* Peer.make(frames.shape, { queuedFrames: 2, queuedRefusals: 10 })
      let seen = 0
      yield* Effect.forkScoped(peer.serve(routes({}, { seen: () => Effect.sync(() => seen++) })))
      yield* peer.notify("first", {})
      yield* frames.stuck
      yield* frames.send(...Array.from({ length: 12 }, () => "garbage"), note("seen"))
      yield* until(() => seen === 1)
      yield* frames.send("one too many", note("seen"))
      for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow
      assert.strictEqual(seen, 1)
      yield* frames.unblock
      yield* until(() => seen === 2)
    })
  )
})

describe("the end of input", () => {
  it.effect("TR-07: interrupts what is at work, writes its last words and answers, and returns", () =>
    Effect.gen(function* () {
      const { agent, editor, rest, send, serving } = yield* link((peer) =>
        routes(
          { turn: () => Effect.ensuring(Effect.never, peer.notify("tool failed", {})) },
          { watch: () => Effect.ensuring(Effect.never, peer.notify("unwatched", {})) }
        )
      )
      yield* send(call(1, "turn"), note("watch"), call(2, "ping"))
      yield* editor.end
      yield* Fiber.join(serving)
      yield* agent.end
      const said = yield* rest
      assert.sameDeepMembers(said, [
        result(2, "pong"),
        note("tool failed", {}),
        cancelled(1),
        note("unwatched", {})
      ] as Array<unknown>)
      assert.isBelow(JSON.stringify(said).indexOf("tool failed"), JSON.stringify(said).indexOf("cancelled"))
    })
  )

  it.effect("fails own requests at once, and new ones too; notifications do nothing", () =>
    Effect.gen(function* () {
      const { editor, next, peer, serving } = yield* link(none)
      const asked = yield* Effect.forkChild(failed(peer.request("a", {})))
      yield* next
      yield* editor.end
      assert.instanceOf(yield* Fiber.join(asked), Peer.ConnectionClosed)
      yield* Fiber.join(serving)
      assert.instanceOf(yield* failed(peer.request("b", {})), Peer.ConnectionClosed)
      for (let count = 0; count < 10_000; count++) yield* peer.notify("late", {})
    })
  )

  it.effect("TR-03: requests that came just before it may have a moment to end by themselves", () =>
    Effect.gen(function* () {
      const slow = () => Effect.delay(Effect.succeed("done"), "10 millis")
      const { editor, next, send, serving } = yield* link(routes({ slow, stuck: () => Effect.never }), {
        settle: "50 millis"
      })
      yield* send(call(1, "slow"), call(2, "stuck"))
      yield* editor.end
      yield* TestClock.adjust("10 millis")
      assert.deepStrictEqual(yield* next, result(1, "done"))
      yield* TestClock.adjust("40 millis")
      assert.deepStrictEqual(yield* next, cancelled(2))
      yield* Fiber.join(serving)
    })
  )

  it.effect("lets a request that asked the other side end by itself, since no answer can come", () =>
    Effect.gen(function* () {
      const { editor, next, send, serving } = yield* link(
        (peer) => routes({ ask: () => Effect.orElseSucceed(peer.request("own", {}), () => "unanswered") }),
        { settle: "1 hour" }
      )
      yield* send(call(1, "ask"))
      assert.deepStrictEqual(yield* next, call(0, "own", {}))
      yield* editor.end
      assert.deepStrictEqual(yield* next, result(1, "unanswered"))
      yield* Fiber.join(serving)
    })
  )

  it.effect("does not wait for a moment that nobody needs", () =>
    Effect.gen(function* () {
      const { editor, send, serving } = yield* link(none, { settle: "1 hour" })
      yield* send(note("x"))
      yield* editor.end
      yield* Fiber.join(serving)
    })
  )

  it.effect("does not wait for work that never ends", () =>
    Effect.gen(function* () {
      const logs = captureLogs()
      const { editor, send, serving } = yield* Effect.provide(
        link(routes({ turn: () => Effect.uninterruptible(Effect.never) })),
        logs.layer
      )
      yield* send(call(1, "turn"))
      yield* editor.end
      yield* TestClock.adjust("999 millis")
      assert.isUndefined(serving.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(serving)
      assert.isTrue(logs.lines.some((line) => line.includes("WARN") && line.includes("did not end when interrupted")))
    })
  )

  it.effect("does not wait for a pipe that nobody reads", () =>
    Effect.gen(function* () {
      const frames = yield* slowFrames
      const peer = yield* Peer.make(frames.shape)
      const serving = yield* Effect.forkScoped(peer.serve(none))
      yield* peer.notify("never read", {})
      yield* frames.stuck
      yield* frames.end
      yield* TestClock.adjust("499 millis")
      assert.isUndefined(serving.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(serving)
      assert.deepStrictEqual(frames.written, [])
    })
  )

  it.effect("interrupting the server is the same ending", () =>
    Effect.gen(function* () {
      const { agent, quiet, rest, send, serving } = yield* link((peer) =>
        routes({ turn: () => Effect.ensuring(Effect.never, peer.notify("tool failed", {})) })
      )
      yield* send(call(1, "turn"))
      assert.deepStrictEqual(yield* quiet, [])
      yield* Fiber.interrupt(serving)
      yield* agent.end
      assert.deepStrictEqual(yield* rest, [note("tool failed", {}), cancelled(1)])
    })
  )
})

describe("a broken pipe", () => {
  it.effect("TR-08: ends a turn that would go on for ever, and all that waits", () =>
    Effect.gen(function* () {
      const broken = yield* Deferred.make<void>()
      const spinning = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const frames: FramesShape = {
        incoming: Stream.concat(
          Stream.make(
            { _tag: "Text", text: JSON.stringify(call(1, "spin")) },
            { _tag: "Text", text: JSON.stringify(call(2, "ask")) }
          ),
          Stream.never
        ),
        send: () => Deferred.await(broken),
        closed: Deferred.await(broken),
        disconnect: () => Effect.void
      }
      const peer = yield* Peer.make(frames)
      const serving = yield* Effect.forkChild(
        peer.serve(
          routes({
            spin: () =>
              Effect.forever(Effect.andThen(peer.notify("update", {}), Deferred.succeed(spinning, undefined))).pipe(
                Effect.ensuring(Deferred.succeed(ended, undefined))
              ),
            ask: () => Effect.orDie(peer.request("ask", {}))
          })
        )
      )
      yield* Deferred.await(spinning)
      const asked = yield* Effect.forkChild(failed(peer.request("own", {})), { startImmediately: true })
      yield* Deferred.succeed(broken, undefined)
      yield* Fiber.join(serving)
      assert.instanceOf(yield* Fiber.join(asked), Peer.ConnectionClosed)
      assert.isTrue(yield* Deferred.isDone(ended))
    })
  )
})

describe("the scope", () => {
  it.effect("ends the writer and fails what waits, also when nothing was served", () =>
    Effect.gen(function* () {
      const frames = yield* slowFrames
      const scope = yield* Scope.make()
      const peer = yield* Scope.provide(Peer.make(frames.shape, { queuedFrames: 1 }), scope)
      const asked = yield* Effect.forkChild(failed(peer.request("a", {})), { startImmediately: true })
      yield* frames.stuck
      yield* peer.notify("queued", {})
      const waiting = yield* Effect.forkChild(peer.notify("waiting", {}), { startImmediately: true })
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.join(waiting)
      assert.instanceOf(yield* Fiber.join(asked), Peer.ConnectionClosed)
      assert.deepStrictEqual(frames.written, [])
    })
  )
})

describe("a reader over a network that is too slow", () => {
  const limits = { queuedBytes: 200, whenFull: "disconnect", stall: "60 seconds" } as const

  it.effect("is disconnected with the reason, and nobody waits for it", () =>
    Effect.gen(function* () {
      const frames = yield* slowFrames
      const peer = yield* Peer.make(frames.shape, limits)
      const serving = yield* Effect.forkScoped(peer.serve(none))
      yield* peer.notify("first", {})
      yield* frames.stuck
      const asking = yield* Effect.forkChild(failed(peer.request("ask", {})), { startImmediately: true })
      while (!peer.isClosed()) yield* peer.notify("more", { text: "x".repeat(60) })
      assert.deepStrictEqual(frames.reasons, ["it does not read what it is sent, and too much waits for it"])
      assert.strictEqual((yield* Fiber.join(asking))._tag, "ConnectionClosed")
      yield* peer.caughtUp
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(serving)
      assert.deepStrictEqual(frames.written, [])
    })
  )

  it.effect("is disconnected when one write takes longer than a minute", () =>
    Effect.gen(function* () {
      const frames = yield* slowFrames
      const peer = yield* Peer.make(frames.shape, limits)
      const serving = yield* Effect.forkScoped(peer.serve(none))
      yield* peer.notify("first", {})
      yield* frames.stuck
      yield* TestClock.adjust("59 seconds")
      assert.isFalse(peer.isClosed())
      yield* TestClock.adjust("1 second")
      assert.isTrue(peer.isClosed())
      assert.deepStrictEqual(frames.reasons, ["it stopped reading"])
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(serving)
    })
  )

  it.effect("is waited for by what goes at its pace", () =>
    Effect.gen(function* () {
      const frames = yield* slowFrames
      const peer = yield* Peer.make(frames.shape, limits)
      yield* Effect.forkScoped(peer.serve(none))
      yield* peer.notify("first", {})
      yield* frames.stuck
      yield* peer.caughtUp
      yield* peer.notify("second", { text: "x".repeat(100) })
      const waiting = yield* Effect.forkChild(peer.caughtUp, { startImmediately: true })
      assert.isUndefined(waiting.pollUnsafe())
      yield* frames.unblock
      yield* Fiber.join(waiting)
      assert.lengthOf(frames.written, 1)
    })
  )
})
