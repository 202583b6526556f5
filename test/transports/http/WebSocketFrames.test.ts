import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { type RawData, WebSocket, WebSocketServer } from "ws"
import { until } from "../../support/Processes.ts"
import * as WebSocketFrames from "../../../src/transports/http/WebSocketFrames.ts"

interface Pair {
  /** The end that is tested. */
  readonly ours: WebSocket
  readonly theirs: WebSocket
}

/** Two ends of a WebSocket of the library alone; both are gone with the scope. */
const pair = Effect.acquireRelease(
  Effect.promise(async (): Promise<Pair & { readonly server: WebSocketServer }> => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" })
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const theirs = new WebSocket(`ws://127.0.0.1:${port}`)
    const [ours] = (await once(server, "connection")) as [WebSocket]
    ours.pause()
    await once(theirs, "open")
    return { server, ours, theirs }
  }),
  ({ ours, server, theirs }) =>
    Effect.sync(() => {
      ours.terminate()
      theirs.terminate()
      server.close()
    })
)

const closing = (socket: WebSocket) =>
  Effect.promise(async () => {
    const [code, reason] = (await once(socket, "close")) as [number, Buffer]
    return [code, reason.toString()] as const
  })

const next = (socket: WebSocket, count = 1) =>
  Effect.callback<ReadonlyArray<string>>((resume) => {
    const texts: Array<string> = []
    socket.on("message", (data: RawData) => {
      texts.push(String(data))
      if (texts.length === count) resume(Effect.succeed(texts))
    })
  })

const read = (frames: WebSocketFrames.WebSocketFramesShape, count: number) =>
  Effect.map(Stream.runCollect(Stream.take(frames.incoming, count)), (all) =>
    [...all].map((frame) => (frame._tag === "Text" ? frame.text : frame._tag))
  )

describe("what comes in", () => {
  it.live("is one message a frame, also when it comes in fragments; white space around it means nothing", () =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* pair
      theirs.send('{"early":true}')
      const frames = yield* WebSocketFrames.make(ours)
      theirs.send('{"a":', { fin: false })
      theirs.send('"漢字', { fin: false })
      theirs.send('🎉"}\r\n', { fin: true })
      theirs.send("[1]")
      assert.deepStrictEqual(yield* read(frames, 3), ['{"early":true}', '{"a":"漢字🎉"}', "[1]"])
    })
  )

  it.live("leaves out empty text and the word ping", () =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* pair
      const frames = yield* WebSocketFrames.make(ours)
      for (const text of ["", "ping", " ping\n", "\r\n", "1"]) theirs.send(text)
      assert.deepStrictEqual(yield* read(frames, 1), ["1"])
    })
  )

  for (const [binary, taken] of [
    ["text", ["é", "2"]],
    ["ignore", ["2"]]
  ] as const) {
    it.live(`takes of binary frames ${binary === "text" ? "those that are UTF-8" : "none"}`, () =>
      Effect.gen(function* () {
        const { ours, theirs } = yield* pair
        const frames = yield* WebSocketFrames.make(ours, { binary })
        theirs.send(Buffer.from([0xc3, 0x28]))
        theirs.send(Buffer.from("é"))
        theirs.send("2")
        assert.deepStrictEqual(yield* read(frames, taken.length), [...taken])
      })
    )
  }

  it.live("waits in the network, not in memory, while nobody reads", () =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* pair
      const frames = yield* WebSocketFrames.make(ours)
      const text = "x".repeat(64 * 1024)
      const sent = 400
      for (let index = 0; index < sent; index++) theirs.send(text)
      yield* until(() => ours.isPaused)
      assert.isAbove(theirs.bufferedAmount, 0)
      assert.strictEqual((yield* read(frames, sent)).join("").length, sent * text.length)
    })
  )

  it.live("ends when the other side ends, and so does what is sent", () =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* pair
      const frames = yield* WebSocketFrames.make(ours)
      theirs.send("last")
      theirs.close(1000)
      assert.deepStrictEqual(yield* read(frames, 5), ["last"])
      yield* frames.closed
      yield* frames.send(["nobody"])
    })
  )

  it.live("ends when the other side vanishes in the middle of a message", () =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* pair
      const frames = yield* WebSocketFrames.make(ours)
      theirs.send("whole")
      theirs.send("half", { fin: false })
      assert.deepStrictEqual(yield* read(frames, 1), ["whole"])
      theirs.terminate()
      assert.deepStrictEqual(yield* read(frames, 1), [])
      yield* frames.closed
    })
  )
})

describe("what is sent", () => {
  it.live("arrives in order, one message a frame, and send waits until it is written", () =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* pair
      const frames = yield* WebSocketFrames.make(ours)
      const reading = yield* Effect.forkChild(next(theirs, 5), { startImmediately: true })
      yield* frames.send(["1", "2"])
      yield* frames.send([])
      yield* frames.send(["3", "漢字🎉", "5"])
      assert.strictEqual(ours.bufferedAmount, 0)
      assert.deepStrictEqual(yield* Fiber.join(reading), ["1", "2", "3", "漢字🎉", "5"])
    })
  )

  it.live("waits for a reader that stands still, and no longer when that is disconnected", () =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* pair
      const frames = yield* WebSocketFrames.make(ours)
      theirs.pause()
      const sending = yield* Effect.forkChild(frames.send(["x".repeat(30_000_000)]), { startImmediately: true })
      yield* until(() => ours.bufferedAmount > 0)
      assert.isUndefined(sending.pollUnsafe())
      yield* frames.disconnect("too slow")
      yield* Fiber.join(sending)
      yield* frames.closed
      assert.deepStrictEqual(yield* read(frames, 1), [])
    })
  )
})

describe("the end", () => {
  it.live("disconnect says why, as far as a close frame has room", () =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* pair
      const frames = yield* WebSocketFrames.make(ours)
      const closed = yield* Effect.forkChild(closing(theirs), { startImmediately: true })
      yield* frames.disconnect("ä".repeat(100))
      yield* frames.disconnect("again")
      assert.deepStrictEqual(yield* Fiber.join(closed), [1008, "ä".repeat(61)])
    })
  )

  it.live("the scope closes it with 1000", () =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* pair
      const closed = yield* Effect.forkChild(closing(theirs), { startImmediately: true })
      yield* Effect.scoped(WebSocketFrames.make(ours))
      assert.deepStrictEqual(yield* Fiber.join(closed), [1000, ""])
      assert.strictEqual(ours.readyState, WebSocket.CLOSED)
    })
  )

  it.effect("a side that does not answer the close is ended after two seconds", () =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* pair
      theirs.pause()
      const scope = yield* Scope.make()
      yield* Scope.provide(WebSocketFrames.make(ours), scope)
      const ending = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* TestClock.adjust("1900 millis")
      assert.isUndefined(ending.pollUnsafe())
      yield* TestClock.adjust("100 millis")
      yield* Fiber.join(ending)
    })
  )
})

describe("pings", () => {
  /** Runs time in steps, and lets the two ends talk in between. */
  const pass = (theirs: WebSocket) =>
    Effect.gen(function* () {
      const heard = theirs.readyState === WebSocket.OPEN ? once(theirs, "ping") : Promise.resolve()
      yield* TestClock.adjust("15 seconds")
      yield* Effect.promise(() => heard.then(() => undefined))
    })

  it.effect("keep a silent connection that answers", () =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* pair
      const frames = yield* WebSocketFrames.make(ours)
      for (let round = 0; round < 8; round++) {
        const answered = once(ours, "pong")
        yield* pass(theirs)
        yield* Effect.promise(() => answered.then(() => undefined))
      }
      theirs.send("still here")
      assert.deepStrictEqual(yield* read(frames, 1), ["still here"])
    })
  )

  it.effect("drop one that left two of them without an answer", () =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* pair
      const frames = yield* WebSocketFrames.make(ours)
      const answered = once(ours, "pong")
      yield* pass(theirs)
      yield* Effect.promise(() => answered.then(() => undefined))
      // Half open: the other side is there for the system and for nobody else.
      theirs.pause()
      yield* TestClock.adjust("15 seconds")
      yield* TestClock.adjust("15 seconds")
      assert.strictEqual(ours.readyState, WebSocket.OPEN)
      yield* TestClock.adjust("15 seconds")
      yield* frames.closed
      assert.deepStrictEqual(yield* read(frames, 1), [])
    })
  )

  it.effect("have the rhythm and the patience that are asked for", () =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* pair
      theirs.pause()
      const frames = yield* WebSocketFrames.make(ours, { ping: "20 seconds", readLiveness: "60 seconds" })
      const gone = yield* Deferred.make<void>()
      yield* Effect.forkChild(Effect.andThen(frames.closed, Deferred.succeed(gone, undefined)))
      yield* TestClock.adjust("79 seconds")
      assert.isFalse(Deferred.isDoneUnsafe(gone))
      yield* TestClock.adjust("1 second")
      yield* Deferred.await(gone)
    })
  )
})
