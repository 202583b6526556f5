/**
 * Processes of a command that its process group does not reach: `timeout` and job control give them groups of their own,
 * `setsid` a session. Found where the system has `/proc`. What has left both the session and the tree of the command
 * made itself a daemon, and is nobody's to end.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import { carries } from "./Leash.ts"

/** From TERM to KILL. */
export const KILL_AFTER = Duration.millis(500)

/** Milliseconds between two looks whether they have ended. */
const LOOK_EVERY = 50

/** A process that is not taken for a later one with its number. */
export interface Stray {
  readonly pid: number
  readonly startedAt: string
}

interface Process extends Stray {
  readonly ended: boolean
  readonly parent: number
  readonly group: number
  readonly session: number
}

const CONCURRENT = 16

/** The name, in parentheses, may hold anything. */
const parse = (pid: number, stat: string): Process | undefined => {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, ...numbers] = fields
  const [parent, group, session] = numbers.map(Number)
  if (parent === undefined || group === undefined || session === undefined) return undefined
  return { pid, ended: state === "Z", parent, group, session, startedAt: fields[19] ?? "" }
}

/** What has not ended of the command whose shell is the leader: its tree and its session. */
const belonging = (processes: ReadonlyArray<Process>, leader: number): ReadonlyArray<Process> => {
  const children = new Map<number, Array<number>>()
  for (const { parent, pid } of processes) children.set(parent, [...(children.get(parent) ?? []), pid])
  // Added to while it is walked: children, and theirs.
  const family = new Set([leader])
  for (const pid of family) for (const child of children.get(pid) ?? []) family.add(child)
  return processes.filter(({ ended, pid, session }) => !ended && (session === leader || family.has(pid)))
}

export interface Strays {
  /** Whether the process is a child of `parent` that leads a group and a session, so that `find` means what it finds. */
  readonly isLeader: (pid: number, parent: number) => Effect.Effect<boolean>
  /**
   * Those of the command whose shell, the leader, has this number. With a mark only those that carry it, for a leader that
   * nobody can tell any more from another process of that number.
   */
  readonly find: (leader: number, mark?: string) => Effect.Effect<ReadonlyArray<Stray>>
  /** How many processes the command has, its shell included. */
  readonly count: (leader: number) => Effect.Effect<number>
  /** Those with this mark in their environment, wherever they went. */
  readonly marked: (mark: string) => Effect.Effect<ReadonlyArray<Stray>>
  /** TERM, then KILL for those that still run. */
  readonly end: (strays: ReadonlyArray<Stray>) => Effect.Effect<void>
}

const signal = (targets: ReadonlyArray<Stray>, name: NodeJS.Signals) =>
  Effect.forEach(targets, ({ pid }) => Effect.ignore(Effect.try(() => process.kill(pid, name))), { discard: true })

export const makeStrays = (fs: FileSystem.FileSystem): Strays => {
  const look = (pid: number): Effect.Effect<Process | undefined> =>
    fs.readFileString(`/proc/${pid}/stat`).pipe(
      Effect.map((stat) => parse(pid, stat)),
      Effect.orElseSucceed(() => undefined)
    )

  const numbers = Effect.map(Effect.option(fs.readDirectory("/proc")), (names) =>
    Option.getOrElse(names, () => [])
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  )

  const lookAt = Effect.fnUntraced(function* (pids: ReadonlyArray<number>) {
    const found = yield* Effect.forEach(pids, look, { concurrency: CONCURRENT })
    return found.filter((process) => process !== undefined)
  })

  const all = Effect.flatMap(numbers, lookAt)

  /** Another user's cannot be read, and is none of ours. */
  const isMarked = (pid: number, mark: string) =>
    fs.readFileString(`/proc/${pid}/environ`).pipe(
      Effect.map((environment) => carries(environment, mark)),
      Effect.orElseSucceed(() => false)
    )

  const remaining = (strays: ReadonlyArray<Stray>) =>
    Effect.filter(
      strays,
      ({ pid, startedAt }) => Effect.map(look(pid), (now) => now?.ended === false && now.startedAt === startedAt),
      { concurrency: CONCURRENT }
    )

  return {
    isLeader: (pid, parent) =>
      Effect.map(look(pid), (found) => found?.parent === parent && found.group === pid && found.session === pid),
    find: Effect.fnUntraced(function* (leader, mark) {
      const found = belonging(yield* all, leader).filter(({ group }) => group !== leader)
      if (mark === undefined) return found
      return yield* Effect.filter(found, ({ pid }) => isMarked(pid, mark), { concurrency: CONCURRENT })
    }),
    count: (leader) => Effect.map(all, (processes) => belonging(processes, leader).length),
    marked: Effect.fnUntraced(function* (mark) {
      const pids = yield* Effect.filter(yield* numbers, (pid) => isMarked(pid, mark), { concurrency: CONCURRENT })
      return (yield* lookAt(pids)).filter(({ ended }) => !ended)
    }),
    end: Effect.fnUntraced(function* (strays) {
      yield* signal(strays, "SIGTERM")
      let left = strays
      for (let waited = 0; left.length > 0 && waited < Duration.toMillis(KILL_AFTER); waited += LOOK_EVERY) {
        yield* Effect.sleep(LOOK_EVERY)
        left = yield* remaining(left)
      }
      yield* signal(left, "SIGKILL")
    })
  }
}
