/**
 * Ties what runs outside of a sandbox to the life of this process, also where that is killed and can end nothing itself;
 * in a sandbox the kernel does it. What runs carries a mark in its environment, by which it is found wherever it went.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Invocation } from "./Mechanism.ts"

/** The pipe that this process holds open for as long as it lives. Nothing is ever written to it. */
export const LEASH_PIPE = 4

const VARIABLE = "SUPER_PI_RUN"

// The guard has no mark of its own, outlives TERM, and holds none of the pipes of what runs; one look may miss what is just
// being started. The shell around waits for it, so that no zombie is left where nobody reaps orphans. It would end the guard
// in the middle of its work, and is therefore ended first.
const SCRIPT = `trap : TERM INT HUP
(
  trap "" TERM INT HUP
  exec 3>&- >/dev/null 2>&1 <&${LEASH_PIPE} ${LEASH_PIPE}<&-
  read -r _
  kill -KILL $$
  for look in 1 2 3; do
    for file in $(grep -lsF "${VARIABLE}=$0" /proc/[0-9]*/environ); do
      pid=\${file#/proc/}
      kill -KILL "\${pid%/environ}"
    done
  done
  kill -KILL 0
) &
guard=$!
exec ${LEASH_PIPE}<&-
${VARIABLE}=$0 "$@"
code=$?
exec >/dev/null 2>&1 3>&-
kill -KILL $guard
wait $guard
exit $code`

/** Told from every other run, of this process or another. */
export const makeMark: Effect.Effect<string> = Effect.map(
  Random.nextIntBetween(36 ** 9, 36 ** 10),
  (chance) => `${process.pid}-${chance.toString(36)}`
)

/** Whether an environment, as `/proc` has it, carries the mark. */
export const carries = (environment: string, mark: string): boolean =>
  `\0${environment}`.includes(`\0${VARIABLE}=${mark}\0`)

/** The invocation on a leash. It has to be started with the pipe, and in a group of its own. */
export const leashed = (mark: string, invocation: Invocation): Invocation => [
  "/bin/sh",
  "-c",
  SCRIPT,
  mark,
  ...invocation
]
