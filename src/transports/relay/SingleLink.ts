/**
 * One link that all clients of a relay share, one after another: `initialize` begins a new connection, and the one before
 * it is left. While the link is gone the connection stays, and what it has to say waits.
 */
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as JsonRpc from "../../domain/wire/JsonRpc.ts"
import type { Frame, FramesShape } from "../Frames.ts"

/** What bounds the frames that wait for the link to come back. */
export interface AwayLimits {
  /** Default 4096. */
  readonly frames: number
  /** Their bytes. Default 16 MiB. */
  readonly bytes: number
}

export const defaultAwayLimits: AwayLimits = { frames: 4096, bytes: 16 * 1024 * 1024 }

/** Frames that were read and not yet taken; then the link is read no further. */
const unread = 256

interface Conversation {
  readonly incoming: Queue.Queue<Frame, Cause.Done>
  readonly over: Deferred.Deferred<void>
}

export interface SingleLink {
  /** Reads a link until it is lost. A second call goes on with the conversation of the first. */
  readonly attach: (frames: FramesShape) => Effect.Effect<void>
}

const isInitialize = (frame: Frame): boolean => {
  if (frame._tag !== "Text" || !frame.text.includes('"initialize"')) return false
  const message = JsonRpc.parse(frame.text)
  return message._tag === "Request" && message.method === "initialize"
}

/** `serve` is given each conversation. What it started goes with the scope. */
export const make = Effect.fnUntraced(function* (
  serve: (frames: FramesShape) => Effect.Effect<void>,
  limits: AwayLimits = defaultAwayLimits
): Effect.fn.Return<SingleLink, never, Scope.Scope> {
  const scope = yield* Effect.scope
  let conversation: Conversation | undefined
  /** The link that can be written to; the frames that wait for it are written first. */
  let link: FramesShape | undefined
  let away: Array<string> = []
  let awayBytes = 0

  const forget = (): void => {
    away = []
    awayBytes = 0
  }

  const leave = ({ incoming, over }: Conversation): void => {
    Queue.endUnsafe(incoming)
    Deferred.doneUnsafe(over, Effect.void)
    if (conversation?.over === over) conversation = undefined
  }

  const keep = (present: Conversation, frames: ReadonlyArray<string>): Effect.Effect<void> => {
    for (const frame of frames) {
      away.push(frame)
      awayBytes += Buffer.byteLength(frame)
    }
    if (away.length <= limits.frames && awayBytes <= limits.bytes) return Effect.void
    const waited = `${away.length} messages of ${awayBytes} bytes`
    forget()
    leave(present)
    return Effect.logWarning(
      `The connection is dropped: ${waited} wait for a relay that is away. Load the session again`
    )
  }

  const framesOf = (own: Conversation): FramesShape => ({
    incoming: Stream.fromQueue(own.incoming),
    send: (frames) =>
      Effect.suspend(() => {
        if (conversation !== own) return Effect.void
        return link === undefined ? keep(own, frames) : link.send(frames)
      }),
    closed: Deferred.await(own.over),
    disconnect: (reason) =>
      Effect.suspend(() => {
        if (conversation !== own) return Effect.void
        leave(own)
        forget()
        // There is one client at the other end, and it cannot be told in another way.
        return link === undefined ? Effect.void : link.disconnect(reason)
      })
  })

  const begin = Effect.fnUntraced(function* () {
    if (conversation !== undefined) leave(conversation)
    forget()
    const own: Conversation = {
      incoming: yield* Queue.bounded<Frame, Cause.Done>(unread),
      over: yield* Deferred.make<void>()
    }
    conversation = own
    yield* Effect.forkIn(
      Effect.ensuring(
        serve(framesOf(own)),
        Effect.sync(() => leave(own))
      ),
      scope
    )
    return own
  })

  const receive = Effect.fnUntraced(function* (frame: Frame) {
    const present = conversation === undefined || isInitialize(frame) ? yield* begin() : conversation
    yield* Effect.raceFirst(Queue.offer(present.incoming, frame), Deferred.await(present.over))
  })

  /** What waited leaves before anything new does. */
  const flush = (frames: FramesShape): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (away.length === 0) {
        link = frames
        return Effect.void
      }
      const waited = away
      forget()
      return Effect.andThen(frames.send(waited), flush(frames))
    })

  const attach = (frames: FramesShape): Effect.Effect<void> => {
    const detach = Effect.sync(() => {
      if (link === frames) link = undefined
    })
    // What is said from the moment of the loss waits, though what was read before may still be on its way in.
    const writing = flush(frames).pipe(
      Effect.andThen(frames.closed),
      Effect.andThen(detach),
      Effect.andThen(Effect.never)
    )
    return Effect.ensuring(Effect.raceFirst(writing, Stream.runForEach(frames.incoming, receive)), detach)
  }

  return { attach }
})
