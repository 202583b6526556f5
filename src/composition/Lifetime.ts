/** The life of a server: from its start until it is told to end, and how it ends. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { Agent } from "../services/Agent.ts"

export interface Lifetime {
  /** Done when the server is to end. Told also while it still starts. */
  readonly until: Effect.Effect<unknown>
  /** How long turns that run then may go on. */
  readonly grace: Duration.Duration
  /** Runs when nothing is waited for any more: what is left is ended in order, but soon. */
  readonly ending: Effect.Effect<void>
}

const sessions = (count: number): string => (count === 1 ? "1 session is" : `${count} sessions are`)

/**
 * Keeps what `start` opens until then, and closes it: nobody comes in any more, and those who watch are told. Turns may
 * finish within the grace; those that do not are cancelled when the agent of the environment ends.
 */
export const live = <E, R>(
  start: Effect.Effect<void, E, R>,
  { ending, grace, until }: Lifetime
): Effect.Effect<void, E, Exclude<R, Scope.Scope> | Agent> =>
  Effect.gen(function* () {
    const agent = yield* Agent
    yield* Effect.scoped(
      Effect.gen(function* () {
        const told = yield* Effect.forkScoped(until, { startImmediately: true })
        yield* start
        yield* Fiber.join(told)
      })
    )
    const working = yield* agent.working
    if (working.length > 0) {
      yield* Effect.logWarning(`${sessions(working.length)} at work: waiting up to ${Duration.format(grace)} for that`)
      if (Option.isNone(yield* Effect.timeoutOption(agent.idle, grace))) {
        const left = yield* agent.working
        yield* Effect.logWarning(`${sessions(left.length)} still at work: that is cancelled now`)
      }
    }
    yield* ending
  })
