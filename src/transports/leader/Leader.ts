/**
 * One agent for every editor of a user: serves each connection of its socket as a connection of its own. It ends when it is
 * told to, or when nobody has been connected and no turn has run for a while.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Socket } from "node:net"
import { Agent, type SessionWishes } from "../../services/Agent.ts"
import * as Connection from "../acp/Connection.ts"
import type { FramesShape } from "../Frames.ts"
import { remoteLimits } from "../Limits.ts"
import * as Stdio from "../Stdio.ts"
import * as Clients from "./Clients.ts"
import {
  compareVersions,
  decodeHello,
  encodeReply,
  type Hello,
  protocol,
  type Reply,
  type Report
} from "./Handshake.ts"
import type { LeaderFailed } from "./LeaderFailed.ts"
import * as Listener from "./Listener.ts"
import * as Lock from "./Lock.ts"
import * as Opening from "./Opening.ts"
import { type Place, secureFolder } from "./Place.ts"

export interface LeaderOptions {
  readonly place: Place
  /** Of the program. */
  readonly version: string
  /** How long it stays when nobody is connected and nothing runs. Absent: until it is told to end. */
  readonly idle: Duration.Input | undefined
  /** Ends it in order when it is done, as `leader stop` does. */
  readonly until?: Effect.Effect<unknown>
  /** Runs when it ends, as soon as no turn is waited for any more. */
  readonly ending?: Effect.Effect<void>
  /** How long turns may go on when it is told to end; then they are cancelled. Default: 5 seconds. */
  readonly grace?: Duration.Input
}

/** How long a leader that ends may take to let go of the place. */
const yielding = "3 seconds"

/** How long cancelled turns may take to end. */
const windingDown = "1 second"

/** How long the answers to cancelled prompts may take to be written. */
const settle = "200 millis"

const wishesOf = ({ alwaysApprove, model }: Hello): SessionWishes => ({
  ...(model === undefined ? {} : { model }),
  ...(alwaysApprove === true ? { mode: "always-approve" } : {})
})

/** Waits for a leader that starts or ends; `false` when one serves. */
const claim = Effect.fnUntraced(function* (place: Place) {
  const { take } = yield* Lock.open(place)
  const attempt = Effect.gen(function* () {
    if (yield* take) return true
    return (yield* Listener.isAnswered(place)) ? false : undefined
  })
  const claimed = yield* attempt.pipe(
    Effect.repeat({ until: (known) => known !== undefined, schedule: Schedule.spaced("50 millis") }),
    Effect.timeoutOption(yielding)
  )
  return Option.getOrElse(claimed, () => false) === true
})

/** Serves until it is told to end or is no longer needed. `false`: another leader serves this place. */
export const serve = Effect.fn("Leader.serve")(function* ({
  ending: over = Effect.void,
  grace = "5 seconds",
  idle,
  place,
  until = Effect.never,
  version
}: LeaderOptions): Effect.fn.Return<boolean, LeaderFailed, Agent | Scope.Scope> {
  const agent = yield* Agent
  yield* secureFolder(place)
  if (!(yield* claim(place))) return false
  const listening = yield* Scope.fork(yield* Effect.scope)
  const sockets = yield* Scope.provide(Listener.listen(place), listening)
  if (sockets === undefined) return false
  const clients = Clients.make()
  const ending = yield* Deferred.make<void>()
  const closing = yield* Deferred.make<void>()
  const startedAt = yield* Clock.currentTimeMillis
  const since = DateTime.formatIso(yield* DateTime.now)
  const end = Deferred.succeed(ending, undefined)

  const report: Effect.Effect<Report> = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    return {
      socket: place.socket,
      since,
      uptimeSeconds: Math.round((now - startedAt) / 1000),
      clients: clients.members(),
      working: yield* agent.working
    }
  })

  const reply = (frames: FramesShape, fields: Partial<Reply> = {}): Effect.Effect<void> =>
    frames.send([encodeReply({ superPiLeader: protocol, version, pid: process.pid, ...fields })])

  /** A newer program may have the place of a leader that nobody else needs. */
  const mayRetire = Effect.fnUntraced(function* (hello: Hello) {
    const isNewer = compareVersions(version, hello.version) < 0
    return isNewer && clients.members().length === 0 && (yield* agent.working).length === 0
  })

  const control = Effect.fnUntraced(function* (frames: FramesShape, hello: Hello) {
    yield* reply(frames, { report: yield* report })
    if (hello.command !== "stop") return
    yield* end
    // Whoever waits for the end waits for this connection.
    return yield* Effect.never
  })

  const admit = Effect.fnUntraced(function* (frames: FramesShape, hello: Hello) {
    if (hello.role === "control") return yield* control(frames, hello)
    if (yield* mayRetire(hello)) {
      yield* Effect.logInfo(`Makes room for version ${hello.version}`)
      yield* reply(frames, { refused: "it makes room for a newer one", retiring: true })
      return yield* end
    }
    if (hello.superPiLeader !== protocol) {
      return yield* reply(frames, {
        refused: `it speaks leader protocol ${protocol} (version ${version}) and this program ${hello.superPiLeader} (version ${hello.version}): run super-pi leader stop, then start this program again`
      })
    }
    const served = yield* clients.join(hello)
    yield* reply(frames)
    const untilClosing = { ...frames, incoming: Stream.interruptWhen(frames.incoming, Deferred.await(closing)) }
    yield* Connection.serve(untilClosing, {
      version,
      ceiling: "always-approve",
      lingers: true,
      wishes: wishesOf(hello),
      limits: { ...remoteLimits, settle }
    }).pipe(Effect.provideService(Agent, served))
  })

  const accept = Effect.fnUntraced(function* (socket: Socket) {
    const opened = yield* Opening.open(yield* Stdio.make(socket, socket))
    if (Option.isNone(opened)) return yield* Effect.logWarning("Somebody connected and said nothing")
    const { first, frames } = opened.value
    if (first === undefined) return
    yield* Effect.matchEffect(decodeHello(first), {
      onSuccess: (hello) => admit(frames, hello),
      onFailure: () =>
        reply(frames, {
          refused: `what it was sent is no greeting that version ${version} understands: use super-pi of the same version`
        })
    })
  }, Effect.scoped)

  const connections = yield* FiberSet.make<void>()
  yield* Effect.forkScoped(
    Effect.forever(Effect.flatMap(Queue.take(sockets), (socket) => FiberSet.run(connections, accept(socket))))
  )

  const unneeded = (limit: Duration.Input): Effect.Effect<void> =>
    Effect.gen(function* () {
      yield* clients.none
      const quiet = Effect.andThen(agent.idle, Effect.sleep(limit))
      const left = yield* Effect.raceFirst(Effect.as(quiet, true), Effect.as(clients.some, false))
      return left && (yield* agent.working).length === 0
    }).pipe(Effect.repeat({ until: (isOver) => isOver }), Effect.asVoid)

  yield* Effect.logInfo(`Serves ${place.socket}`)
  const told = Effect.raceFirst(Deferred.await(ending), until)
  yield* Effect.raceFirst(told, idle === undefined ? Effect.never : unneeded(idle))
  yield* Effect.logInfo("Ends")
  yield* Scope.close(listening, Exit.void)
  yield* Effect.timeoutOption(agent.idle, grace)
  yield* clients.cancelAll
  yield* over
  yield* Effect.timeoutOption(agent.idle, windingDown)
  yield* Deferred.succeed(closing, undefined)
  yield* Effect.timeoutOption(clients.none, windingDown)
  return true
}, Effect.scoped)
