/** Runs one hook: a command with the occasion on its stdin, or a request that carries it. */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import { childEnvironment, type Environment } from "../../domain/ChildEnvironment.ts"
import type { HookSettings } from "../../domain/Hook.ts"
import { failed, type HookAnswer, readAnswer, readExit } from "../../domain/HookAnswer.ts"
import { systemText } from "../files/SystemText.ts"
import { secretsOf } from "../settings/Secrets.ts"
import { Settings } from "../Settings.ts"
import { keep, makeHookProcesses } from "./HookProcess.ts"

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

export const makeHookRunner = Effect.fnUntraced(function* (environment: Environment) {
  const processes = yield* makeHookProcesses
  const settings = yield* Settings

  const command = Effect.fnUntraced(
    function* (line: string, hook: HookSettings, { cwd, input, root }: HookTask) {
      const inherited = childEnvironment(environment, secretsOf(yield* settings.current))
      const own = Object.fromEntries(
        Object.entries(hook.environment).map(([name, value]) => [name, Redacted.value(value)])
      )
      const { code, stderr, stdout } = yield* processes.run({
        line,
        cwd,
        environment: { ...inherited, ...own, SUPERCHARGE_PROJECT_DIR: root, CLAUDE_PROJECT_DIR: root },
        input
      })
      return readExit(code, stdout, stderr, hook.event)
    },
    Effect.catch((error) => Effect.succeed(failed(systemText(error))))
  )

  const post = Effect.fnUntraced(
    function* (url: string, { event }: HookSettings, { input }: HookTask) {
      const client = yield* HttpClient.HttpClient
      const response = yield* client.execute(
        HttpClientRequest.post(url).pipe(HttpClientRequest.bodyText(input, "application/json"))
      )
      if (response.status < 200 || response.status > 299)
        return failed(`it answered with the status ${response.status}`)
      const body = keep(response.stream)
      yield* body.all
      return readAnswer(body.text(), event)
    },
    Effect.scoped,
    Effect.provide(FetchHttpClient.layer),
    Effect.catch((error) => Effect.succeed(failed(error.message)))
  )

  const runner: HookRunner = {
    run: (hook, task) =>
      hook.action._tag === "Command" ? command(hook.action.command, hook, task) : post(hook.action.url, hook, task)
  }
  return runner
})
