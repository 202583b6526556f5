/**
 * Keeps an agent reachable through its relay: there is always one spare link there, and a new one as soon as a client
 * took it. What was lost is called again, later and later, without end.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import type * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { FramesShape } from "../Frames.ts"
import { type Link, LinkFailed } from "./Link.ts"
import { reconnect } from "./Reconnect.ts"
import * as SingleLink from "./SingleLink.ts"

type Token = Redacted.Redacted<string> | undefined

/** What is done with links, and who is told. */
export interface LinksOptions {
  /** The token of this moment. */
  readonly token: Effect.Effect<Token, LinkFailed>
  /** Calls the relay. */
  readonly dial: (token: Token) => Effect.Effect<Link, LinkFailed, Scope.Scope>
  /** Serves one client until its connection ends. */
  readonly serve: (frames: FramesShape) => Effect.Effect<void>
  /** Tells whoever runs the agent. */
  readonly tell: (line: string) => Effect.Effect<void>
  /** Clients at once; the next one finds no link until another one is gone. Default 256. */
  readonly clients?: number
}

const lost = new LinkFailed({ problem: "lost", message: "The link to the relay is lost" })

/** How long a seat is taken at least: a relay that joins and drops clients without end must not be called without end. */
const shortest = "5 seconds"

/** Runs until it is interrupted, which ends every link. */
export const keep = Effect.fn("Relay.keep")(function* (
  options: LinksOptions
): Effect.fn.Return<never, never, Scope.Scope> {
  const { clients = 256, serve, tell, token } = options
  const seats = yield* Semaphore.make(clients)
  const single = yield* SingleLink.make(serve)
  /** Whether the last that was told is that there is no link. */
  let troubled = true

  const told = reconnect.pipe(
    Schedule.setInputType<LinkFailed>(),
    Schedule.tap(({ duration, input }) => {
      troubled = true
      return tell(`${input.message}. The next try is in ${Math.round(Duration.toSeconds(duration))} s`)
    })
  )

  /** A token that is refused is read again: whoever hands out tokens may have changed it in the meantime. */
  const dial = Effect.gen(function* () {
    const known = yield* token
    return yield* Effect.catchIf(
      options.dial(known),
      ({ problem }) => problem === "unauthorized",
      (refused) =>
        Effect.flatMap(token, (fresh) => (Equal.equals(fresh, known) ? Effect.fail(refused) : options.dial(fresh)))
    )
  })

  /** A link that was lost is the first failure of those that follow. */
  const connect = (problem: LinkFailed | undefined) =>
    Effect.suspend(() => {
      let earlier = problem
      return Effect.suspend(() => {
        const failed = earlier
        earlier = undefined
        return failed === undefined ? dial : Effect.fail(failed)
      }).pipe(Effect.retry(told), Effect.orDie)
    })

  /** One link from the call to its end; `next` is done as soon as another one is wanted, with what went wrong. */
  const hold = Effect.fnUntraced(function* (
    problem: LinkFailed | undefined,
    next: Deferred.Deferred<LinkFailed | undefined>
  ) {
    const link = yield* connect(problem)
    if (troubled) yield* tell("Connected to the relay")
    troubled = false
    if (!link.pairs) return yield* single.attach(link.frames)
    const isTaken = yield* Effect.raceFirst(Effect.as(link.paired, true), Effect.as(link.frames.closed, false))
    if (!isTaken) return
    yield* Deferred.succeed(next, undefined)
    yield* serve(link.frames)
  }, Effect.scoped)

  let problem: LinkFailed | undefined
  for (;;) {
    yield* Semaphore.take(seats, 1)
    const next = yield* Deferred.make<LinkFailed | undefined>()
    const held = Effect.ensuring(hold(problem, next), Deferred.succeed(next, lost))
    const seated = Effect.andThen(Deferred.await(next), Effect.sleep(shortest))
    const both = Effect.all([held, seated], { concurrency: "unbounded", discard: true })
    yield* Effect.forkChild(Effect.ensuring(both, Semaphore.release(seats, 1)))
    problem = yield* Deferred.await(next)
  }
}, Effect.scoped)
