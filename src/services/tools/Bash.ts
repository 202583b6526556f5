/** The `bash` tool: one command, confined as the session's are, shown while it runs; or left running in the background. */
import * as AiTool from "effect/ai/Tool"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { isReadOnlyLine } from "../../domain/permission/ReadOnlyCommand.ts"
import { parseLine } from "../../domain/permission/ShellLine.ts"
import { fenced } from "../../domain/text/Fence.ts"
import { textContent } from "../../domain/Tool.ts"
import { failure } from "../files/DiskFile.ts"
import type { SandboxRunnerShape } from "../SandboxRunner.ts"
import type { SettingsShape } from "../Settings.ts"
import type { PreparedCall, ToolContext, ToolDefinition, ToolOutcome } from "../ToolDefinition.ts"
import { ToolInputInvalid } from "../ToolDefinition.ts"
import type { Workspace } from "../Workspace.ts"
import { type BackgroundCommands, MOST_RUNNING } from "./support/BackgroundCommands.ts"
import { outcomeOf } from "./support/CommandOutcome.ts"
import type { CommandReach } from "./support/CommandReach.ts"
import { makeInput, withoutNul } from "./support/Input.ts"
import { makeLiveOutput } from "./support/LiveOutput.ts"
import { failed } from "./support/Outcome.ts"
import type { Place, Places } from "./support/Places.ts"
import type { SpillFiles } from "./support/SpillFiles.ts"
import { clip } from "../../domain/text/Clip.ts"

const parameters = Schema.Struct({
  command: Schema.String,
  timeout: Schema.optionalKey(Schema.Finite.annotate({ description: "Milliseconds; default 120000, at most 1800000" })),
  description: Schema.optionalKey(Schema.String.annotate({ description: "What it does, in a few words" })),
  cwd: Schema.optionalKey(Schema.String.annotate({ description: "Folder to run in; default: the working folder" })),
  background: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Return at once and let it run; see bash_output and bash_stop" })
  ),
  unsandboxed: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Run outside the sandbox, only if it failed inside; the user is asked" })
  ),
  reason: Schema.optionalKey(Schema.String.annotate({ description: "Why unsandboxed is needed, for the user" }))
})

const tool = AiTool.make("bash", {
  description:
    "Run a bash command in the working folder. No terminal and no input. What it leaves running with & is ended with it: use background for servers and watchers.",
  parameters
})

const DEFAULT_TIMEOUT = Duration.minutes(2)
const SHORTEST_TIMEOUT = Duration.seconds(1)
const LONGEST_TIMEOUT = Duration.minutes(30)

/** Characters of a title. */
const TITLE_LIMIT = 200

/** A last `&` that is no part of `&&` and not escaped. */
const leavesRunning = (command: string): boolean => /(^|[^&>\\])&\s*$/.test(command)

export interface BashServices {
  readonly fs: FileSystem.FileSystem
  readonly runner: SandboxRunnerShape
  readonly settings: SettingsShape
  readonly places: Places
  readonly reach: CommandReach
  readonly background: BackgroundCommands
  readonly spills: SpillFiles
}

/** A call that was understood. */
interface Task {
  readonly command: string
  readonly cwd: string
  /** For people; absent for the session's own folder. */
  readonly place?: string
  readonly timeout: Duration.Duration
  readonly unsandboxed: boolean
  readonly note?: string
}

const titleOf = ({ command, place }: Task): string => {
  const line = command.trim().replace(/\s*\n\s*/g, " ⏎ ")
  const short = line.length > TITLE_LIMIT ? `${clip(line, TITLE_LIMIT)}…` : line
  return place === undefined ? short : `${short} (in ${place})`
}

export const makeBash = (services: BashServices): ToolDefinition => {
  const { background, fs, places, reach, runner, settings, spills } = services
  const decode = makeInput("bash", parameters)

  const folder = Effect.fnUntraced(function* ({ real, shown }: Place) {
    const remedy = "name a folder, or leave it out for the working folder"
    const { type } = yield* Effect.mapError(
      fs.stat(real),
      (error) => new ToolInputInvalid({ message: `"cwd": ${failure(shown, error).message}; ${remedy}` })
    )
    if (type === "Directory") return
    return yield* new ToolInputInvalid({ message: `"cwd" names ${shown}, which is no folder: ${remedy}` })
  })

  const placed = Effect.fnUntraced(function* (
    { command, cwd, unsandboxed }: Task,
    { sandbox, workspace }: ToolContext
  ) {
    const { roots, scratch } = workspace
    const profile = unsandboxed ? "off" : yield* sandbox
    return { command, cwd, confinement: { profile, roots, scratch }, spill: yield* spills.next(scratch) } as const
  })

  const run = Effect.fn("Tools.bash")(
    function* (task: Task, context: ToolContext) {
      const live = yield* makeLiveOutput((fresh, view) =>
        context.progress(view === undefined ? {} : { content: [{ type: "output", text: view }] }, fresh)
      )
      const command = yield* placed(task, context)
      const running = runner.run({ ...command, timeout: task.timeout, onOutput: live.add })
      const { cwd, roots } = context.workspace
      const isReading = isReadOnlyLine(parseLine(task.command), task.cwd, { cwd, roots })
      const result = yield* isReading ? running : context.recordingAll(running)
      yield* live.finish
      const { note } = task
      return outcomeOf({
        result,
        profile: command.confinement.profile,
        cwd: task.cwd,
        ...(note === undefined ? {} : { note })
      })
    },
    Effect.scoped,
    Effect.catch(({ message }) => Effect.succeed(failed(message)))
  )

  const start = Effect.fn("Tools.bash.background")(
    function* (task: Task, context: ToolContext) {
      const id = yield* background.start(context.workspace, yield* placed(task, context))
      if (id === undefined) {
        return failed(`${MOST_RUNNING} background commands run already: stop one with bash_stop first`)
      }
      const text = `Started in the background as ${id}. Read its output with bash_output, end it with bash_stop.`
      return {
        status: "completed",
        text,
        content: [textContent(text)],
        rawOutput: { id, cwd: task.cwd, background: true }
      } satisfies ToolOutcome
    },
    Effect.catch(({ message }) => Effect.succeed(failed(message)))
  )

  const taskOf = Effect.fnUntraced(function* (input: typeof parameters.Type, workspace: Workspace) {
    const { command, cwd, reason = "", timeout, unsandboxed = false } = input
    if (command.trim() === "") return yield* new ToolInputInvalid({ message: `"command" is empty: give a command` })
    if (unsandboxed && reason.trim() === "") {
      return yield* new ToolInputInvalid({ message: `"unsandboxed" needs a "reason" that the user can judge` })
    }
    yield* withoutNul("command", command, "no program takes one; write \\0 where printf or the like is to make it")
    if (input.background !== true && leavesRunning(command)) {
      return yield* new ToolInputInvalid({
        message: `"command" ends with &, and what it leaves running is ended with it: leave the & out and set "background"`
      })
    }
    const place = cwd === undefined ? undefined : yield* places.find(cwd, workspace, `"cwd"`)
    // What is outside is looked at once that is allowed.
    if (place?.outside === false) yield* folder(place)
    const { commandTimeout = DEFAULT_TIMEOUT } = yield* settings.current
    const wanted = timeout === undefined ? commandTimeout : Duration.millis(Math.max(0, timeout))
    const isTooLong = Duration.isGreaterThan(wanted, LONGEST_TIMEOUT)
    return {
      command,
      cwd: place?.path ?? workspace.cwd,
      ...(place === undefined || place.path === workspace.cwd ? {} : { place: place.shown }),
      timeout: Duration.clamp(wanted, { minimum: SHORTEST_TIMEOUT, maximum: LONGEST_TIMEOUT }),
      unsandboxed,
      ...(isTooLong ? { note: "the timeout was shortened to 30 minutes, the longest there is" } : {}),
      outside: place?.outside === true ? place : undefined
    }
  })

  return {
    tool,
    kind: "execute",
    title: "Run command",
    concurrency: "exclusive",
    prepare: Effect.fnUntraced(function* (raw, workspace) {
      const input = yield* decode(raw)
      const { outside: elsewhere, ...task } = yield* taskOf(input, workspace)
      const outside = [
        ...(elsewhere === undefined ? [] : [elsewhere.real]),
        ...(yield* reach.outside(task.command, workspace))
      ]
      const words = [
        ...(input.description === undefined ? [] : [input.description]),
        fenced(task.command, "sh"),
        ...(task.place === undefined ? [] : [`In ${task.cwd}`]),
        ...(input.background === true ? ["It runs on in the background"] : []),
        ...(task.unsandboxed ? [`Outside of the sandbox: ${input.reason ?? ""}`] : []),
        ...outside.map((path) => `It leads out of the workspace, to ${path}`)
      ]
      return {
        title: (input.background === true ? "[background] " : "") + titleOf(task),
        kind: "execute",
        locations: [],
        preview: [textContent(words.join("\n"))],
        access: {
          _tag: "Execute",
          command: task.command,
          cwd: task.cwd,
          ...(task.unsandboxed && { unsandboxed: true }),
          ...(outside.length > 0 && { outside })
        },
        run: (context) =>
          Effect.suspend(() => (elsewhere === undefined ? Effect.void : folder(elsewhere))).pipe(
            Effect.andThen(input.background === true ? start(task, context) : run(task, context)),
            Effect.catch(({ message }) => Effect.succeed(failed(message)))
          )
      } satisfies PreparedCall
    })
  }
}
