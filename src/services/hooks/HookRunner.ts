/** Runs one hook: a command with the occasion on its stdin, or a request that carries it. */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { childEnvironment, type Environment } from "../../domain/ChildEnvironment.ts"
import { type HookAnswer, type HookSettings, readAnswer, readExit } from "../../domain/Hook.ts"
import { systemText } from "../files/SystemText.ts"
import { spawn } from "../sandbox/Spawn.ts"
import { secretsOf } from "../settings/Secrets.ts"
import { Settings } from "../Settings.ts"

/** What a hook gets. `root` is the project's, absolute. */
export interface HookTask {
  readonly input: string
  readonly cwd: string
  readonly root: string
}

export interface HookRunner {
  /** Without a time limit; interruption ends the hook and all that it started. */
  readonly run: (hook: HookSettings, task: HookTask) => Effect.Effect<HookAnswer>
}

/** Characters that are kept of what a hook writes. */
const LIMIT = 64 * 1024

const failed = (problem: string): HookAnswer => ({ _tag: "Failed", problem })

/** Reads all of it, so that the hook is not held up, and keeps the beginning. */
const keep = <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  bytes.pipe(
    Stream.decodeText,
    Stream.runFold(
      () => "",
      (text, piece) => (text.length < LIMIT ? (text + piece).slice(0, LIMIT) : text)
    )
  )

export const makeHookRunner = Effect.fnUntraced(function* (environment: Environment) {
  const spawner = yield* ChildProcessSpawner
  const settings = yield* Settings

  const command = Effect.fnUntraced(
    function* (line: string, hook: HookSettings, { cwd, input, root }: HookTask) {
      const inherited = childEnvironment(environment, secretsOf(yield* settings.current))
      const own = Object.fromEntries(
        Object.entries(hook.environment).map(([name, value]) => [name, Redacted.value(value)])
      )
      const handle = yield* spawn(
        spawner,
        ChildProcess.make("/bin/sh", ["-c", line], {
          cwd,
          env: { ...inherited, ...own, SUPERCHARGE_PROJECT_DIR: root, CLAUDE_PROJECT_DIR: root },
          stdin: Stream.encodeText(Stream.succeed(input)),
          killSignal: "SIGTERM",
          forceKillAfter: "500 millis"
        })
      )
      const [code, stdout, stderr] = yield* Effect.all([handle.exitCode, keep(handle.stdout), keep(handle.stderr)], {
        concurrency: "unbounded"
      })
      return readExit(code, stdout, stderr)
    },
    Effect.scoped,
    Effect.catch((error) => Effect.succeed(failed(systemText(error))))
  )

  const post = Effect.fnUntraced(
    function* (url: string, { input }: HookTask) {
      const client = yield* HttpClient.HttpClient
      const response = yield* client.execute(
        HttpClientRequest.post(url).pipe(HttpClientRequest.bodyText(input, "application/json"))
      )
      if (response.status < 200 || response.status > 299)
        return failed(`it answered with the status ${response.status}`)
      return readAnswer(yield* keep(response.stream))
    },
    Effect.scoped,
    Effect.provide(FetchHttpClient.layer),
    Effect.catch((error) => Effect.succeed(failed(error.message)))
  )

  const runner: HookRunner = {
    run: (hook, task) =>
      hook.action._tag === "Command" ? command(hook.action.command, hook, task) : post(hook.action.url, task)
  }
  return runner
})
