/** The built program as a server, on a free port of the loopback. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bin, node } from "../Program.ts"
import type { AgentOptions } from "../Transports.ts"

const ceiling = '[remote]\nexecution_mode_ceiling = "always-approve"\n'

/** What its clients have to know. */
const secret = "the secret of a test, which is long enough"

export interface Server {
  readonly origin: string
  readonly pid: number
  /** What every request has to say. */
  readonly headers: Readonly<Record<string, string>>
  readonly stop: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Waits for its end; the exit code. */
  readonly ended: Effect.Effect<number>
  readonly log: () => string
}

/** Starts it; it is gone with the scope. */
export const serve = Effect.fnUntraced(function* (options: AgentOptions): Effect.fn.Return<Server, never, Scope.Scope> {
  const { config, environment, home, script } = options
  mkdirSync(home, { recursive: true })
  const settings = join(home, "config.toml")
  const written = config ?? (existsSync(settings) ? readFileSync(settings, "utf8") : "")
  writeFileSync(settings, written.includes("[remote]") ? written : `${written}\n${ceiling}`)
  const file = join(home, "script.json")
  if (script !== undefined) writeFileSync(file, JSON.stringify(script))
  const args = script === undefined ? [] : ["--model", `scripted/${file}`]
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(node, [bin, "agent", ...args, "serve", "--bind", "127.0.0.1:0", "--grace", "0"], {
        cwd: "/",
        env: {
          PATH: process.env["PATH"],
          HOME: home,
          SUPERCHARGE_HOME: home,
          SUPERCHARGE_AGENT_SECRET: secret,
          SUPER_PI_LOG_STDERR: "trace",
          ...environment
        }
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const ended = yield* Deferred.make<number>()
  const listening = yield* Deferred.make<string>()
  let log = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text
    const found = /Streamable HTTP +(http:\S+)\/acp/.exec(log)?.[1]
    if (found !== undefined) Deferred.doneUnsafe(listening, Effect.succeed(found))
  })
  child.on("close", (code) => {
    Deferred.doneUnsafe(ended, Effect.succeed(code ?? -1))
    Deferred.doneUnsafe(listening, Effect.die(new Error(`The server ended (${code}): ${log}`)))
  })
  return {
    origin: yield* Deferred.await(listening),
    pid: child.pid ?? 0,
    headers: { authorization: `Bearer ${secret}` },
    stop: (signal: NodeJS.Signals) => Effect.sync(() => void child.kill(signal)),
    ended: Deferred.await(ended),
    log: () => log
  }
})
