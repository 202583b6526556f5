/** Ends a command that starts processes without end before the machine suffers. Works where the system has `/proc`. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type { Strays } from "./Strays.ts"

const LOOK_EVERY = Duration.millis(25)

/**
 * The kernel's own limit, where it has one, counts threads. It is this many times the limit of processes, since it must not
 * stop a program of many threads; it keeps the machine alive until the look that ends the command.
 */
export const THREADS_PER_PROCESS = 4

const THREADS = /\/(\d+) /

/** One small read tells whether the whole system has grown; only then it is worth asking whose processes those are. */
const threads = (fs: FileSystem.FileSystem) =>
  fs.readFileString("/proc/loadavg").pipe(
    Effect.map((text) => Number(THREADS.exec(text)?.[1] ?? 0)),
    Effect.orElseSucceed(() => undefined)
  )

/** Processes in a sandbox with numbers of its own: one look into its `/proc`, however many there are. */
const inside = Effect.fnUntraced(
  function* (fs: FileSystem.FileSystem, leader: number) {
    const children = yield* fs.readFileString(`/proc/${leader}/task/${leader}/children`)
    const names = yield* fs.readDirectory(`/proc/${Number.parseInt(children)}/root/proc`)
    return names.filter((name) => /^\d+$/.test(name)).length
  },
  Effect.orElseSucceed(() => 0)
)

export interface Watched {
  /** The process that leads the command's group. */
  readonly leader: number
  readonly isConfined: boolean
  readonly limit: number
}

/** Returns once the command has as many processes as it may; never where that cannot be told. */
export const exceeded = Effect.fnUntraced(function* (
  fs: FileSystem.FileSystem,
  strays: Strays,
  { isConfined, leader, limit }: Watched
): Effect.fn.Return<void> {
  const before = yield* threads(fs)
  if (before === undefined) return yield* Effect.never
  while (true) {
    yield* Effect.sleep(LOOK_EVERY)
    const now = yield* threads(fs)
    if (now === undefined || now - before < limit) continue
    if ((isConfined ? yield* inside(fs, leader) : yield* strays.count(leader)) >= limit) return
  }
})
