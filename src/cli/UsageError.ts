/** The command line was wrong, and stderr says how. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"

export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", {}) {
  override readonly [Runtime.errorExitCode] = 2
  override readonly [Runtime.errorReported] = false
}

/** Says it, and fails. */
export const misused = (problem: string): Effect.Effect<never, UsageError> =>
  Effect.andThen(Console.error(`error: ${problem}`), Effect.fail(new UsageError()))
