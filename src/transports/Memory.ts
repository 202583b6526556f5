/** Two transports linked in memory, for tests and for applications that embed the agent. */
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { Frame, FramesShape } from "./Frames.ts"

/** Frames that wait in one direction; then `send` waits. */
const capacity = 256

/** One end of the pair. What it sends comes in at the other end, in order. */
export interface MemoryEnd extends FramesShape {
  /** Sends nothing more: the other end's `incoming` ends once it has read what was sent. It can still answer. */
  readonly end: Effect.Effect<void>
  /** Goes away: as `end`, and what the other end sends from now on is lost, which completes its `closed`. */
  readonly close: Effect.Effect<void>
}

interface Direction {
  readonly queue: Queue.Queue<Frame, Cause.Done>
  readonly closed: Deferred.Deferred<void>
}

const direction: Effect.Effect<Direction> = Effect.all({
  queue: Queue.bounded<Frame, Cause.Done>(capacity),
  closed: Deferred.make<void>()
})

const endOf = (outgoing: Direction, incoming: Direction): MemoryEnd => {
  const end = Effect.andThen(Queue.end(outgoing.queue), Deferred.succeed(outgoing.closed, undefined))
  const close = Effect.asVoid(
    Effect.all([
      end,
      // Ended first, so that both sides see an end and not an interruption.
      Queue.end(incoming.queue),
      Queue.shutdown(incoming.queue),
      Deferred.succeed(incoming.closed, undefined)
    ])
  )
  return {
    incoming: Stream.fromQueue(incoming.queue),
    send: (frames) =>
      Effect.asVoid(
        Queue.offerAll(
          outgoing.queue,
          frames.map((text) => ({ _tag: "Text", text }))
        )
      ),
    closed: Deferred.await(outgoing.closed),
    end: Effect.asVoid(end),
    close,
    disconnect: () => close
  }
}

/** A fresh pair: `agent` is for the peer that serves, `editor` for the one that drives it. */
export const pair: Effect.Effect<{ readonly agent: MemoryEnd; readonly editor: MemoryEnd }> = Effect.map(
  Effect.all([direction, direction]),
  ([toAgent, toEditor]) => ({ agent: endOf(toEditor, toAgent), editor: endOf(toAgent, toEditor) })
)
