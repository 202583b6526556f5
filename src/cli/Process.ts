/**
 * The life of the process: logs to stderr, signals as interruption, an exit code, and an end that comes within two
 * seconds whatever still hangs.
 */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Runtime from "effect/Runtime"
import type { Lifetime } from "../composition/Lifetime.ts"
import * as Logging from "./Logging.ts"

/** Milliseconds from the wish to end until the process is gone, with room for the exit itself (TR-06). */
const PATIENCE = 1_800

const signals: ReadonlyMap<NodeJS.Signals, number> = new Map([
  ["SIGHUP", 129],
  ["SIGINT", 130],
  ["SIGTERM", 143]
])

/** What Node does in threads: work with files, and the look-up of names. */
const THREADED = /^(FSReq|GetAddrInfo|GetNameInfo)/

/**
 * Ends the process now. Node's own exit waits for its threads, and one that asks a dead mount or name server does not
 * come back; another program in place of this one does not wait, and ends with the same code.
 */
const end = (): void => {
  const waits = process.getActiveResourcesInfo().some((resource) => THREADED.test(resource))
  if (waits) process.execve?.("/bin/sh", ["sh", "-c", `exit ${process.exitCode ?? 0}`], {})
  process.exit()
}

/** From now on the process ends as soon as nothing is left to do, and in any case after the patience has run out. */
export const endSoon = (): void => {
  setTimeout(end, PATIENCE).unref()
}

let heed: (() => void) | undefined
let isImpatient = false

/** From now on a second signal ends the process at once, whatever is still being ended. */
export const heedSecond: Effect.Effect<void> = Effect.sync(() => {
  isImpatient = true
})

/** Waits for a signal. The first one then interrupts nothing; the next one ends the process as ever. */
const signalled: Effect.Effect<void> = Effect.callback((resume) => {
  heed = () => {
    heed = undefined
    resume(Effect.void)
  }
  return Effect.sync(() => {
    heed = undefined
  })
})

/** The life of a server: a signal is its regular end, with code 0 when what still ran has had `grace`. */
export const lifetime = (grace: Duration.Duration): Lifetime => ({
  until: signalled,
  grace,
  ending: Effect.sync(endSoon)
})

/** A signal interrupts the program, whose finalizers run; the code is then 128 and the signal's number. */
const start = Runtime.makeRunMain(({ fiber, teardown }) => {
  let ended: number | undefined
  for (const [signal, code] of signals) {
    process.on(signal, () => {
      if (heed !== undefined) return heed()
      if (ended !== undefined) return isImpatient ? process.exit(ended) : undefined
      ended = code
      process.exitCode = code
      endSoon()
      fiber.interruptUnsafe(fiber.id)
    })
  }
  fiber.addObserver((exit) =>
    teardown(exit, (code) => {
      process.exitCode = ended ?? code
      endSoon()
    })
  )
})

const runtime = Layer.mergeAll(
  Logging.layer,
  // Nobody collects spans here, and each costs a little of the time to the first token.
  Layer.succeed(References.TracerEnabled, false),
  Layer.sync(References.MinimumLogLevel, () => Logging.levelOf(process.env["SUPER_PI_LOG_STDERR"]))
)

/** Runs the program to its end. A failure that was not yet told is logged; a failure's `errorExitCode` is the code. */
export const runMain = <E>(program: Effect.Effect<void, E>): void => {
  const reported = Effect.tapCause(program, (cause) =>
    Cause.hasInterruptsOnly(cause) || !Runtime.getErrorReported(Cause.squash(cause))
      ? Effect.void
      : Effect.logFatal(cause)
  )
  start(Effect.provide(reported, runtime), { disableErrorReporting: true })
}
