/**
 * The command of a hook as a process. It is the person's own and runs unconfined, and nothing that it started outlives its
 * end, its time or this process. Nobody waits for what does not want to end.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type { PlatformError } from "effect/PlatformError"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { LEASH_PIPE, leashed, makeMark } from "../sandbox/Leash.ts"
import { spawn } from "../sandbox/Spawn.ts"
import { KILL_AFTER, makeStrays } from "../sandbox/Strays.ts"

/** A line for `/bin/sh`, and what it reads. `cwd` is absolute. */
export interface HookCommand {
  readonly line: string
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly input: string
}

/** How it ended, and what it wrote: of much the beginning and the end. */
export interface HookOutput {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Characters that are kept of the beginning of what a hook writes, and of its end, where an answer is behind a log. */
const LIMIT = 64 * 1024

/** How long output may still come once the hook itself has ended. */
const DRAIN_FOR = Duration.seconds(1)

/** Reads all of it, so that the hook is not held up, and has the ends of what came so far, also of what never ends. */
export const keep = <E>(bytes: Stream.Stream<Uint8Array, E>) => {
  let [head, tail] = ["", ""]
  return {
    text: () => (head + tail).toWellFormed(),
    all: bytes.pipe(
      Stream.decodeText,
      Stream.runForEach((piece) =>
        Effect.sync(() => {
          const room = LIMIT - head.length
          head += piece.slice(0, room)
          tail = (tail + piece.slice(room)).slice(-LIMIT)
        })
      )
    )
  }
}

export const makeHookProcesses = Effect.gen(function* () {
  const spawner = yield* ChildProcessSpawner
  const strays = makeStrays(yield* FileSystem.FileSystem)
  const running = yield* Effect.acquireRelease(Scope.make("parallel"), Scope.close)

  /** What has left the group as well. What was just being started is seen by the second look. */
  const endAll = Effect.fnUntraced(function* (mark: string) {
    for (let look = 0; look < 2; look++) {
      const found = yield* strays.marked(mark)
      if (found.length === 0) return
      yield* strays.end(found)
    }
  })

  const start = Effect.fnUntraced(function* ({ cwd, environment, input, line }: HookCommand) {
    const mark = yield* makeMark
    const [program, ...args] = leashed(mark, ["/bin/sh", "-c", line])
    const command = ChildProcess.make(program, args, {
      cwd,
      env: { ...environment },
      stdin: Stream.encodeText(Stream.succeed(input)),
      additionalFds: { [`fd${LEASH_PIPE}` as const]: { type: "input" } },
      killSignal: "SIGTERM",
      forceKillAfter: KILL_AFTER
    })
    // Before the group is ended, and beside it: what is deaf to TERM gets KILL once, and not twice after each other.
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.tap(restore(spawn(spawner, command)), () => Effect.addFinalizer(() => endAll(mark)))
    )
  })

  const execute = Effect.fnUntraced(function* (command: HookCommand) {
    const handle = yield* start(command)
    const [stdout, stderr] = [keep(handle.stdout), keep(handle.stderr)]
    const reading = yield* Effect.forEach([stdout, stderr], ({ all }) => Effect.forkScoped(all))
    const code = yield* handle.exitCode
    yield* Effect.timeoutOption(Fiber.awaitAll(reading), DRAIN_FOR)
    return { code, stdout: stdout.text(), stderr: stderr.text() } satisfies HookOutput
  })

  const letGo = (scope: Scope.Closeable, exit: Exit.Exit<unknown, unknown>) =>
    Effect.asVoid(Effect.forkIn(Scope.close(scope, exit), running, { startImmediately: true, uninterruptible: true }))

  return {
    /** Without a time limit; interruption ends the hook beside whoever goes on. */
    run: (command: HookCommand): Effect.Effect<HookOutput, PlatformError> =>
      Effect.acquireUseRelease(Scope.fork(running), (scope) => Scope.provide(execute(command), scope), letGo)
  }
})
