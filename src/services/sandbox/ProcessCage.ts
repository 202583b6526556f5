/**
 * A control group in which a command may have only so many processes. The kernel holds the limit, for root as well, whom no
 * other limit of processes binds. Only where this process may make such a group; elsewhere `ProcessLimit` watches alone.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { rmdir } from "node:fs/promises"

/** The file to write one's number into, to be in it from then on. */
export interface Cage {
  readonly entrance: string
}

export interface Cages {
  /** A new one for as long as the scope; undefined where there is none to be had. */
  readonly acquire: (limit: number) => Effect.Effect<Cage | undefined, never, Scope.Scope>
}

/** The first version has a hierarchy of its own for this, the second has all in one. */
const places: ReadonlyArray<{ readonly folder: string; readonly controllers?: string }> = [
  { folder: "/sys/fs/cgroup/pids" },
  { folder: "/sys/fs/cgroup", controllers: "/sys/fs/cgroup/cgroup.subtree_control" }
]

const PREFIX = "super-pi-"

/** How often an empty group is tried to be removed, 20 ms apart: the last process may still be on its way out. */
const TRIES = 50

/** A group is a folder whose files nobody can remove; it goes as a folder, once it is empty of processes. */
const removeGroup = (folder: string) => Effect.tryPromise(() => rmdir(folder))

/** `pid` is that of this process; groups of processes that are gone are removed. */
export const makeCages = (fs: FileSystem.FileSystem, path: Path.Path, pid: number): Effect.Effect<Cages> =>
  Effect.gen(function* () {
    let count = 0

    const isUsable = Effect.fnUntraced(function* ({ controllers }: (typeof places)[number]) {
      if (controllers === undefined) return true
      const text = yield* Effect.orElseSucceed(fs.readFileString(controllers), () => "")
      return text.split(/\s+/).includes("pids")
    })

    const isGone = (owner: string) =>
      Effect.map(
        Effect.orElseSucceed(fs.exists(`/proc/${owner}`), () => true),
        (is) => !is
      )

    const sweep = Effect.fnUntraced(function* (folder: string) {
      const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
      for (const name of names) {
        const owner = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
        if (owner !== undefined && (yield* isGone(owner))) yield* Effect.ignore(removeGroup(path.join(folder, name)))
      }
    })

    const place = yield* Effect.cached(
      Effect.gen(function* () {
        for (const candidate of places) {
          if (!(yield* isUsable(candidate))) continue
          const trial = path.join(candidate.folder, `${PREFIX}${pid}-trial`)
          const made = yield* Effect.option(fs.makeDirectory(trial))
          if (Option.isNone(made)) continue
          const isReal = yield* Effect.orElseSucceed(fs.exists(path.join(trial, "pids.max")), () => false)
          yield* Effect.ignore(removeGroup(trial))
          if (!isReal) continue
          yield* sweep(candidate.folder)
          return candidate.folder
        }
        return undefined
      })
    )

    const remove = (folder: string) =>
      removeGroup(folder).pipe(Effect.retry({ schedule: Schedule.spaced(20), times: TRIES }), Effect.ignore)

    return {
      acquire: Effect.fnUntraced(function* (limit) {
        const parent = yield* place
        if (parent === undefined) return undefined
        count += 1
        const folder = path.join(parent, `${PREFIX}${pid}-${count}`)
        const made = yield* Effect.acquireRelease(Effect.option(fs.makeDirectory(folder)), (is) =>
          Option.isSome(is) ? remove(folder) : Effect.void
        )
        if (Option.isNone(made)) return undefined
        const set = yield* Effect.option(fs.writeFileString(path.join(folder, "pids.max"), String(limit)))
        return Option.isSome(set) ? { entrance: path.join(folder, "cgroup.procs") } : undefined
      })
    }
  })
