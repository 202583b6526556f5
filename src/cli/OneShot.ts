/** `super-pi -p`: one task, its answer, and the end. Without a task the program says what it is for. */
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { agentFlags, type AgentFlags, flagsOf } from "./agent/AgentFlags.ts"
import { misused } from "./UsageError.ts"

const { leader: _leader, leaderSocket: _leaderSocket, ...sharedFlags } = agentFlags

/** What stands for standard input. */
const STDIN = "-"

export const oneShotFlags = {
  task: Flag.String("prompt").pipe(
    Flag.withAlias("p"),
    Flag.withMetavar("task"),
    Flag.withDescription(
      "Do one task, print the answer and end; standard input is added to it, or is the task where there is none"
    ),
    Flag.optional
  ),
  format: Flag.Literals("output-format", ["text", "json", "stream-json"]).pipe(
    Flag.withDescription("text: the answer; json: one object with it; stream-json: a line for each thing that happens"),
    Flag.withDefault("text")
  ),
  resume: Flag.String("resume").pipe(
    Flag.withAlias("r"),
    Flag.withMetavar("id"),
    Flag.withDescription("Go on with that session; the beginning of its id is enough"),
    Flag.optional
  ),
  continue: Flag.Boolean("continue").pipe(
    Flag.withAlias("c"),
    Flag.withoutNegation,
    Flag.withDescription("Go on with the latest session of this folder"),
    Flag.withDefault(false)
  ),
  maxTurns: Flag.Int("max-turns").pipe(
    Flag.withMetavar("n"),
    Flag.withDescription("Requests to the model that the task may take"),
    Flag.filter(
      (count) => count >= 1,
      () => "--max-turns takes a number of at least 1"
    ),
    Flag.optional
  ),
  ...sharedFlags
}

type Parsed = Omit<AgentFlags, "leader" | "leaderSocket"> & {
  readonly task: Option.Option<string>
  readonly format: "text" | "json" | "stream-json"
  readonly resume: Option.Option<string>
  readonly continue: boolean
  readonly maxTurns: Option.Option<number>
}

/** A task that is left out is on standard input: what follows is a flag, or nothing. */
export const withTask = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args[0]?.startsWith("-") === true
    ? args.flatMap((arg, at) => {
        const next = args[at + 1]
        const isMissing = next === undefined || /^--?[a-zA-Z]/.test(next)
        return (arg === "-p" || arg === "--prompt") && isMissing ? [arg, STDIN] : [arg]
      })
    : args

/** What a person sees who starts the program by its name alone, or an editor that was set up to do so. */
const bare = [
  "super-pi has no screen of its own: it works in editors, or does one task at a time.",
  "  In your editor      super-pi acp setup            shows the editors and sets them up",
  '  Here                super-pi -p "your task"       prints the answer',
  "  Sign in, look       super-pi login, super-pi doctor",
  "An editor has to start: super-pi acp"
].join("\n")

export const oneShot = Effect.fnUntraced(function* (parsed: Parsed) {
  const { task } = parsed
  if (Option.isNone(task)) {
    const isAlone = Option.isNone(parsed.resume) && !parsed.continue
    return yield* misused(isAlone ? `a command is missing\n${bare}` : 'there is no task: add -p "your task"')
  }
  if (Option.isSome(parsed.resume) && parsed.continue)
    return yield* misused("--resume names a session and --continue means the latest: give one of them")
  const { run } = yield* Effect.promise(() => import("./oneshot/RunTask.ts"))
  const flags = yield* flagsOf({ ...parsed, leader: Option.none(), leaderSocket: Option.none() })
  yield* run({
    flags: Option.match(parsed.maxTurns, { onNone: () => flags, onSome: (maxRequests) => ({ ...flags, maxRequests }) }),
    task: task.value,
    format: parsed.format,
    cwd: parsed.cwd,
    resume: parsed.resume,
    continue: parsed.continue
  })
})
