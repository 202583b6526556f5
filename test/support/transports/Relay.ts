/**
 * The built program on both sides: an agent for each test that calls the relay, and one relay for all tests of a file,
 * where the official SDK's client meets that agent.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bin, node } from "../Program.ts"
import type { AgentOptions, Transport } from "../Transports.ts"
import { connect } from "./WebSocket.ts"

const ceiling = '[remote]\nexecution_mode_ceiling = "always-approve"\n'

export interface Running {
  readonly stop: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** The exit code. */
  readonly ended: Effect.Effect<number>
  /** All that it wrote on stderr. */
  readonly log: () => string
  /** Waits until stderr has it; the first group of the match. */
  readonly told: (line: RegExp) => Effect.Effect<string>
  readonly pid: number | undefined
}

/** Follows a program that a test started. */
const follow = (child: ChildProcess): Running => {
  const ended = Deferred.makeUnsafe<number>()
  const waiting = new Set<() => void>()
  let log = ""
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log += text
    for (const look of waiting) look()
  })
  child.on("close", (code) => Deferred.doneUnsafe(ended, Effect.succeed(code ?? -1)))
  return {
    pid: child.pid,
    stop: (signal) => Effect.sync(() => void child.kill(signal)),
    ended: Deferred.await(ended),
    log: () => log,
    told: (line) =>
      Effect.raceFirst(
        Effect.callback<string>((resume) => {
          const look = () => {
            const found = line.exec(log)
            if (found !== null) resume(Effect.succeed(found[1] ?? found[0]))
          }
          waiting.add(look)
          look()
          return Effect.sync(() => waiting.delete(look))
        }),
        Effect.flatMap(Deferred.await(ended), (code) => Effect.die(new Error(`It ended (${code}) without it: ${log}`)))
      )
  }
}

const environment = (home: string, more: Readonly<Record<string, string>> = {}) => ({
  PATH: process.env["PATH"],
  HOME: home,
  SUPERCHARGE_HOME: home,
  ...more
})

const launch = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv) =>
  spawn(node, [bin, ...args], { cwd: "/", env, stdio: ["ignore", "ignore", "pipe"] })

/** A program that is gone with the scope. */
const scoped = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => launch(args, env)),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    ),
    follow
  )

const addressIn = /Agents +(ws:\S+)\/agent/

/** A relay of the test's own. `bind`: where one was before. */
export const startRelay = Effect.fnUntraced(function* (home: string, bind = "127.0.0.1:0") {
  const running = yield* scoped(["relay", "--bind", bind], environment(home))
  return { ...running, url: yield* running.told(addressIn) }
})

export interface HeadlessOptions extends AgentOptions {
  readonly url: string
  readonly flags?: ReadonlyArray<string>
  readonly arguments?: ReadonlyArray<string>
}

/** An agent that calls a relay. */
export const startHeadless = Effect.fnUntraced(function* (options: HeadlessOptions) {
  const { config, home, script, url } = options
  mkdirSync(home, { recursive: true })
  const settings = join(home, "config.toml")
  const written = config ?? (existsSync(settings) ? readFileSync(settings, "utf8") : "")
  writeFileSync(settings, written.includes("[remote]") ? written : `${written}\n${ceiling}`)
  const file = join(home, "script.json")
  if (script !== undefined) writeFileSync(file, JSON.stringify(script))
  const flags = [...(script === undefined ? [] : ["--model", `scripted/${file}`]), ...(options.flags ?? [])]
  return yield* scoped(
    ["agent", ...flags, "headless", "--relay-url", `${url}/agent`, "--grace", "0", ...(options.arguments ?? [])],
    environment(home, { SUPER_PI_LOG_STDERR: "trace", ...options.environment })
  )
})

/** A token that no other test has. */
export const makeToken = (): string => randomBytes(12).toString("hex")

let shared: { readonly child: ChildProcess; readonly url: Effect.Effect<string> } | undefined

const sharedRelay = (): Effect.Effect<string> => {
  if (shared === undefined) {
    const child = launch(["relay", "--bind", "127.0.0.1:0"], environment("/nonexistent"))
    shared = { child, url: Effect.cached(follow(child).told(addressIn)).pipe(Effect.flatten) }
  }
  return shared.url
}

/** To be called after the last test of a file. */
export const stopRelay = (): void => void shared?.child.kill("SIGKILL")

export const relay: Transport = {
  name: "relay",
  inProcess: false,
  open: Effect.fnUntraced(function* (options) {
    const url = yield* sharedRelay()
    const token = makeToken()
    const agent = yield* startHeadless({
      ...options,
      url,
      environment: { SUPERCHARGE_RELAY_TOKEN: token, ...options.environment }
    })
    // Whoever comes before the agent is let in as soon as it is there.
    const connection = connect(`${url}/ws`, { authorization: `Bearer ${token}` })
    return {
      ...(yield* connection),
      end: agent.stop("SIGTERM"),
      hangUp: agent.stop("SIGKILL"),
      kill: agent.stop("SIGKILL"),
      ended: agent.ended,
      log: agent.log,
      agentPid: () => agent.pid ?? 0,
      another: Effect.map(connection, (channel) => ({ ...channel, log: agent.log }))
    }
  }),
  notApplicable: {
    "TR-03": "a message is a frame: there are no lines to cut",
    "TR-07": "the end of a connection ends no turn",
    "CAN-09": "is shown by the end of the input, which ends no turn here",
    "TR-08": "a turn goes on while nobody reads",
    "TR-09": "says that stdio is served"
  }
}
