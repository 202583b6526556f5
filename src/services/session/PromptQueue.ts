/** The prompts of one session: one runs, a bounded number waits, and each gets exactly one outcome. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberHandle from "effect/FiberHandle"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { Busy, type StoreFailed } from "../../domain/Failure.ts"
import type { Outcome } from "../../domain/Turn.ts"

/** What becomes of a prompt. */
export interface Work {
  /** Who asked for it. */
  readonly owner: object
  readonly run: Effect.Effect<Outcome>
  /** Brings the turn to its end, however `run` ended. It is not interrupted. */
  readonly finish: (exit: Exit.Exit<Outcome>) => Effect.Effect<Outcome, StoreFailed>
}

export interface PromptQueue {
  /** Interruption cancels what it stands for, whether it waits or runs. */
  readonly prompt: (work: Work) => Effect.Effect<Outcome, Busy | StoreFailed>
  /** Cancels what runs. Does not wait for its end. */
  readonly cancel: Effect.Effect<void>
  /** Cancels what runs and what waits. Does not wait for their end. */
  readonly cancelAll: Effect.Effect<void>
  /** Cancels what the owner asked for, whether it waits or runs, and returns when each has its outcome. */
  readonly cancelOf: (owner: object) => Effect.Effect<void>
  /** Whether one runs or waits. */
  readonly isBusy: () => boolean
  /** Refuses further prompts, cancels what runs and what waits, and returns when each has its outcome. */
  readonly stop: Effect.Effect<void>
}

/** Prompts that may wait behind a running one. */
const MAX_WAITING = 16

const cancelled: Outcome = { stopReason: "cancelled" }

interface Open {
  readonly owner: object
  /** Done when it must not begin any more. */
  readonly withdrawn: Deferred.Deferred<Outcome>
  readonly ended: Deferred.Deferred<void>
  running: boolean
}

/** The scope is the session's. */
export const make: Effect.Effect<PromptQueue, never, Scope.Scope> = Effect.gen(function* () {
  const turns = yield* Semaphore.make(1)
  const running = yield* FiberHandle.make<Outcome>()
  const open = new Set<Open>()
  let stopped = false

  const run = ({ finish, run }: Work, prompt: Open) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        if (stopped || Deferred.isDoneUnsafe(prompt.withdrawn)) return cancelled
        prompt.running = true
        const fiber = yield* FiberHandle.run(running, run)
        yield* Effect.exit(restore(Fiber.await(fiber)))
        // Still at work only if the request was interrupted.
        fiber.interruptUnsafe()
        return yield* finish(yield* Fiber.await(fiber))
      })
    )

  const cancel = Effect.sync(() => {
    const fiber = FiberHandle.getUnsafe(running)
    if (fiber._tag === "Some") fiber.value.interruptUnsafe()
  })

  /** What waits is answered at once, whoever's prompt runs. */
  const withdraw = (prompts: Iterable<Open>) =>
    Effect.suspend(() => {
      let isRunning = false
      for (const prompt of prompts) {
        if (prompt.running) isRunning = true
        else Deferred.doneUnsafe(prompt.withdrawn, Effect.succeed(cancelled))
      }
      return isRunning ? cancel : Effect.void
    })

  return {
    prompt: (work) =>
      Effect.suspend((): Effect.Effect<Outcome, Busy | StoreFailed> => {
        if (open.size > MAX_WAITING) {
          return Effect.fail(
            new Busy({ message: `${MAX_WAITING} prompts already wait in this session; wait for one to end, or cancel` })
          )
        }
        const prompt: Open = {
          owner: work.owner,
          withdrawn: Deferred.makeUnsafe(),
          ended: Deferred.makeUnsafe(),
          running: false
        }
        open.add(prompt)
        return Effect.raceFirst(turns.withPermits(1)(run(work, prompt)), Deferred.await(prompt.withdrawn)).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              open.delete(prompt)
              Deferred.doneUnsafe(prompt.ended, Effect.void)
            })
          )
        )
      }),
    cancel,
    cancelAll: Effect.suspend(() => withdraw(open)),
    cancelOf: (owner) =>
      Effect.suspend(() => {
        const prompts = [...open].filter((prompt) => prompt.owner === owner)
        const ended = Effect.forEach(prompts, ({ ended }) => Deferred.await(ended), { discard: true })
        // Who waits for these prompts goes on first.
        return withdraw(prompts).pipe(Effect.andThen(ended), Effect.andThen(Effect.yieldNow))
      }),
    isBusy: () => open.size > 0,
    stop: Effect.suspend(() => {
      stopped = true
      return Effect.andThen(cancel, turns.withPermits(1)(Effect.void))
    })
  }
})
