/** Logs far more than a pipe holds, then says on stdout how many bytes still wait for a reader of stderr. */
import * as Effect from "effect/Effect"
import * as Logging from "../../src/cli/Logging.ts"

const line = "x".repeat(1_000)

Effect.runFork(
  Effect.logError(line).pipe(
    Effect.repeat({ times: 10_000 }),
    Effect.provide(Logging.layer),
    Effect.andThen(Effect.sync(() => process.stdout.write(`${process.stderr.writableLength}\n`, () => process.exit())))
  )
)
