/**
 * Processes of a command that its process group does not reach: `timeout` and job control give them groups of their own,
 * `setsid` a session. Found where the system has `/proc`. What has left both the session and the tree of the command
 * made itself a daemon, and is nobody's to end.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"

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
  /** Those of the command whose shell, the leader, has this number. */
  readonly find: (leader: number) => Effect.Effect<ReadonlyArray<Stray>>
  /** How many processes the command has, its shell included. */
  readonly count: (leader: number) => Effect.Effect<number>
  /** Those that still run. */
  readonly remaining: (strays: ReadonlyArray<Stray>) => Effect.Effect<ReadonlyArray<Stray>>
}

export const makeStrays = (fs: FileSystem.FileSystem): Strays => {
  const look = (pid: number): Effect.Effect<Process | undefined> =>
    fs.readFileString(`/proc/${pid}/stat`).pipe(
      Effect.map((stat) => parse(pid, stat)),
      Effect.orElseSucceed(() => undefined)
    )

  const all = Effect.gen(function* () {
    const names = yield* Effect.option(fs.readDirectory("/proc"))
    const pids = Option.getOrElse(names, () => []).filter((name) => /^\d+$/.test(name))
    const found = yield* Effect.forEach(pids, (pid) => look(Number(pid)), { concurrency: CONCURRENT })
    return found.filter((process) => process !== undefined)
  })

  return {
    isLeader: (pid, parent) =>
      Effect.map(look(pid), (found) => found?.parent === parent && found.group === pid && found.session === pid),
    find: (leader) =>
      Effect.map(all, (processes) => belonging(processes, leader).filter(({ group }) => group !== leader)),
    count: (leader) => Effect.map(all, (processes) => belonging(processes, leader).length),
    remaining: (strays) =>
      Effect.filter(
        strays,
        ({ pid, startedAt }) => Effect.map(look(pid), (now) => now?.ended === false && now.startedAt === startedAt),
        { concurrency: CONCURRENT }
      )
  }
}
