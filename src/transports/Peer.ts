/**
 * One side of a JSON-RPC connection, which asks and answers at the same time. The reader never waits for a handler, one
 * writer writes, every table and queue is bounded, and each request gets exactly one answer while the pipe holds.
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ErrorCode, type ErrorObject, methodNotFound, shortName, WireError } from "../domain/wire/ErrorCode.ts"
import * as JsonRpc from "../domain/wire/JsonRpc.ts"
import * as RequestId from "../domain/wire/RequestId.ts"
import type { Frame, FramesShape } from "./Frames.ts"
import { defaultLimits, type Limits } from "./Limits.ts"
import * as Outbox from "./Outbox.ts"
import type { IncomingRequest, Routes } from "./Routes.ts"

/** The other side went away before it answered, or was gone already. */
export class ConnectionClosed extends Schema.TaggedError<ConnectionClosed>()("ConnectionClosed", {}) {
  override get message() {
    return "The connection is closed"
  }
}

/** One side of a connection. What comes in before `serve` runs waits in the transport. */
export interface PeerShape {
  /**
   * Asks the other side and waits for its answer. Interruption withdraws the request with `$/cancel_request`, if it was
   * written (CAN-08). Fails with the error of the other side, or our own one when a limit is reached.
   */
  readonly request: (method: string, params: unknown) => Effect.Effect<unknown, WireError | ConnectionClosed>
  /**
   * Tells the other side. What happens while the queue is full is a limit, `whenFull`; nothing happens once the
   * connection is closed.
   */
  readonly notify: (method: string, params: unknown) => Effect.Effect<void>
  /** Waits until half of the queue is free, or the connection is closed. */
  readonly caughtUp: Effect.Effect<void>
  /** Whether no answer can come any more. */
  readonly isClosed: () => boolean
  /**
   * Reads and answers until input ends or output breaks. Then interrupts what is at work, writes what is left, and
   * returns; all of it in bounded time. Interruption ends it in the same way. Run it once.
   */
  readonly serve: (routes: Routes) => Effect.Effect<void>
}

const internalError = () => new WireError({ code: ErrorCode.InternalError, message: "Internal error" })

const cancelled = () => new WireError({ code: ErrorCode.RequestCancelled, message: "Request cancelled" })

/** Defects go to the log, never to the other side. */
const logDefect = (cause: Cause.Cause<unknown>, method: string): Effect.Effect<void> =>
  Cause.hasDies(cause) ? Effect.logError(`The handler of ${shortName(method)} failed`, cause) : Effect.void

const failureOf = (cause: Cause.Cause<WireError>, method: string): Effect.Effect<WireError> =>
  Effect.as(
    logDefect(cause, method),
    Option.getOrElse(Cause.findErrorOption(cause), () => (Cause.hasInterrupts(cause) ? cancelled() : internalError()))
  )

/** A peer over `frames`. Its writer runs until the scope closes; `serve` must run for requests to be answered. */
export const make = Effect.fnUntraced(function* (
  frames: FramesShape,
  options?: Partial<Limits>
): Effect.fn.Return<PeerShape, never, Scope.Scope> {
  const limits: Limits = { ...defaultLimits, ...options }
  const outbox = Outbox.make({ frames: limits.queuedFrames, bytes: limits.queuedBytes })
  const pending = new Map<RequestId.RequestId, Deferred.Deferred<unknown, WireError | ConnectionClosed>>()
  /** Requests without answer, with the fiber that can still be interrupted. */
  const open = new Map<RequestId.RequestId, Fiber.Fiber<unknown, unknown> | undefined>()
  const fibers = new Set<Fiber.Fiber<unknown, unknown>>()
  let asked = 0
  let notified = 0
  let closed = false

  const hangUp = (): void => {
    closed = true
    for (const answer of pending.values()) Deferred.doneUnsafe(answer, Effect.fail(new ConnectionClosed()))
    pending.clear()
  }

  /** Those who read must not wait for one that does not. */
  const giveUp = (reason: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (closed) return Effect.void
      hangUp()
      outbox.end()
      return Effect.andThen(Effect.logWarning(`A client is disconnected: ${reason}`), frames.disconnect(reason))
    })

  const write = (batch: ReadonlyArray<Outbox.Outgoing>): Effect.Effect<void> => {
    const sent = frames.send(batch.map((frame) => frame.text))
    return limits.stall === undefined
      ? sent
      : Effect.timeoutOrElse(sent, { duration: limits.stall, orElse: () => giveUp("it stopped reading") })
  }

  const writer = yield* Effect.forkScoped(outbox.drain(write), { startImmediately: true })

  const tooLong = (frame: Outbox.Outgoing): string | undefined =>
    frame.bytes <= limits.frameBytes
      ? undefined
      : `it is ${frame.bytes} bytes long, and the limit is ${limits.frameBytes} bytes`

  /** An answer that is too long to be sent becomes an error that says so. */
  const fit = (id: RequestId.RequestId, text: string): Outbox.Outgoing => {
    const frame = Outbox.outgoing(text)
    const problem = tooLong(frame)
    return problem === undefined
      ? frame
      : Outbox.outgoing(
          JsonRpc.encodeError(id, { code: ErrorCode.InternalError, message: `The answer was not sent: ${problem}` })
        )
  }

  const refuse = (id: RequestId.RequestId, error: ErrorObject): Effect.Effect<void> =>
    outbox.putSpare(Outbox.outgoing(JsonRpc.encodeError(id, error)), limits.queuedRefusals)

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      hangUp()
      outbox.end()
    })
  )

  const notify = (method: string, params: unknown): Effect.Effect<void> =>
    Effect.suspend(() => {
      const frame = Outbox.outgoing(JsonRpc.encodeNotification(method, params))
      const problem = tooLong(frame)
      if (problem !== undefined) return Effect.logError(`A ${method} was not sent: ${problem}`)
      if (limits.whenFull === "wait") return outbox.put(frame)
      if (outbox.offer(frame)) return Effect.void
      return giveUp("it does not read what it is sent, and too much waits for it")
    })

  const request = Effect.fn("Peer.request")(function* (method: string, params: unknown) {
    if (closed) return yield* new ConnectionClosed()
    if (pending.size >= limits.requestsOut) {
      return yield* new WireError({
        code: ErrorCode.InternalError,
        message: `${pending.size} requests already wait for an answer; ${method} was not sent`
      })
    }
    const id = RequestId.fromCount(asked++)
    const frame = Outbox.outgoing(JsonRpc.encodeRequest(id, method, params))
    const problem = tooLong(frame)
    if (problem !== undefined) {
      return yield* new WireError({ code: ErrorCode.InternalError, message: `${method} was not sent: ${problem}` })
    }
    return yield* Effect.suspend(() => {
      const answer = Deferred.makeUnsafe<unknown, WireError | ConnectionClosed>()
      pending.set(id, answer)
      return Effect.andThen(outbox.put(frame), Deferred.await(answer))
    }).pipe(
      Effect.onInterrupt(() =>
        Effect.sync(() => {
          // Never waits, so that a stuck pipe cannot hold up an interruption; the table of requests bounds it.
          if (pending.delete(id) && !outbox.withdraw(frame)) outbox.push(Outbox.outgoing(JsonRpc.encodeCancel(id)))
        })
      )
    )
  })

  const answer = Effect.fnUntraced(function* ({ id, method, params }: JsonRpc.Request, routes: Routes) {
    const afterwards: Array<Effect.Effect<void>> = []
    const incoming: IncomingRequest = {
      id,
      afterReply: (effect) =>
        Effect.sync(() => {
          afterwards.push(effect)
        })
    }
    yield* Effect.withFiber((fiber) => Effect.sync(() => open.set(id, fiber)))
    const handled = yield* Effect.suspend(() => {
      const route = routes.request(method)
      return route === undefined ? Effect.fail(methodNotFound(method)) : route(params, incoming)
    }).pipe(
      Effect.map((result) => fit(id, JsonRpc.encodeResult(id, result))),
      Effect.annotateLogs("method", shortName(method)),
      Effect.withSpan(shortName(method), { kind: "server", root: true }, { captureStackTrace: false }),
      Effect.interruptible,
      Effect.exit
    )
    open.set(id, undefined)
    const frame = Exit.isSuccess(handled)
      ? handled.value
      : fit(id, JsonRpc.encodeError(id, yield* failureOf(handled.cause, method)))
    yield* outbox.put(frame)
    open.delete(id)
    if (Exit.isFailure(handled)) return
    for (const effect of afterwards) {
      yield* Effect.catchCause(Effect.interruptible(effect), (cause) => logDefect(cause, method))
    }
  })

  const inform = ({ method, params }: JsonRpc.Notification, routes: Routes): Effect.Effect<void> =>
    Effect.suspend(() => routes.notification(method)?.(params) ?? Effect.void).pipe(
      Effect.annotateLogs("method", shortName(method)),
      Effect.catchCause((cause) => logDefect(cause, method)),
      Effect.ensuring(Effect.sync(() => notified--))
    )

  /** Starts work before the next message is read, and does not wait for it. */
  const start = (work: Effect.Effect<void>, uninterruptible: boolean): Effect.Effect<void> => {
    const registered = Effect.withFiber<void>((fiber) => {
      fibers.add(fiber)
      fiber.addObserver(() => fibers.delete(fiber))
      return work
    })
    return Effect.asVoid(Effect.forkDetach(registered, { startImmediately: true, uninterruptible }))
  }

  const receive = (frame: Frame, routes: Routes): Effect.Effect<void> => {
    const bytes = frame._tag === "TooLong" ? frame.bytes : Buffer.byteLength(frame.text)
    if (frame._tag === "TooLong" || bytes > limits.frameBytes) {
      return refuse(RequestId.nullId, {
        code: ErrorCode.InvalidRequest,
        message: `Invalid request: the message is ${bytes} bytes long, and the limit is ${limits.frameBytes} bytes`
      })
    }
    const message = JsonRpc.parseBounded(frame.text)
    switch (message._tag) {
      case "Request": {
        if (open.has(message.id)) {
          return refuse(message.id, {
            code: ErrorCode.InvalidRequest,
            message: "Invalid request: another request with this id still waits for its answer"
          })
        }
        if (open.size >= limits.requestsIn) {
          return refuse(message.id, {
            code: ErrorCode.InternalError,
            message: `${open.size} requests already wait for an answer; send it again when one is answered`
          })
        }
        open.set(message.id, undefined)
        return start(answer(message, routes), true)
      }
      case "Notification": {
        if (notified >= limits.notificationsIn) {
          return Effect.logWarning(`Dropped ${shortName(message.method)}: ${notified} notifications are still at work`)
        }
        notified++
        return start(inform(message, routes), false)
      }
      case "Cancel": {
        return Effect.sync(() => open.get(message.id)?.interruptUnsafe())
      }
      case "Response": {
        const answer = pending.get(message.id)
        if (answer === undefined) return Effect.logDebug("Dropped an answer that no request waits for")
        pending.delete(message.id)
        return Effect.sync(() => Deferred.doneUnsafe(answer, Effect.fromResult(message.outcome)))
      }
      case "Invalid": {
        return refuse(message.id, message)
      }
      case "Ignored": {
        return Effect.logDebug(`Dropped ${message.reason}`)
      }
    }
  }

  /** Waits for fibers, but no longer than `limit`. */
  const within = (limit: Duration.Input, waiting: ReadonlyArray<Fiber.Fiber<unknown, unknown>>) =>
    Effect.timeoutOption(Fiber.awaitAll(waiting), limit)

  const finish = Effect.gen(function* () {
    hangUp()
    const working = [...fibers]
    for (const fiber of working) fiber.interruptUnsafe()
    if (Option.isNone(yield* within(limits.finalizers, working))) {
      yield* Effect.logWarning(`${fibers.size} requests or notifications did not end when interrupted`)
    }
    outbox.end()
    yield* within(limits.flush, [writer])
  })

  const serve = Effect.fnUntraced(function* (routes: Routes) {
    const reading = Stream.runForEachArray(frames.incoming, (chunk) =>
      Effect.forEach(chunk, (frame) => receive(frame, routes), { discard: true })
    )
    const settling = Effect.suspend(() => {
      hangUp()
      return within(
        limits.settle,
        [...open.values()].filter((fiber) => fiber !== undefined)
      )
    })
    yield* Effect.ensuring(Effect.raceFirst(Effect.andThen(reading, settling), frames.closed), finish)
  })

  return { request, notify, caughtUp: outbox.halfEmpty, isClosed: () => closed, serve }
})
