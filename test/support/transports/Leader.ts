/** The built program as a bridge to a leader of its own, as an editor starts it with `--leader`. */
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isAlive, until } from "../Processes.ts"
import { bin, folder, node } from "../Program.ts"
import type { AgentOptions, Channel, Transport } from "../Transports.ts"

/** Where a leader of a test is reached. */
export interface LeaderPlace {
  readonly socket: string
  readonly log: () => string
  /** The number of the process that leads, 0 for none. */
  readonly pid: () => number
  /** Ends whoever leads now, at once. */
  readonly kill: Effect.Effect<void>
}

const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, "utf8") : "")

const killed = (pid: number): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (pid === 0 || !isAlive(pid)) return Effect.void
    process.kill(pid, "SIGKILL")
    return until(() => !isAlive(pid))
  })

/** A place in a folder of its own. Whoever leads there at the end of the scope is killed. */
export const leaderPlace: Effect.Effect<LeaderPlace, never, Scope.Scope> = Effect.gen(function* () {
  const base = join(yield* folder, "leader")
  const pid = () => Number(textOf(`${base}.pid`).trim() || "0")
  const kill = Effect.suspend(() => killed(pid()))
  yield* Effect.addFinalizer(() => kill)
  return { socket: `${base}.sock`, log: () => textOf(`${base}.log`), pid, kill }
})

/** A bridge, which is killed with the scope. Its `hangUp` and `kill` leave the leader alone. */
export const bridge = Effect.fnUntraced(function* (
  place: LeaderPlace,
  { environment, home }: Pick<AgentOptions, "environment" | "home">,
  flags: ReadonlyArray<string> = []
): Effect.fn.Return<Channel & { readonly pid: number }, never, Scope.Scope> {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(node, [bin, "acp", "--leader", "--leader-socket", place.socket, ...flags], {
        cwd: "/",
        env: {
          PATH: process.env["PATH"],
          HOME: home,
          SUPERCHARGE_HOME: home,
          SUPER_PI_LOG_STDERR: "trace",
          ...environment
        }
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const lines = yield* Queue.unbounded<string, Cause.Done>()
  const ended = yield* Deferred.make<number>()
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let log = ""
  let begun = ""
  child.stdin.on("error", () => {})
  child.stdout.on("data", (chunk: Buffer) => {
    const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n")
    const last = others.pop()
    if (last === undefined) {
      begun += first
      return
    }
    for (const line of [begun + first, ...others]) Queue.offerUnsafe(lines, line)
    begun = last
  })
  child.stdout.on("close", () => {
    if (begun !== "") Queue.offerUnsafe(lines, `unended: ${begun}`)
    Queue.endUnsafe(lines)
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text))
  child.on("close", (code) => Deferred.doneUnsafe(ended, Effect.succeed(code ?? -1)))
  const write = (bytes: Uint8Array | string): Effect.Effect<void> =>
    Effect.callback((resume) => {
      child.stdin.write(bytes, () => resume(Effect.void))
    })
  return {
    pid: child.pid ?? 0,
    send: (line) => write(`${line}\n`),
    lines: Stream.fromQueue(lines),
    end: Effect.sync(() => child.stdin.end()),
    hangUp: Effect.sync(() => child.stdout.destroy()),
    kill: Effect.sync(() => child.kill("SIGKILL")),
    ended: Deferred.await(ended),
    log: () => log + place.log(),
    write
  }
})

/** Writes what the leader reads when it starts: the script is the default model. */
export const prepareHome = ({ config, home, script }: AgentOptions): void => {
  mkdirSync(home, { recursive: true })
  const settings = join(home, "config.toml")
  const file = join(home, "script.json")
  const model = `[models]\ndefault = ${JSON.stringify(`scripted/${file}`)}\n`
  const written = config ?? textOf(settings)
  if (script !== undefined) writeFileSync(file, JSON.stringify(script))
  if (script !== undefined && !written.includes(model)) writeFileSync(settings, `${written}\n${model}`)
  else if (config !== undefined) writeFileSync(settings, config)
}

export const leader: Transport = {
  name: "leader",
  inProcess: false,
  open: Effect.fnUntraced(function* (options) {
    prepareHome(options)
    const place = yield* leaderPlace
    const channel = yield* bridge(place, options)
    const scope = yield* Effect.scope
    const start = Scope.provide(bridge(place, options), scope)
    /** A process takes longer to start than a connection to open: the next one is always on its way. */
    let spare: Effect.Success<typeof start> | undefined
    const another = Effect.gen(function* () {
      const taken = spare ?? (yield* start)
      spare = yield* start
      // An editor that reads no more has gone in order; only a bridge that is killed is cut off.
      return { ...taken, hangUp: taken.kill }
    })
    return {
      ...channel,
      // The agent is the leader: a bridge that goes alone would leave it at work.
      kill: Effect.andThen(channel.kill, place.kill),
      another
    }
  }),
  notApplicable: {
    "VIE-07": "the editors of a leader are the user's own, and have the ceiling of stdio"
  }
}
