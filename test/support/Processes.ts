/** Other processes, as the system tells of them. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { readFileSync } from "node:fs"

/** Whether it still runs; one that only waits for its parent to notice its end does not. */
export const isAlive = (pid: number): boolean => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ")
  } catch {
    return false
  }
}

const children = (pid: number): ReadonlyArray<number> => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** All that a process started and that still runs, and what that started. */
export const descendants = (pid: number): ReadonlyArray<number> =>
  children(pid).flatMap((child) => [...(isAlive(child) ? [child] : []), ...descendants(child)])

/** Ends with the scope what a test keeps alive, and what the agent does not end when it is killed. */
export const endLast = (...pids: ReadonlyArray<number>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const pid of pids) if (pid > 0 && isAlive(pid)) process.kill(pid, "SIGKILL")
    })
  )

/** Waits for something that nothing tells of. */
export const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (holds() ? Effect.void : Effect.andThen(Effect.sleep("10 millis"), until(holds))))

/** Waits until none of them runs, for at most two seconds. */
export const gone = (...pids: ReadonlyArray<number>): Effect.Effect<void> =>
  Effect.timeoutOrElse(
    until(() => !pids.some(isAlive)),
    {
      duration: "2 seconds",
      orElse: () => Effect.die(new Error(`still alive: ${pids.filter(isAlive).join(", ")}`))
    }
  )

/** What a process has in memory, in MiB. */
export const residentMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024
