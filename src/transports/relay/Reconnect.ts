/** How long an agent waits before it calls its relay again. */
import * as Schedule from "effect/Schedule"

/**
 * 2 seconds, doubling to 60, each a fifth shorter or longer by chance, so that the agents of a relay that comes back do not
 * all call at once. It never gives up, and begins anew with each run.
 */
export const reconnect = Schedule.jittered(
  Schedule.min([Schedule.exponential("2 seconds"), Schedule.spaced("60 seconds")])
)
