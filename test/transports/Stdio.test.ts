import { client, ndJsonStream, RequestError } from "@agentclientprotocol/sdk"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { assert, describe, it } from "@effect/vitest"
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PassThrough, Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import * as Peer from "../../src/transports/Peer.ts"
import * as Stdio from "../../src/transports/Stdio.ts"
import { call, cancel, failure, messageOf, note, result, routes } from "../support/Link.ts"

const fixture = fileURLToPath(new URL("../support/stdioPeer.ts", import.meta.url))

const collect = (frames: { readonly incoming: Stream.Stream<{ readonly _tag: string; readonly text?: string }> }) =>
  Effect.map(Stream.runCollect(frames.incoming), (all) => [...all].map((frame) => frame.text ?? frame._tag))

describe("reading", () => {
  it.live("TR-03, F01: any chunks, CRLF, blank lines, a mark at the start, no LF at the end", () =>
    Effect.gen(function* () {
      const input = new PassThrough()
      const frames = yield* Stdio.make(input, new PassThrough())
      const bytes = Buffer.from('\ufeff{"a":"漢字🎉"}\r\n\n  \n[1]\n\n"last"')
      const reading = yield* Effect.forkChild(collect(frames))
      for (const byte of bytes) {
        input.write(Uint8Array.of(byte))
        yield* Effect.yieldNow
      }
      input.end()
      assert.deepStrictEqual(yield* Fiber.join(reading), ['{"a":"漢字🎉"}', "[1]", '"last"'])
    })
  )

  it.live("ends when the input breaks, or had ended before", () =>
    Effect.gen(function* () {
      const input = new PassThrough()
      const frames = yield* Stdio.make(input, new PassThrough())
      const reading = yield* Effect.forkChild(collect(frames))
      input.write("a\nhalf a li")
      yield* Effect.yieldNow
      input.destroy(new Error("reset"))
      assert.include(yield* Fiber.join(reading), "a")
      const empty = yield* Stdio.make(Readable.from([]), new PassThrough())
      assert.deepStrictEqual(yield* collect(empty), [])
      assert.deepStrictEqual(yield* collect(empty), [])
    })
  )

  it.live("the scope destroys the input and leaves the output; late errors of both are nobody's crash", () =>
    Effect.gen(function* () {
      const [input, output] = [new PassThrough(), new PassThrough()]
      const scope = yield* Scope.make()
      const frames = yield* Scope.provide(Stdio.make(input, output), scope)
      const reading = yield* Effect.forkChild(collect(frames), { startImmediately: true })
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(input.destroyed)
      assert.isFalse(output.destroyed)
      assert.deepStrictEqual(yield* Fiber.join(reading), [])
      input.emit("error", new Error("late"))
      output.emit("error", new Error("late"))
    })
  )
})

describe("writing", () => {
  it.live("TR-01, TR-05: each batch is one write of whole lines, and waits until it is taken", () =>
    Effect.gen(function* () {
      const chunks: Array<string> = []
      let taken: (() => void) | undefined
      const output = new Writable({
        write(chunk: Buffer, _, done) {
          chunks.push(chunk.toString("utf8"))
          taken = done
        }
      })
      const frames = yield* Stdio.make(new PassThrough(), output)
      const sending = yield* Effect.forkChild(frames.send(['{"a":"漢"}', "[]"]), { startImmediately: true })
      yield* Effect.yieldNow
      assert.isUndefined(sending.pollUnsafe())
      assert.deepStrictEqual(chunks, ['{"a":"漢"}\n[]\n'])
      taken?.()
      yield* Fiber.join(sending)
    })
  )

  it.live("TR-08: a destroyed output completes closed, lets a waiting send go, and later ones", () =>
    Effect.gen(function* () {
      const output = new Writable({ write: () => {} })
      const frames = yield* Stdio.make(new PassThrough(), output)
      const sending = yield* Effect.forkChild(frames.send(["a"]), { startImmediately: true })
      output.destroy()
      yield* frames.closed
      yield* Fiber.join(sending)
      yield* frames.send(["b"])
    })
  )

  it.live("TR-08: a real pipe whose reader has left is EPIPE, which completes closed", () =>
    Effect.gen(function* () {
      const child = spawn("true", { stdio: ["pipe", "ignore", "ignore"] })
      yield* Effect.callback<void>((resume) => void child.on("exit", () => resume(Effect.void)))
      const frames = yield* Stdio.make(new PassThrough(), child.stdin)
      while (!child.stdin.destroyed) yield* frames.send(["x".repeat(100_000)])
      yield* frames.closed
      yield* frames.send(["nobody reads"])
    })
  )
})

describe("the official client", () => {
  it.live("talks to a peer: requests both ways, notifications, errors, cancellation", () =>
    Effect.gen(function* () {
      const [toAgent, toClient] = [new PassThrough(), new PassThrough()]
      const peer = yield* Peer.make(yield* Stdio.make(toAgent, toClient))
      const notified = yield* Deferred.make<unknown>()
      const interrupted = yield* Deferred.make<void>()
      const serving = yield* Effect.forkChild(
        peer.serve(
          routes(
            {
              "_test/echo": Effect.succeed,
              "_test/ask": (params) => Effect.orDie(peer.request("_test/answer", params)),
              "_test/hang": () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined))
            },
            { "_test/note": (params) => Deferred.succeed(notified, params) }
          )
        )
      )
      const raw = (value: unknown) => value
      const app = client({ name: "oracle" }).onRequest("_test/answer", raw, ({ params }) => ({ answered: params }))
      const stream = ndJsonStream(Writable.toWeb(toAgent), Readable.toWeb(toClient) as ReadableStream<Uint8Array>)
      const seen = yield* Effect.promise(() =>
        app.connectWith(stream, async (agent) => {
          const text = "漢字🎉\ud800".repeat(10)
          const echoed = await agent.request("_test/echo", { text })
          const asked = await Promise.all([1, 2, 3].map((n) => agent.request("_test/ask", { n })))
          const unknown = await agent.request("_test/none", {}).catch((error: unknown) => error)
          await agent.notify("_test/note", { n: 1 })
          const stop = new AbortController()
          const hanging = agent.request("_test/hang", {}, { cancellationSignal: stop.signal })
          stop.abort()
          const cancelled = await hanging.catch((error: unknown) => error)
          return { text, echoed, asked, unknown, cancelled }
        })
      )
      assert.deepStrictEqual(seen.echoed, { text: seen.text })
      assert.deepStrictEqual(seen.asked, [{ answered: { n: 1 } }, { answered: { n: 2 } }, { answered: { n: 3 } }])
      assert.instanceOf(seen.unknown, RequestError)
      assert.strictEqual(seen.unknown.code, -32601)
      assert.instanceOf(seen.cancelled, RequestError)
      assert.strictEqual(seen.cancelled.code, -32800)
      yield* Deferred.await(interrupted)
      assert.deepStrictEqual(yield* Deferred.await(notified), { n: 1 })
      toAgent.end()
      yield* Fiber.join(serving)
    })
  )
})

describe("a process of its own", () => {
  const start = (stdout: "pipe" | number = "pipe") =>
    Effect.acquireRelease(
      Effect.sync(() => spawn(process.execPath, [fixture], { stdio: ["pipe", stdout, "inherit"] })),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )

  const ended = (child: ChildProcess) =>
    Effect.callback<number | NodeJS.Signals | null>((resume) => {
      if (child.exitCode !== null) return resume(Effect.succeed(child.exitCode))
      child.on("exit", (code, signal) => resume(Effect.succeed(code ?? signal)))
    })

  /** The lines of an output, one at a time. */
  const lines = Effect.fnUntraced(function* (output: Readable) {
    const queue = yield* Queue.unbounded<string, Cause.Done>()
    yield* NodeStream.fromReadable<Uint8Array>({ evaluate: () => output }).pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.runForEach((line) => Queue.offer(queue, line)),
      Effect.orDie,
      Queue.into(queue),
      Effect.forkScoped
    )
    const next = Effect.map(Effect.orDie(Queue.take(queue)), (line): unknown => JSON.parse(line))
    return { next }
  })

  const write = (child: ChildProcess, ...messages: ReadonlyArray<unknown>) =>
    Effect.sync(() => child.stdin?.write(messages.map((message) => `${JSON.stringify(message)}\n`).join("")))

  it.live("TR-07, F11: the end of input ends it at once with 0, after the last words", () =>
    Effect.gen(function* () {
      const child = yield* start()
      const { next } = yield* lines(child.stdout!)
      yield* write(child, call(1, "turn"), call(2, "echo", { a: 1 }))
      assert.deepStrictEqual(yield* next, result(2, { a: 1 }))
      child.stdin!.end(JSON.stringify(call(3, "echo", {})))
      assert.deepStrictEqual(yield* next, result(3, {}))
      assert.deepStrictEqual(yield* next, note("tool failed", {}))
      assert.deepStrictEqual(yield* next, failure(1, -32800, "Request cancelled"))
      assert.strictEqual(yield* ended(child), 0)
    })
  )

  it.live(
    "TR-04, F02: a line of 20 MiB returns as it came; one over 32 MiB is refused, in bounded memory",
    () =>
      Effect.gen(function* () {
        const child = yield* start()
        const { next } = yield* lines(child.stdout!)
        yield* write(child, call(1, "memory"))
        const before = yield* next
        const text = "漢".repeat(7_000_000)
        yield* write(child, call(2, "echo", { text }))
        assert.deepStrictEqual(yield* next, result(2, { text }))
        const chunk = "y".repeat(1024 * 1024)
        for (let count = 0; count < 200; count++) {
          yield* Effect.callback<void>((resume) => void child.stdin!.write(chunk, () => resume(Effect.void)))
        }
        yield* write(child, "")
        const message = `Invalid request: the message is ${200 * 1024 * 1024 + 2} bytes long, and the limit is 33554432 bytes`
        assert.deepStrictEqual(yield* next, failure(null, -32600, message))
        yield* write(child, call(3, "memory"))
        const after = yield* next
        const grown = Number(messageOf(after).result) - Number(messageOf(before).result)
        assert.isAtMost(grown, 400 * 1024 * 1024)
      }),
    20_000
  )

  it.live("TR-05: a reader that stops holds the writer, not the reader's own messages, nor memory", () =>
    Effect.gen(function* () {
      const child = yield* start()
      child.stdout!.pause()
      yield* write(child, call(1, "flood"), call(2, "memory"))
      yield* Effect.callback<void>((resume) => void child.stdout!.once("readable", () => resume(Effect.void)))
      yield* write(child, cancel(1), call(3, "memory"))
      const { next } = yield* lines(child.stdout!)
      const answers: Array<ReturnType<typeof messageOf>> = []
      let updates = 0
      while (answers.length < 3) {
        const message = messageOf(yield* next)
        if (message.method === "update") updates++
        else answers.push(message)
      }
      assert.isAtMost(updates, 1500)
      assert.sameMembers(
        answers.map(({ id }) => id),
        [1, 2, 3]
      )
      assert.strictEqual(answers.find(({ id }) => id === 1)?.error?.code, -32800)
      for (const { result } of answers) assert.isAtMost(Number(result ?? 0), 200 * 1024 * 1024)
    })
  )

  it.live("TR-08: a reader that leaves ends it with 0, though a turn would go on for ever", () =>
    Effect.gen(function* () {
      const child = yield* start()
      yield* write(child, call(1, "flood"))
      yield* Effect.callback<void>((resume) => void child.stdout!.once("readable", () => resume(Effect.void)))
      child.stdout!.destroy()
      assert.strictEqual(yield* ended(child), 0)
    })
  )

  it.live("writes all of it to a file, too", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "super-pi-stdio-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const path = join(folder, "out.jsonl")
      const file = openSync(path, "w")
      const child = yield* start(file)
      closeSync(file)
      yield* write(child, call(1, "count", 5000))
      child.stdin!.end()
      assert.strictEqual(yield* ended(child), 0)
      const said = readFileSync(path, "utf8").trimEnd().split("\n")
      assert.strictEqual(said.length, 5001)
      assert.deepStrictEqual(JSON.parse(said[4999] ?? ""), note("update", { at: 4999 }))
    })
  )
})
