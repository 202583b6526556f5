/** A peer whose other side is a test that writes and reads raw messages. */
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Queue from "effect/Queue"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { FramesShape } from "../../src/transports/Frames.ts"
import type { Limits } from "../../src/transports/Limits.ts"
import * as Memory from "../../src/transports/Memory.ts"
import * as Peer from "../../src/transports/Peer.ts"
import type { NotificationRoute, RequestRoute, Routes } from "../../src/transports/Routes.ts"

export const routes = (
  requests: Readonly<Record<string, RequestRoute>>,
  notifications: Readonly<Record<string, NotificationRoute>> = {}
): Routes => ({
  request: (method) => (Object.hasOwn(requests, method) ? requests[method] : undefined),
  notification: (method) => (Object.hasOwn(notifications, method) ? notifications[method] : undefined)
})

/** Answers `ping` beside what the test serves: its answer proves that nothing else was said before. */
const withPing = ({ notification, request }: Routes): Routes => ({
  notification,
  request: (method) => (method === "ping" ? () => Effect.succeed("pong") : request(method))
})

const textOf = (message: unknown): string => (typeof message === "string" ? message : JSON.stringify(message))

/** A peer that serves in the background; `next` is the parsed message that it says next. */
export const link = Effect.fnUntraced(function* (
  served: Routes | ((peer: Peer.PeerShape) => Routes),
  limits?: Partial<Limits>
) {
  const { agent, editor } = yield* Memory.pair
  const said = yield* Queue.unbounded<string, Cause.Done>()
  yield* Effect.forkScoped(
    Queue.into(
      Stream.runForEach(editor.incoming, (frame) => Queue.offer(said, frame._tag === "Text" ? frame.text : frame._tag)),
      said
    )
  )
  const peer = yield* Peer.make(agent, limits)
  const serving = yield* Effect.forkScoped(peer.serve(withPing(typeof served === "function" ? served(peer) : served)), {
    startImmediately: true
  })
  const send = (...messages: ReadonlyArray<unknown>) => editor.send(messages.map(textOf))
  const nextText = Effect.orDie(Queue.take(said))
  const next = Effect.map(nextText, (text): unknown => JSON.parse(text))
  return {
    peer,
    serving,
    agent,
    editor,
    /** Writes messages; a string is written as it is. */
    send,
    next,
    nextText,
    /** All that is said until the peer says no more. */
    rest: Effect.map(Queue.collect(said), (texts) => texts.map((text): unknown => JSON.parse(text))),
    /** What was said before the answer to a request that is sent now. */
    quiet: Effect.gen(function* () {
      yield* send({ jsonrpc: "2.0", id: "ping", method: "ping" })
      const before: Array<unknown> = []
      for (;;) {
        const text = yield* nextText
        if (text === '{"jsonrpc":"2.0","id":"ping","result":"pong"}') return before
        before.push(JSON.parse(text))
      }
    })
  }
})

/** The parts of a message that tests look at. */
const Message = Schema.Struct({
  id: Schema.optionalKey(Schema.Unknown),
  method: Schema.optionalKey(Schema.String),
  params: Schema.optionalKey(Schema.Unknown),
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Int, message: Schema.String }))
})

export const messageOf = Schema.decodeUnknownSync(Message)

/** Lets other fibers run until something is so. */
export const until = Effect.fnUntraced(function* (holds: () => boolean) {
  while (!holds()) yield* Effect.yieldNow
})

export const call = (id: unknown, method: string, params?: unknown) => ({ jsonrpc: "2.0", id, method, params })
export const note = (method: string, params?: unknown) => ({ jsonrpc: "2.0", method, params })
export const result = (id: unknown, value: unknown) => ({ jsonrpc: "2.0", id, result: value })
export const failure = (id: unknown, code: number, message: string) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message }
})
export const cancel = (requestId: unknown) => note("$/cancel_request", { requestId })

/** The error that a request ends with. */
export const failed = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<E> =>
  Effect.matchEffect(effect, { onFailure: Effect.succeed, onSuccess: () => Effect.die("it did not fail") })

/** Frames whose output a test blocks, breaks and inspects. */
export const slowFrames = Effect.gen(function* () {
  const input = yield* Queue.unbounded<string, Cause.Done>()
  const written: Array<string> = []
  const stuck = yield* Deferred.make<void>()
  const gone = yield* Deferred.make<void>()
  const reasons: Array<string> = []
  let blocked: (() => void) | undefined
  let open = false
  const shape: FramesShape = {
    incoming: Stream.map(Stream.fromQueue(input), (text) => ({ _tag: "Text", text })),
    send: (frames) =>
      Effect.callback((resume) => {
        const write = () => {
          written.push(...frames)
          resume(Effect.void)
        }
        if (open) write()
        else {
          blocked = write
          Deferred.doneUnsafe(stuck, Effect.void)
        }
        return Effect.sync(() => {
          blocked = undefined
        })
      }),
    closed: Deferred.await(gone),
    disconnect: (reason) => {
      reasons.push(reason)
      return Effect.asVoid(Deferred.succeed(gone, undefined))
    }
  }
  return {
    shape,
    /** Why it was disconnected. */
    reasons,
    written,
    send: (...messages: ReadonlyArray<unknown>) => Queue.offerAll(input, messages.map(textOf)),
    end: Queue.end(input),
    /** The first write has begun, and waits. */
    stuck: Deferred.await(stuck),
    /** Lets writes through from now on. */
    unblock: Effect.sync(() => {
      open = true
      blocked?.()
    })
  }
})

/** Collects what is logged, from the level of debug on, instead of printing it. */
export const captureLogs = () => {
  const lines: Array<string> = []
  const logger = Logger.map(Logger.formatLogFmt, (line) => {
    lines.push(line)
  })
  const layer = Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "Debug"))
  return { lines, layer }
}
