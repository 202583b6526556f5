/** Starts programs: whatever the system refuses is a failure, also where Node throws. */
import * as Effect from "effect/Effect"
import { badArgument, type PlatformError } from "effect/PlatformError"
import type * as ChildProcess from "effect/process/ChildProcess"
import type { ChildProcessHandle, ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"

/** Node throws for arguments that are too long, and for the name of a program that is empty. */
export const spawn = (
  spawner: ChildProcessSpawner["Service"],
  command: ChildProcess.Command
): Effect.Effect<ChildProcessHandle, PlatformError, Scope.Scope> =>
  Effect.catchDefect(spawner.spawn(command), (cause) =>
    Effect.fail(badArgument({ module: "ChildProcess", method: "spawn", description: String(cause), cause }))
  )
