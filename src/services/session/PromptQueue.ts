/** The prompts of one session: one runs, a bounded number waits, and each gets exactly one outcome. */
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
  /** Whether one runs or waits. */
  readonly isBusy: () => boolean
  /** Refuses further prompts, cancels what runs and what waits, and returns when each has its outcome. */
  readonly stop: Effect.Effect<void>
}

/** Prompts that may wait behind a running one. */
const MAX_WAITING = 16

const cancelled: Outcome = { stopReason: "cancelled" }

/** The scope is the session's. */
export const make: Effect.Effect<PromptQueue, never, Scope.Scope> = Effect.gen(function* () {
  const turns = yield* Semaphore.make(1)
  const running = yield* FiberHandle.make<Outcome>()
  let open = 0
  let stopped = false
  /** Rises with each cancel of all: what was asked for before it does not begin. */
  let round = 0

  const run = ({ finish, run }: Work, asked: number) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        if (stopped || asked !== round) return cancelled
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

  return {
    prompt: (work) =>
      Effect.suspend((): Effect.Effect<Outcome, Busy | StoreFailed> => {
        if (open > MAX_WAITING) {
          return Effect.fail(
            new Busy({ message: `${MAX_WAITING} prompts already wait in this session; wait for one to end, or cancel` })
          )
        }
        open += 1
        return Effect.ensuring(
          turns.withPermits(1)(run(work, round)),
          Effect.sync(() => {
            open -= 1
          })
        )
      }),
    cancel,
    cancelAll: Effect.suspend(() => {
      round += 1
      return cancel
    }),
    isBusy: () => open > 0,
    stop: Effect.suspend(() => {
      stopped = true
      return Effect.andThen(cancel, turns.withPermits(1)(Effect.void))
    })
  }
})
