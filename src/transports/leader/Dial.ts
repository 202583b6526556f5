/** Connects to the leader of a place, if there is one. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { connect as connectSocket, type Socket } from "node:net"
import type { FramesShape } from "../Frames.ts"
import * as Stdio from "../Stdio.ts"
import { decodeReply, encodeHello, type Hello, type Reply } from "./Handshake.ts"
import { LeaderFailed } from "./LeaderFailed.ts"
import * as Opening from "./Opening.ts"
import { codeOf, type Place, pidOf } from "./Place.ts"

/** A connection that the leader has answered. */
export interface Line {
  readonly frames: FramesShape
  readonly reply: Reply
  /** Says that nothing more will be sent. What the leader still has to say can be read. */
  readonly end: Effect.Effect<void>
  /** Waits until the leader has ended the connection. */
  readonly gone: Effect.Effect<void>
}

/** Nobody is there: no socket, or one that a leader left behind. The others are seldom and pass: too many at once. */
const absent = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "EAGAIN"])

/** None when there is no leader. */
const connect = (place: Place): Effect.Effect<Option.Option<Socket>, LeaderFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Option.Option<Socket>, LeaderFailed>((resume) => {
      const socket = connectSocket({ path: place.address, allowHalfOpen: true })
      socket.once("connect", () => resume(Effect.succeedSome(socket)))
      socket.on("error", (error) =>
        resume(
          absent.has(codeOf(error))
            ? Effect.succeedNone
            : Effect.fail(
                new LeaderFailed({
                  message: `The leader's socket ${place.socket} cannot be used (${codeOf(error)}): remove it, or choose another with --leader-socket`
                })
              )
        )
      )
      return Effect.sync(() => socket.destroy())
    }),
    Option.match({ onNone: () => Effect.void, onSome: (socket) => Effect.sync(() => socket.destroy()) })
  )

const silent = Effect.fnUntraced(function* (place: Place) {
  const pid = yield* pidOf(place)
  const remedy = pid === undefined ? `choose another place with --leader-socket` : `end it with kill -9 ${pid}`
  return yield* new LeaderFailed({ message: `The leader at ${place.socket} does not answer: ${remedy}` })
})

/** Connects and greets. None when there is no leader, or when it went away at that moment. The scope ends the connection. */
export const dial = Effect.fn("Dial.dial")(function* (
  place: Place,
  hello: Hello
): Effect.fn.Return<Option.Option<Line>, LeaderFailed, Scope.Scope> {
  const connected = yield* connect(place)
  if (Option.isNone(connected)) return Option.none()
  const socket = connected.value
  const frames = yield* Stdio.make(socket, socket)
  yield* frames.send([encodeHello(hello)])
  const opened = yield* Opening.open(frames)
  if (Option.isNone(opened)) return yield* silent(place)
  const { first, frames: rest } = opened.value
  if (first === undefined) return Option.none()
  const reply = yield* Effect.mapError(
    decodeReply(first),
    () =>
      new LeaderFailed({
        message: `What answers at ${place.socket} is no leader that version ${hello.version} understands: end it, or choose another place with --leader-socket`
      })
  )
  return Option.some({
    frames: rest,
    reply,
    end: Effect.sync(() => socket.end()),
    gone: Stream.runDrain(rest.incoming)
  })
})
