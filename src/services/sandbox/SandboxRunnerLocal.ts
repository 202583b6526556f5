/**
 * Commands as plain children of this process, in their own process group, under no policy. The end of a command never
 * waits for what it leaves behind: that is ended beside it, and at the latest with the layer.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import { type ChildProcessHandle, ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { childEnvironment, type Environment } from "../../domain/ChildEnvironment.ts"
import { systemText } from "../files/SystemText.ts"
import { CommandFailed, type CommandResult, SandboxRunner, type ShellCommand } from "../SandboxRunner.ts"
import { secretsOf } from "../settings/Secrets.ts"
import { Settings } from "../Settings.ts"
import { findExecutable } from "./Executable.ts"
import { defaultLimits, makeRecorder, type RecorderLimits } from "./OutputRecorder.ts"
import { spawn } from "./Spawn.ts"
import { makeStrays, type Stray } from "./Strays.ts"

/** From TERM to KILL. */
const KILL_AFTER = Duration.millis(500)

/** Milliseconds between two looks whether they have ended. */
const LOOK_EVERY = 50

/** How long output may still come once the command itself has ended. */
const DRAIN_FOR = Duration.seconds(1)

/** How long a killed command may take to be gone; one that the kernel holds is left to it. */
const GONE_AFTER = Duration.seconds(2)

/** The pipe by which the outer shell tells how the command ended, even while something still holds the output. */
const EXIT_PIPE = 3

// Node's pipes are sockets, which /dev/stderr cannot open. A cat between gives the command real pipes, and one pipe for
// both streams keeps their order. It outlives TERM, so that the last words of a dying command still come through, and
// the outer shell outlives both, so that no zombie is left where nobody reaps orphans.
const bashWrapper = `trap : TERM INT HUP
exec 4> >(trap "" TERM INT HUP; exec cat 3>&-)
"$BASH" -c "$1" >&4 2>&1 3>&- 4>&-
code=$?
echo $code >&3
exec 3>&- 4>&-
wait $!
exit $code`
const shWrapper = `exec /bin/sh -c "$1" 3>&- 2>&1`

/** How a shell spells death by a signal. 129 is left out: git means something else by it. */
const signals: ReadonlyMap<number, string> = new Map([
  [130, "SIGINT"],
  [131, "SIGQUIT"],
  [132, "SIGILL"],
  [134, "SIGABRT"],
  [135, "SIGBUS"],
  [136, "SIGFPE"],
  [137, "SIGKILL"],
  [139, "SIGSEGV"],
  [141, "SIGPIPE"],
  [143, "SIGTERM"]
])

const signalIn = (error: PlatformError): string | undefined => /'(SIG[A-Z0-9]+)'/.exec(systemText(error))?.[1]

const notStarted = (text: string): CommandFailed =>
  new CommandFailed({
    message: text.includes("E2BIG")
      ? "The command is too long to be started: write it into a file and run that"
      : `The command could not be started: ${text}`
  })

const explain = (command: ShellCommand, error: PlatformError): CommandFailed =>
  error.reason._tag === "NotFound" && error.reason.method === "access"
    ? new CommandFailed({ message: `The folder ${command.cwd} does not exist: commands run there` })
    : notStarted(systemText(error))

type CommandExit = CommandResult["exit"]

const exitFrom = (code: number): CommandExit => {
  const signal = signals.get(code)
  return signal === undefined ? { _tag: "Code", code } : { _tag: "Signal", signal }
}

/** What the outer shell told, or else how it ended itself. */
const exitOf = (handle: ChildProcessHandle): Effect.Effect<CommandExit> =>
  handle.getOutputFd(EXIT_PIPE).pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.runHead,
    Effect.flatMap(Option.match({ onNone: () => handle.exitCode, onSome: (line) => Effect.succeed(Number(line)) })),
    Effect.map(exitFrom),
    Effect.catch((error) => Effect.succeed<CommandExit>({ _tag: "Signal", signal: signalIn(error) ?? "SIGKILL" }))
  )

const make = Effect.fnUntraced(function* (environment: Environment, limits: RecorderLimits) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const spawner = yield* ChildProcessSpawner
  const settings = yield* Settings
  const strays = makeStrays(fs)
  const running = yield* Effect.acquireRelease(Scope.make("parallel"), Scope.close)
  const bash = yield* Effect.cached(findExecutable(fs, path, environment, "bash"))

  const environmentNow = Effect.map(settings.current, (value) => childEnvironment(environment, secretsOf(value)))

  const start = Effect.fnUntraced(function* (command: ShellCommand) {
    const shell = yield* bash
    const [program, wrapper] = shell === undefined ? ["/bin/sh", shWrapper] : [shell, bashWrapper]
    const options: ChildProcess.CommandOptions = {
      cwd: command.cwd,
      env: yield* environmentNow,
      stdin: "ignore",
      stderr: "ignore",
      additionalFds: { fd3: { type: "output" } },
      killSignal: "SIGTERM",
      forceKillAfter: KILL_AFTER
    }
    return yield* Effect.mapError(
      spawn(spawner, ChildProcess.make(program, ["-c", wrapper, program, command.command], options)),
      (error) => explain(command, error)
    )
  })

  const signal = (targets: ReadonlyArray<Stray>, name: NodeJS.Signals) =>
    Effect.forEach(targets, ({ pid }) => Effect.ignore(Effect.try(() => process.kill(pid, name))), { discard: true })

  const endStrays = Effect.fnUntraced(function* (found: ReadonlyArray<Stray>) {
    yield* signal(found, "SIGTERM")
    let left = found
    for (let waited = 0; left.length > 0 && waited < Duration.toMillis(KILL_AFTER); waited += LOOK_EVERY) {
      yield* Effect.sleep(LOOK_EVERY)
      left = yield* strays.remaining(left)
    }
    yield* signal(left, "SIGKILL")
  })

  /**
   * The command, and an effect that begins to end what its group does not reach. That comes before the group ends, since
   * nobody knows afterwards whose children they were, and goes on beside it, since the group may wait for them. A
   * command that was cut off is looked at once more, for what it started meanwhile.
   */
  const startTraced = Effect.fnUntraced(function* (command: ShellCommand) {
    let leader: number | undefined
    const dropping: Array<Fiber.Fiber<void>> = []
    const dropStrays = Effect.gen(function* () {
      const found = leader === undefined ? [] : yield* strays.find(leader)
      if (found.length === 0) return
      dropping.push(yield* Effect.forkDetach(endStrays(found), { startImmediately: true, uninterruptible: true }))
    })
    yield* Effect.addFinalizer(({ _tag }) =>
      Effect.andThen(_tag === "Failure" ? dropStrays : Effect.void, Fiber.awaitAll(dropping))
    )
    const handle = yield* start(command)
    if (yield* strays.isLeader(handle.pid, process.pid)) leader = handle.pid
    yield* Effect.addFinalizer(() => dropStrays)
    return { handle, dropStrays }
  })

  /** The exit, and whether the time ran out first. */
  const ended = Effect.fnUntraced(function* (
    command: ShellCommand,
    handle: ChildProcessHandle,
    dropStrays: Effect.Effect<void>
  ) {
    const exit = yield* Effect.forkChild(exitOf(handle))
    const inTime = yield* Effect.timeoutOption(Fiber.join(exit), command.timeout)
    if (Option.isSome(inTime)) return { exit: inTime.value, timedOut: false }
    yield* dropStrays
    yield* Effect.forkScoped(Effect.ignore(handle.kill({ killSignal: "SIGTERM", forceKillAfter: KILL_AFTER })))
    const killed = yield* Effect.timeoutOption(Fiber.join(exit), GONE_AFTER)
    return {
      exit: Option.getOrElse(killed, (): CommandExit => ({ _tag: "Signal", signal: "SIGKILL" })),
      timedOut: true
    }
  })

  const execute = Effect.fnUntraced(function* (command: ShellCommand, scope: Scope.Scope) {
    const startedAt = yield* Clock.currentTimeMillis
    const { dropStrays, handle } = yield* startTraced(command)
    const recorder = makeRecorder(fs, path, command, limits, scope)
    const pump = yield* Effect.forkChild(Stream.runForEach(handle.stdout, recorder.add))
    const { exit, timedOut } = yield* ended(command, handle, dropStrays)
    const drained = yield* Effect.timeoutOption(
      Effect.andThen(Fiber.await(pump), Effect.exit(handle.exitCode)),
      DRAIN_FOR
    )
    yield* Fiber.interrupt(pump)
    const endedAt = yield* Clock.currentTimeMillis
    const lingering = Option.isNone(drained) && !timedOut
    const recorded = yield* recorder.finish(
      lingering ? "\n[a process left in the background still held the output; it was ended]\n" : ""
    )
    return { ...recorded, exit, timedOut, duration: Duration.millis(endedAt - startedAt) } satisfies CommandResult
  })

  return SandboxRunner.of({
    run: Effect.fn("SandboxRunner.run")((command: ShellCommand) =>
      Effect.acquireUseRelease(
        Scope.fork(running),
        (scope) => Scope.provide(execute(command, scope), scope),
        // The kill may take seconds; the caller does not wait for it, the layer's scope does.
        (scope, exit) =>
          Effect.forkIn(Scope.close(scope, exit), running, { startImmediately: true, uninterruptible: true })
      )
    )
  })
})

/** `environment` is what commands inherit, such as the process's own; it also says where programs are. */
export const layer = (
  environment: Environment,
  limits: RecorderLimits = defaultLimits
): Layer.Layer<SandboxRunner, never, ChildProcessSpawner | FileSystem.FileSystem | Path.Path | Settings> =>
  Layer.effect(SandboxRunner, make(environment, limits))
