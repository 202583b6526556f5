/** The user's own programs that hear of what happens in a session. They hold in every mode. */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type { Environment } from "../domain/ChildEnvironment.ts"
import type { ExecutionMode } from "../domain/permission/ExecutionMode.ts"
import { hookInput, type HookOccasion, type HookSettings, hooksFor } from "../domain/Hook.ts"
import { failed } from "../domain/HookAnswer.ts"
import type { SessionId } from "../domain/Ids.ts"
import { makeHookRunner } from "./hooks/HookRunner.ts"
import { Projects } from "./Projects.ts"
import { Settings } from "./Settings.ts"

/** The session in which something happens. */
export interface HookSession {
  readonly sessionId: SessionId
  readonly cwd: string
  readonly mode: ExecutionMode
}

/** What all hooks together said. */
export interface HookVerdict {
  /** Why it must not go on, for the model or the person; undefined when it may. */
  readonly denied: string | undefined
  /** Hooks that failed and are only advisory, or heard of what is over: one line for each, for the person. */
  readonly problems: ReadonlyArray<string>
}

/** What `Hooks` promises. */
export interface HooksShape {
  /**
   * Runs the hooks of the settings and of a trusted project, side by side, and waits for all. One that crashes or takes too
   * long denies what it was asked about, unless it is advisory.
   */
  readonly run: (session: HookSession, occasion: HookOccasion) => Effect.Effect<HookVerdict>
}

const passed: HookVerdict = { denied: undefined, problems: [] }

const USUAL_TIME = Duration.seconds(5)
const STOP_TIME = Duration.minutes(10)
const SIDE_BY_SIDE = 8

const isOver: ReadonlySet<string> = new Set(["SessionStart", "PostToolUse", "PermissionDenied", "SessionEnd"])

const problemOf = ({ event, source }: HookSettings, problem: string): string =>
  `A ${event} hook of ${source} failed: ${problem}`

/** Tells hooks what happens, and whether they forbid it. */
export class Hooks extends Context.Service<Hooks, HooksShape>()("super-pi/Hooks") {
  /** `environment` is what hooks inherit, without the secrets of the settings. */
  static readonly layer = (
    environment: Environment
  ): Layer.Layer<Hooks, never, ChildProcessSpawner | FileSystem.FileSystem | Projects | Settings> =>
    Layer.effect(
      Hooks,
      Effect.gen(function* () {
        const projects = yield* Projects
        const settings = yield* Settings
        const runner = yield* makeHookRunner(environment)
        const warned = new Set<string>()

        const tellUnchanged = Effect.fnUntraced(function* ({ event, source }: HookSettings) {
          const text = `A ${event} hook of ${source} wants to change the input of a call, which no hook can: the call is judged and runs as it is. A hook that does not want it has to deny it`
          if (!warned.has(text)) yield* Effect.logWarning(text)
          warned.add(text)
        })

        const run = Effect.fn("Hooks.run")(function* (session: HookSession, occasion: HookOccasion) {
          const project = yield* projects.of(session.cwd)
          const hooks = hooksFor([...(yield* settings.current).hooks, ...project.hooks], occasion)
          if (hooks.length === 0) return passed
          const input = hookInput(occasion, {
            sessionId: session.sessionId,
            cwd: session.cwd,
            workspaceRoot: project.root,
            timestamp: DateTime.formatIso(yield* DateTime.now),
            permissionMode: session.mode
          })
          const ask = (hook: HookSettings) => {
            const time = hook.timeout ?? (occasion.event === "Stop" ? STOP_TIME : USUAL_TIME)
            return runner.run(hook, { input, cwd: session.cwd, root: project.root }).pipe(
              Effect.timeoutOrElse({
                duration: time,
                orElse: () =>
                  Effect.succeed(failed(`it did not end within ${Duration.format(time)}; a longer timeout can be set`))
              }),
              Effect.map((answer) => [hook, answer] as const)
            )
          }
          const answers = yield* Effect.forEach(hooks, ask, { concurrency: SIDE_BY_SIDE })
          const denials: Array<string> = []
          const problems: Array<string> = []
          for (const [hook, answer] of answers) {
            if (answer._tag === "Passed" && answer.changesInput === true) yield* tellUnchanged(hook)
            if (answer._tag === "Denied")
              denials.push(`Denied by a ${hook.event} hook of ${hook.source}: ${answer.reason}`)
            if (answer._tag !== "Failed") continue
            const problem = problemOf(hook, answer.problem)
            if (hook.advisory || isOver.has(hook.event)) problems.push(problem)
            else
              denials.push(
                `${problem}. A hook that fails forbids what it was asked about; mark it advisory to go on without it`
              )
          }
          return { denied: denials.length === 0 ? undefined : denials.join("\n"), problems }
        })

        return { run }
      })
    )

  /** There are none. */
  static readonly layerNone: Layer.Layer<Hooks> = Layer.succeed(Hooks, { run: () => Effect.succeed(passed) })
}
