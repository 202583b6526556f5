/** A mailbox as the body of a response: server-sent events, one message each (HTTP-04). */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type Mailbox, type Reader } from "./Mailbox.ts"

const encoder = new TextEncoder()

/** JSON has no line breaks, so a message is one line of data. */
export const event = (message: string): Uint8Array => encoder.encode(`data: ${message}\n\n`)

const comment = encoder.encode(":\n\n")

type Batch = readonly [Uint8Array, ...ReadonlyArray<Uint8Array>]

const batchOf = (events: ReadonlyArray<Uint8Array>): Batch | undefined => {
  const [first, ...others] = events
  return first === undefined ? undefined : [first, ...others]
}

/** A pull comes when the last write went out, so what a slow reader has not taken stays in the mailbox. */
const pullFrom = (reader: Reader, keepAlive: Duration.Duration): Effect.Effect<Pull.Pull<Batch>> =>
  Effect.sync(() => {
    let opened = false
    // What is put in the same turn of the event loop leaves in the same write.
    const quiet = Effect.andThen(Effect.timeoutOption(reader.ready, keepAlive), Effect.yieldNow)
    const next = Effect.suspend((): Pull.Pull<Batch> => {
      const batch = batchOf(reader.take())
      if (batch !== undefined) return Effect.succeed(batch)
      return reader.isOver() ? Cause.done() : Effect.succeed([comment])
    })
    return Effect.suspend((): Pull.Pull<Batch> => {
      if (!opened) {
        // The head of the response leaves with the first bytes of its body, and the client waits for it.
        opened = true
        return Effect.succeed([comment])
      }
      const batch = batchOf(reader.take())
      return batch === undefined ? Effect.flatMap(quiet, () => next) : Effect.succeed(batch)
    })
  })

/** `undefined`: the mailbox has a reader already. The scope is the request: its end lets the next reader in. */
export const respond = Effect.fnUntraced(function* (
  mailbox: Mailbox,
  keepAlive: Duration.Duration
): Effect.fn.Return<HttpServerResponse.HttpServerResponse | undefined, never, Scope.Scope> {
  return yield* Effect.withFiber<HttpServerResponse.HttpServerResponse | undefined, never, Scope.Scope>((fiber) => {
    // The same fiber writes the response; a write that a stuck reader holds up ends only with it.
    const reader = mailbox.open(() => fiber.interruptUnsafe())
    if (reader === undefined) return Effect.undefined
    return Effect.as(
      Effect.addFinalizer(() => Effect.sync(reader.release)),
      HttpServerResponse.stream(Stream.fromPull(pullFrom(reader, keepAlive)), {
        contentType: "text/event-stream",
        headers: { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" }
      })
    )
  })
})
