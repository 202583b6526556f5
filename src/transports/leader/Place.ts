/** Where a leader is reached: a socket in a folder that is open to its user alone, and what lies beside it. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { lstatSync, mkdirSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { LeaderFailed } from "./LeaderFailed.ts"

/** Bytes of a path that every Unix takes for a socket; Linux takes four more. */
const longestPath = 103

export interface Place {
  /** As people write it; absolute. */
  readonly socket: string
  /** What the system connects to: the socket, or a named pipe of that name on Windows. */
  readonly address: string
  readonly folder: string
  /** Locked by the leader as long as it lives. */
  readonly lock: string
  /** Has the number of the leader's process. */
  readonly pid: string
  /** What the leader has to say; nobody sees its stderr. */
  readonly log: string
}

/** The socket of a home folder where no other is named. */
export const defaultSocket = (home: string): string => join(home, "leader", "leader.sock")

/** Fails when the system could not take the path. */
export const placeOf = (path: string): Effect.Effect<Place, LeaderFailed> => {
  const socket = resolve(path)
  const isWindows = process.platform === "win32"
  const bytes = Buffer.byteLength(socket)
  if (!isWindows && bytes > longestPath) {
    return Effect.fail(
      new LeaderFailed({
        message: `The path of the leader's socket has ${bytes} bytes, and a Unix socket takes ${longestPath}: choose a shorter one with --leader-socket, not ${socket}`
      })
    )
  }
  const base = socket.replace(/\.sock$/, "")
  return Effect.succeed({
    socket,
    address: isWindows ? String.raw`\\.\pipe\super-pi-${socket.replaceAll(/[\\/:]/g, "-")}` : socket,
    folder: dirname(socket),
    lock: `${base}.lock`,
    pid: `${base}.pid`,
    log: `${base}.log`
  })
}

/** What the system says of a failure, such as `EACCES`. */
export const codeOf = (error: unknown): string =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : "no reason was given"

const weaknessOf = (folder: string): string | undefined => {
  const found = lstatSync(folder)
  if (!found.isDirectory()) return "is no folder"
  // Windows has no owner and no mode here; its profile folders are the user's own.
  if (process.platform === "win32") return undefined
  if (found.uid !== process.getuid?.()) return "belongs to somebody else"
  const open = found.mode & 0o077
  return open === 0 ? undefined : `is open to others (mode ${(found.mode & 0o777).toString(8)})`
}

/** Makes the folder if it is missing. Whoever may enter it could act as the user, so it has to be the user's alone. */
export const secureFolder = ({ folder, socket }: Place): Effect.Effect<void, LeaderFailed> =>
  Effect.try({
    try: () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      return weaknessOf(folder)
    },
    catch: (error) =>
      new LeaderFailed({
        message: `The folder ${folder} for the leader's socket cannot be made or looked at (${codeOf(error)}): choose another with --leader-socket`
      })
  }).pipe(
    Effect.flatMap((weakness) =>
      weakness === undefined
        ? Effect.void
        : Effect.fail(
            new LeaderFailed({
              message: `The folder ${folder} of the leader's socket ${weakness}: run chmod 700 on a folder of your own, or choose another with --leader-socket, not ${socket}`
            })
          )
    )
  )

/** Who holds the place, as far as it is known. */
export const pidOf = ({ pid }: Place): Effect.Effect<number | undefined> =>
  Effect.try(() => Number.parseInt(readFileSync(pid, "utf8"), 10)).pipe(
    Effect.map((number) => (Number.isSafeInteger(number) ? number : undefined)),
    Effect.orElseSucceed(() => undefined)
  )
