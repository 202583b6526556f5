/** Commands that run on while the model does other things. They belong to their session and end with it. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Output from "../../../domain/text/Output.ts"
import { settle, shown } from "../../../domain/text/Terminal.ts"
import type { CommandFailed, CommandResult, SandboxRunnerShape, ShellCommand } from "../../SandboxRunner.ts"
import type { Workspace } from "../../Workspace.ts"

type BackgroundCommand = Omit<ShellCommand, "timeout" | "onOutput">

/** The end of a command that could not be followed to it: it was ended, and how it went is not known. */
interface Lost {
  readonly lost: true
  readonly duration: Duration.Duration
}

/** A command as it stands. `age` is in milliseconds. */
export interface BackgroundStatus {
  readonly id: string
  readonly command: string
  readonly age: number
  /** Absent while it runs. */
  readonly result: CommandResult | Lost | undefined
}

/** `output` is what came since it was read last; of much of it the beginning and the end. */
export interface BackgroundOutput extends BackgroundStatus {
  readonly output: string
}

export interface BackgroundCommands {
  /** The id by which it is known; undefined when so many run that no more may. */
  readonly start: (workspace: Workspace, command: BackgroundCommand) => Effect.Effect<string | undefined, CommandFailed>
  /** Oldest first. */
  readonly list: (workspace: Workspace) => Effect.Effect<ReadonlyArray<BackgroundStatus>>
  /** Waits until it has ended, for at most that time; undefined for an unknown id. */
  readonly read: (
    workspace: Workspace,
    id: string,
    wait: Duration.Duration
  ) => Effect.Effect<BackgroundOutput | undefined>
  /** Ends it and waits until it has ended. */
  readonly stop: (workspace: Workspace, id: string) => Effect.Effect<BackgroundOutput | undefined>
}

/** Commands of one session at a time, and those that have ended whose output can still be read. */
export const MOST_RUNNING = 32
const MOST_ENDED = 32

/** How long one that was killed may take to be gone. */
const GONE_AFTER = Duration.seconds(5)

interface Job {
  readonly id: string
  readonly command: string
  readonly spill: string
  readonly startedAt: number
  readonly kill: Effect.Effect<void>
  readonly ended: Deferred.Deferred<void>
  readonly unread: Unread
  result: CommandResult | Lost | undefined
}

/** Output that nobody read yet. */
interface Unread {
  readonly add: (text: string) => void
  readonly take: () => Output.Output
}

/** A line that has not ended yet is told as it stands, and again only when it shows something else. */
const makeUnread = (): Unread => {
  let kept = Output.empty()
  let open = ""
  let told = ""
  return {
    add: (text) => {
      const [settled, rest] = settle(open, text)
      kept = Output.push(kept, settled)
      open = rest
    },
    take: () => {
      const line = shown(open)
      const taken = line === told && kept.length === 0 ? kept : Output.push(kept, line)
      told = line
      kept = Output.empty()
      return taken
    }
  }
}

interface Jobs {
  readonly byId: Map<string, Job>
  /** Started so far, which makes the ids. */
  count: number
  /** Asked for, and neither refused nor ended. */
  running: number
}

export const makeBackgroundCommands = (runner: SandboxRunnerShape): BackgroundCommands => {
  const sessions = new WeakMap<Scope.Scope, Jobs>()

  const jobsOf = ({ lifetime }: Workspace): Jobs => {
    const known = sessions.get(lifetime) ?? { byId: new Map<string, Job>(), count: 0, running: 0 }
    sessions.set(lifetime, known)
    return known
  }

  const forget = ({ byId }: Jobs): void => {
    const ended = [...byId.values()].filter(({ result }) => result !== undefined)
    for (const { id } of ended.slice(0, Math.max(ended.length - MOST_ENDED, 0))) byId.delete(id)
  }

  const statusOf = Effect.fnUntraced(function* ({ command, id, result, startedAt }: Job) {
    const now = yield* Clock.currentTimeMillis
    const age = result === undefined ? now - startedAt : Duration.toMillis(result.duration)
    return { id, command, age, result } satisfies BackgroundStatus
  })

  const take = Effect.fnUntraced(function* (job: Job) {
    const status = yield* statusOf(job)
    const unread = job.unread.take()
    // What does not fit here did not fit there, so the file is there while the command runs.
    const file = status.result === undefined || "lost" in status.result ? job.spill : status.result.spilled
    return { ...status, output: Output.render(unread, file) } satisfies BackgroundOutput
  })

  /** Runs it in a scope of its own within the session's, which ends with it. */
  const launch = Effect.fnUntraced(function* (
    jobs: Jobs,
    { lifetime }: Workspace,
    command: BackgroundCommand,
    restore: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  ) {
    const scope = yield* Scope.fork(lifetime)
    const unread = makeUnread()
    const onOutput = (text: string) => Effect.sync(() => unread.add(text))
    const { kill, result } = yield* restore(Scope.provide(runner.start({ ...command, onOutput }), scope)).pipe(
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
    jobs.count += 1
    const job: Job = {
      id: `bg${jobs.count}`,
      command: command.command,
      spill: command.spill,
      startedAt: yield* Clock.currentTimeMillis,
      kill,
      ended: Deferred.makeUnsafe(),
      unread,
      result: undefined
    }
    jobs.byId.set(job.id, job)
    const lost = Effect.fnUntraced(function* (cause: Cause.Cause<never>) {
      if (!Cause.hasInterruptsOnly(cause)) yield* Effect.logError("A background command could not be followed", cause)
      return { lost: true, duration: Duration.millis((yield* Clock.currentTimeMillis) - job.startedAt) } satisfies Lost
    })
    // Who waits for it is told whatever becomes of it, and its place is free.
    const finish = Effect.onExit(
      result,
      Effect.fnUntraced(function* (exit) {
        job.result = Exit.isSuccess(exit) ? exit.value : yield* lost(exit.cause)
        jobs.running -= 1
        forget(jobs)
        yield* Deferred.succeed(job.ended, undefined)
        yield* Scope.close(scope, Exit.void)
      })
    )
    yield* Effect.forkIn(finish, lifetime)
    return job.id
  })

  return {
    start: Effect.fnUntraced(function* (workspace, command) {
      const jobs = jobsOf(workspace)
      if (jobs.running >= MOST_RUNNING) return undefined
      jobs.running += 1
      // One that was started is known by its id, whatever interrupts.
      return yield* Effect.uninterruptibleMask((restore) => launch(jobs, workspace, command, restore)).pipe(
        Effect.onError(() => Effect.sync(() => void (jobs.running -= 1)))
      )
    }),
    list: (workspace) => Effect.forEach([...jobsOf(workspace).byId.values()], statusOf),
    read: Effect.fnUntraced(function* (workspace, id, wait) {
      const job = jobsOf(workspace).byId.get(id)
      if (job === undefined) return undefined
      if (job.result === undefined) yield* Effect.timeoutOption(Deferred.await(job.ended), wait)
      return yield* take(job)
    }),
    stop: Effect.fnUntraced(function* (workspace, id) {
      const job = jobsOf(workspace).byId.get(id)
      if (job === undefined) return undefined
      if (job.result === undefined) {
        yield* job.kill
        yield* Effect.timeoutOption(Deferred.await(job.ended), GONE_AFTER)
      }
      return yield* take(job)
    })
  }
}
