/**
 * Joins an editor to the leader, and to the next one when that goes away. It copies lines both ways as they are, one side
 * holding the other back; the end of the editor's input ends its turns in order.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ErrorCode } from "../../domain/wire/ErrorCode.ts"
import * as JsonRpc from "../../domain/wire/JsonRpc.ts"
import * as RequestId from "../../domain/wire/RequestId.ts"
import { type Frame, type FramesShape, maxFrameBytes } from "../Frames.ts"
import * as Outbox from "../Outbox.ts"
import type { Line } from "./Dial.ts"
import * as Ledger from "./Ledger.ts"
import type { LeaderFailed } from "./LeaderFailed.ts"
import { mismatchOf } from "./Mismatch.ts"

export interface BridgeOptions {
  readonly editor: FramesShape
  /** Version of this program. */
  readonly version: string
  /** The scope ends the connection. */
  readonly reach: Effect.Effect<Line, LeaderFailed, Scope.Scope>
  /** Called when the editor is done, before what is under way is ended. */
  readonly ending?: Effect.Effect<void>
}

/** What the editor sent and no leader has yet; then the editor waits. */
const waiting = { frames: 256, bytes: 8 * 1024 * 1024 }

/** Requests that came right before the end of input still get their answers (TR-03). */
const settle = "200 millis"

/** How long withdrawn requests may take to be answered, and the leader to let go of what this editor had. */
const withdrawal = "900 millis"
const farewell = "500 millis"

/** How long questions are still answered when there is no leader. */
const lastQuestions = "500 millis"

/** The first try comes after a second, and each further one after twice the time of the one before: five in all. */
const firstWait = "1 second"
const furtherWaits = Schedule.exponential("2 seconds").pipe(Schedule.upTo({ times: 4 }))

const tooLong = (bytes: number): string =>
  JsonRpc.encodeError(RequestId.nullId, {
    code: ErrorCode.InvalidRequest,
    message: `Invalid request: the message is ${bytes} bytes long, and the limit is ${maxFrameBytes} bytes`
  })

/** Waits for something, but no longer than `limit`; also while the bridge is being ended. */
const within = (limit: Duration.Input, waiting: Effect.Effect<unknown>): Effect.Effect<void> =>
  Effect.asVoid(Effect.interruptible(Effect.timeoutOption(waiting, limit)))

/** Serves until the editor is done. Fails when no leader can be reached, or none any more. */
export const run = Effect.fn("Bridge.run")(function* ({
  editor,
  ending = Effect.void,
  reach,
  version
}: BridgeOptions): Effect.fn.Return<void, LeaderFailed, Scope.Scope> {
  const ledger = Ledger.make()
  const inbox = Outbox.make(waiting)
  /** Open while the leader takes lines of the editor. */
  const up = Latch.makeUnsafe(false)
  /** Open while no request waits for its answer. */
  const quiet = Latch.makeUnsafe(true)
  /** Open while a leader that was there is gone. */
  const away = Latch.makeUnsafe(false)
  let line: Line | undefined
  /** Why there will be no leader any more. */
  let lostFor: string | undefined

  const apply = Effect.fnUntraced(function* (...moves: ReadonlyArray<Ledger.Moves>) {
    if (ledger.open() === 0) quiet.openUnsafe()
    else quiet.closeUnsafe()
    if (ledger.isUp()) up.openUnsafe()
    else up.closeUnsafe()
    const toEditor = moves.flatMap((move) => move.toEditor)
    const toLeader = moves.flatMap((move) => move.toLeader)
    for (const { warnings = [] } of moves) yield* Effect.forEach(warnings, (warning) => Effect.logWarning(warning))
    if (toEditor.length > 0) yield* editor.send(toEditor)
    if (toLeader.length > 0 && line !== undefined) yield* line.frames.send(toLeader)
  })

  const takeIn = (frame: Frame): Effect.Effect<void> =>
    frame._tag === "Text" ? inbox.put(Outbox.outgoing(frame.text)) : editor.send([tooLong(frame.bytes)])

  const deliver = (batch: ReadonlyArray<Outbox.Outgoing>): Effect.Effect<void> =>
    Effect.andThen(
      up.await,
      Effect.suspend(() => {
        const reason = lostFor
        if (reason !== undefined) return apply(...batch.map(({ text }) => ledger.refuse(text, reason)))
        // The leader may have gone at the moment at which this fiber was woken.
        return ledger.isUp() ? apply(...batch.map(({ text }) => ledger.fromEditor(text))) : deliver(batch)
      })
    )

  const receive = (chunk: ReadonlyArray<Frame>): Effect.Effect<void> =>
    Effect.suspend(() =>
      apply(...chunk.flatMap((frame) => (frame._tag === "Text" ? [ledger.fromLeader(frame.text)] : [])))
    )

  const leaderGone = Effect.suspend(() => {
    if (line === undefined) return Effect.void
    line = undefined
    away.openUnsafe()
    return apply(ledger.lost())
  })

  /** Ends when the leader goes away. */
  const conversation = Effect.gen(function* () {
    const reached = yield* reach
    line = reached
    away.closeUnsafe()
    yield* apply(ledger.connected())
    const mismatch = mismatchOf(version, reached.reply)
    if (mismatch !== undefined) {
      yield* Effect.logWarning(mismatch.message)
      yield* apply(ledger.tell(mismatch.notification))
    }
    yield* Stream.runForEachArray(reached.frames.incoming, receive)
  }).pipe(Effect.scoped, Effect.ensuring(leaderGone))

  const reconversation = Effect.andThen(
    Effect.logWarning("The leader is gone; another one is looked for"),
    Effect.delay(Effect.retry(conversation, furtherWaits), firstWait)
  )

  const goodbye = Effect.fnUntraced(function* (patient: boolean) {
    yield* ending
    const current = line
    if (current === undefined) return
    if (patient) yield* within(settle, quiet.await)
    yield* apply(ledger.withdraw())
    yield* within(withdrawal, quiet.await)
    yield* current.end
    yield* within(farewell, away.await)
  })

  const reading = yield* Effect.forkScoped(
    Effect.ensuring(
      Stream.runForEach(editor.incoming, takeIn),
      Effect.sync(() => inbox.end())
    )
  )
  const delivering = yield* Effect.forkScoped(inbox.drain(deliver))
  const serving = yield* Effect.forkScoped(Effect.andThen(conversation, Effect.forever(reconversation)))
  const inputEnded = Effect.andThen(Fiber.await(reading), Effect.raceFirst(Fiber.await(delivering), away.await))

  /** Everybody who waits learns that it is in vain. */
  const abandon = Effect.fnUntraced(function* ({ message }: LeaderFailed) {
    lostFor = message
    yield* apply(ledger.abandon(message))
    up.openUnsafe()
    // An editor that has only just started this program has not asked anything yet.
    yield* within(lastQuestions, Fiber.await(reading))
    inbox.end()
    yield* within(lastQuestions, Fiber.await(delivering))
  })

  yield* Effect.raceFirst(Fiber.join(serving), Effect.raceFirst(inputEnded, editor.closed)).pipe(
    Effect.tapError(abandon),
    Effect.onExit((exit) =>
      Exit.isSuccess(exit) || Exit.hasInterrupts(exit) ? goodbye(Exit.isSuccess(exit)) : Effect.void
    )
  )
}, Effect.scoped)
