/**
 * The environment that a person's own shell would have. An editor that was started from a menu does not have it, and its
 * commands would not find what the person installed.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as ChildProcess from "effect/process/ChildProcess"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Stream from "effect/Stream"
import type { Environment } from "../../domain/ChildEnvironment.ts"
import { spawn } from "./Spawn.ts"

const PATIENCE = Duration.seconds(10)

/** What start files of a shell do, such as taking a lock, is best left to come to its end. */
const GRACE = Duration.seconds(1)

/** Characters of an environment that are read. */
const LIMIT = 1024 * 1024

/** Its start files may print whatever they like before it. */
const MARK = "super-pi-environment"

const parse = (output: string): Environment => {
  const from = output.lastIndexOf(`${MARK}\0`)
  if (from === -1) return {}
  return Object.fromEntries(
    output
      .slice(from + MARK.length + 1)
      .split("\0")
      .flatMap((line) => {
        const at = line.indexOf("=")
        return at <= 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]]
      })
  )
}

const foldersOf = ({ PATH = "" }: Environment): ReadonlyArray<string> =>
  PATH.split(":").filter((folder) => folder !== "")

/**
 * Ours wins, and programs are looked for in the folders of both: in the person's order, unless this process was given
 * folders that the person's shell does not have, as one that a package manager starts.
 */
const merge = (own: Environment, login: Environment): Environment => {
  const [ours, theirs] = [foldersOf(own), foldersOf(login)]
  const isPlain = ours.every((folder) => theirs.includes(folder))
  const folders = isPlain ? theirs : [...ours, ...theirs]
  return { ...login, ...own, PATH: [...new Set(folders)].join(":") }
}

/** Interruption takes effect only after a while, or when it has ended by itself. */
const patiently = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkDetach(restore(effect), { startImmediately: true })
      return yield* restore(Fiber.join(fiber)).pipe(
        Effect.onInterrupt(() =>
          Effect.andThen(Effect.timeoutOption(Fiber.await(fiber), GRACE), Fiber.interrupt(fiber))
        )
      )
    })
  )

/** Asked of the login shell once, where that is bash or zsh; the own environment where it cannot be had. */
export const loginEnvironment = Effect.fnUntraced(
  function* (spawner: ChildProcessSpawner["Service"], own: Environment) {
    const shell = own["SHELL"] ?? ""
    if (!/\/(bash|zsh)$/.test(shell)) return own
    const handle = yield* spawn(
      spawner,
      ChildProcess.make(shell, ["-lc", `printf '${MARK}\\0'; exec env -0`], {
        env: Object.fromEntries(
          Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
        ),
        stdin: "ignore",
        stderr: "ignore",
        killSignal: "SIGTERM",
        forceKillAfter: "500 millis"
      })
    )
    const output = yield* Stream.runFold(
      Stream.decodeText(handle.stdout),
      () => "",
      (text, piece) => (text.length > LIMIT ? text : text + piece)
    )
    return merge(own, parse(output))
  },
  (effect, _spawner, own) =>
    effect.pipe(
      Effect.scoped,
      Effect.timeout(PATIENCE),
      patiently,
      Effect.catch((error) =>
        Effect.as(
          Effect.logInfo(`Commands get the environment of this process: the login shell gave none (${error.message})`),
          own
        )
      )
    )
)
