/**
 * Commands as children of this process, in their own process group, confined as their profile says. The end of a command
 * never waits for what it leaves behind: that is ended beside it, and at the latest with the layer.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
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
import { confinedEnvironment } from "../../domain/sandbox/ConfinedEnvironment.ts"
import { systemText } from "../files/SystemText.ts"
import { CommandFailed, type CommandResult, SandboxRunner, type ShellCommand } from "../SandboxRunner.ts"
import { secretsOf } from "../settings/Secrets.ts"
import { Settings } from "../Settings.ts"
import { findExecutable } from "./Executable.ts"
import { makeGuard } from "./Guard.ts"
import { defaultLimits, makeRecorder, type RecorderLimits } from "./OutputRecorder.ts"
import { LEASH_PIPE, leashed, makeMark } from "./Leash.ts"
import { loginEnvironment } from "./LoginEnvironment.ts"
import { makeCages } from "./ProcessCage.ts"
import { exceeded, THREADS_PER_PROCESS } from "./ProcessLimit.ts"
import { makeSandbox } from "./Sandbox.ts"
import { caged, EXIT_PIPE, exitOf, invocationOf, killed } from "./Shell.ts"
import { spawn } from "./Spawn.ts"
import { KILL_AFTER, makeStrays, type Stray } from "./Strays.ts"

/** How long output may still come once the command itself has ended. */
const DRAIN_FOR = Duration.seconds(1)

/** Characters. */
const LAST_WORDS = 2_000

const LINGERED = "\n[a process left in the background still held the output; it was ended]\n"

/** How long a killed command may take to be gone; one that the kernel holds is left to it. */
const GONE_AFTER = Duration.seconds(2)

const notStarted = (text: string): CommandFailed =>
  new CommandFailed({
    message: text.includes("E2BIG")
      ? "The command is too long to be started: write it into a file and run that"
      : `The command could not be started: ${text}`
  })

/** A command, with or without a limit of time. */
type Command = Omit<ShellCommand, "timeout">

const explain = ({ cwd }: Command, error: PlatformError): CommandFailed => {
  if (error.reason._tag === "NotFound" && error.reason.method === "access") {
    return new CommandFailed({ message: `The folder ${cwd} does not exist: commands run there` })
  }
  const text = systemText(error)
  return text.includes("ENOTDIR")
    ? new CommandFailed({ message: `${cwd} is no folder: commands run in one` })
    : notStarted(text.includes("EACCES") ? `${text}; may this user enter ${cwd}?` : text)
}

/** The command itself writes to stdout only: what comes here is of the sandbox or the shell around it. */
const lastWords = <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  bytes.pipe(
    Stream.decodeText,
    Stream.runFold(
      () => "",
      (text, piece) => (text + piece).slice(-LAST_WORDS)
    ),
    Effect.map((words) => (words === "" ? "" : `\n[${words.trim()}]\n`)),
    Effect.orElseSucceed(() => "")
  )

const make = Effect.fnUntraced(function* (environment: Environment, limits: RecorderLimits) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const spawner = yield* ChildProcessSpawner
  const settings = yield* Settings
  const strays = makeStrays(fs)
  const running = yield* Effect.acquireRelease(Scope.make("parallel"), Scope.close)
  const bash = yield* Effect.cached(findExecutable(fs, path, environment, "bash"))

  const cages = yield* makeCages(fs, path, process.pid)
  const sandbox = yield* makeSandbox({
    fs,
    path,
    spawner,
    environment,
    platform: process.platform,
    home: settings.home,
    isRoot: process.getuid?.() === 0
  })
  /** Asked for with the first command; the end of that command does not end the asking. */
  const login = yield* Effect.cached(Effect.forkIn(loginEnvironment(spawner, environment), running))

  const environmentNow = Effect.fnUntraced(function* (isConfined: boolean) {
    const whole = yield* Effect.flatMap(login, Fiber.join)
    return childEnvironment(isConfined ? confinedEnvironment(whole) : whole, secretsOf(yield* settings.current))
  })

  const start = Effect.fnUntraced(function* (command: Command) {
    const { processLimit } = yield* settings.current
    const isConfined = command.confinement.profile !== "off"
    const threads = processLimit * THREADS_PER_PROCESS
    const own = invocationOf(yield* bash, command.command, isConfined ? threads : "unlimited")
    const cage = yield* cages.acquire(threads)
    const { invocation, watched, environment: added } = yield* sandbox.wrap(own, command.confinement, command.cwd)
    const mark = isConfined ? undefined : yield* makeMark
    const [program, ...args] = caged(cage, mark === undefined ? invocation : leashed(mark, invocation))
    const options: ChildProcess.CommandOptions = {
      cwd: command.cwd,
      env: { ...(yield* environmentNow(isConfined)), ...added },
      stdin: "ignore",
      additionalFds: {
        [`fd${EXIT_PIPE}` as const]: { type: "output" },
        ...(mark === undefined ? {} : { [`fd${LEASH_PIPE}` as const]: { type: "input" } })
      },
      killSignal: "SIGTERM",
      forceKillAfter: KILL_AFTER
    }
    const handle = yield* Effect.mapError(spawn(spawner, ChildProcess.make(program, args, options)), (error) =>
      explain(command, error)
    )
    return { handle, mark, guard: makeGuard(fs, watched) }
  })

  /**
   * The command, and an effect that begins to end what its group does not reach. That comes before the group ends, since
   * nobody knows afterwards whose children they were, and goes on beside it, since the group may wait for them. A
   * command that was cut off is looked at once more, for what it started meanwhile.
   */
  const startTraced = Effect.fnUntraced(function* (command: Command) {
    let leader: number | undefined
    let search: Effect.Effect<ReadonlyArray<Stray>> = Effect.succeed([])
    const dropping: Array<Fiber.Fiber<void>> = []
    const dropStrays = Effect.gen(function* () {
      const found = yield* search
      if (found.length === 0) return
      dropping.push(yield* Effect.forkDetach(strays.end(found), { startImmediately: true, uninterruptible: true }))
    })
    yield* Effect.addFinalizer(({ _tag }) =>
      Effect.andThen(_tag === "Failure" ? dropStrays : Effect.void, Fiber.awaitAll(dropping))
    )
    const { guard, handle, mark } = yield* start(command)
    // A command may have ended before anybody looked, and left something all the same.
    if (mark !== undefined) search = strays.find(handle.pid, mark)
    if (yield* strays.isLeader(handle.pid, process.pid)) {
      leader = handle.pid
      search = strays.find(leader)
    }
    yield* Effect.addFinalizer(() => dropStrays)
    return { handle, dropStrays, leader, guard }
  })

  const killAll = (handle: ChildProcessHandle) =>
    Effect.forkScoped(Effect.ignore(handle.kill({ killSignal: "SIGTERM", forceKillAfter: KILL_AFTER })))

  /** How the command ended, and who ended it if it was not itself. */
  const ended = Effect.fnUntraced(function* (
    timeout: Duration.Duration,
    isConfined: boolean,
    { dropStrays, guard, handle, leader }: Effect.Success<ReturnType<typeof startTraced>>
  ) {
    const { processLimit } = yield* settings.current
    const exit = yield* Effect.forkChild(exitOf(handle))
    const isBomb =
      leader === undefined ? Effect.never : exceeded(fs, strays, { leader, isConfined, limit: processLimit })
    const first = yield* Effect.raceAllFirst([
      Effect.map(Fiber.join(exit), (own) => ({ _tag: "Itself", exit: own }) as const),
      Effect.as(Effect.sleep(timeout), { _tag: "Time" } as const),
      Effect.as(isBomb, {
        _tag: "Refused",
        why: `it had ${processLimit} processes at a time, which is the limit`
      } as const),
      Effect.as(guard.watch, { _tag: "Refused", why: "it made again and again what it must not make" } as const)
    ])
    if (first._tag === "Itself") return { exit: first.exit, timedOut: false, note: "" }
    if (first._tag === "Refused") {
      yield* Effect.ignore(handle.kill({ killSignal: "SIGKILL" })).pipe(Effect.timeoutOption(GONE_AFTER))
      yield* dropStrays
      return { exit: killed, timedOut: false, note: `\n[ended: ${first.why}]\n` }
    }
    yield* dropStrays
    yield* killAll(handle)
    const late = yield* Effect.timeoutOption(Fiber.join(exit), GONE_AFTER)
    return { exit: Option.getOrElse(late, () => killed), timedOut: true, note: "" }
  })

  const execute = Effect.fnUntraced(function* (command: Command, timeout: Duration.Duration, scope: Scope.Scope) {
    const startedAt = yield* Clock.currentTimeMillis
    const traced = yield* startTraced(command)
    const { handle } = traced
    const recorder = makeRecorder(fs, path, command, limits, scope)
    // In the scope and not of the caller, who goes on while a command runs in the background.
    const pump = yield* Effect.forkIn(Stream.runForEach(handle.stdout, recorder.add), scope)
    const complaints = yield* Effect.forkIn(lastWords(handle.stderr), scope)
    const result = Effect.gen(function* () {
      const { exit, note, timedOut } = yield* ended(timeout, command.confinement.profile !== "off", traced)
      const drained = yield* Effect.timeoutOption(
        Effect.andThen(Fiber.await(pump), Effect.exit(handle.exitCode)),
        DRAIN_FOR
      )
      yield* Fiber.interrupt(pump)
      const endedAt = yield* Clock.currentTimeMillis
      const lingering = Option.isNone(drained) && !timedOut && note === ""
      const said = lingering ? LINGERED : note + (timedOut ? "" : yield* Fiber.join(complaints))
      const recorded = yield* recorder.finish(said + (yield* traced.guard.finish))
      return { ...recorded, exit, timedOut, duration: Duration.millis(endedAt - startedAt) } satisfies CommandResult
    })
    return { result, kill: Effect.andThen(traced.dropStrays, killAll(handle)) }
  })

  /** The kill may take seconds; the caller does not wait for it, the layer's scope does. */
  const letGo = (scope: Scope.Closeable, exit: Exit.Exit<unknown, unknown>) =>
    Effect.asVoid(Effect.forkIn(Scope.close(scope, exit), running, { startImmediately: true, uninterruptible: true }))

  return SandboxRunner.of({
    run: Effect.fn("SandboxRunner.run")((command: ShellCommand) =>
      Effect.acquireUseRelease(
        Scope.fork(running),
        (scope) =>
          Scope.provide(
            Effect.flatMap(execute(command, command.timeout, scope), ({ result }) => result),
            scope
          ),
        letGo
      )
    ),
    start: Effect.fn("SandboxRunner.start")(function* (command: Command) {
      const scope = yield* Effect.acquireRelease(Scope.fork(running), letGo)
      const started = yield* Scope.provide(execute(command, Duration.infinity, scope), scope)
      const fiber = yield* Effect.forkIn(Scope.provide(started.result, scope), scope)
      const result = Fiber.join(fiber)
      return { result, kill: Effect.asVoid(Effect.andThen(Scope.provide(started.kill, scope), Effect.exit(result))) }
    }),
    status: sandbox.status
  })
})

/** `environment` is what commands inherit, such as the process's own; it also says where programs are. */
export const layer = (
  environment: Environment,
  limits: RecorderLimits = defaultLimits
): Layer.Layer<SandboxRunner, never, ChildProcessSpawner | FileSystem.FileSystem | Path.Path | Settings> =>
  Layer.effect(SandboxRunner, make(environment, limits))
