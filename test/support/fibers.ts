/** Counts fibers, to see that nothing is left at work. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

/** Runs an effect that can ask how many of the fibers that were started in it have not ended. */
export const countingFibers = <A, E, R>(use: (live: () => number) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let live = 0
    return Effect.provideService(
      use(() => live),
      Metric.FiberRuntimeMetrics,
      {
        recordFiberStart: () => {
          live += 1
        },
        recordFiberEnd: () => {
          live -= 1
        }
      }
    )
  })
