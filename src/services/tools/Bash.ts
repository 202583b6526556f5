/** The `bash` tool: one command in the session's folder, shown while it runs. */
import * as AiTool from "effect/ai/Tool"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Path from "effect/Path"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { textContent } from "../../domain/Tool.ts"
import { fenced } from "../../domain/text/Fence.ts"
import type { CommandResult, SandboxRunnerShape } from "../SandboxRunner.ts"
import type { PreparedCall, ToolContext, ToolDefinition, ToolOutcome } from "../ToolDefinition.ts"
import { ToolInputInvalid } from "../ToolDefinition.ts"
import type { CommandReach } from "./support/CommandReach.ts"
import { makeInput } from "./support/Input.ts"
import { makeLiveOutput } from "./support/LiveOutput.ts"
import { failed } from "./support/Outcome.ts"

const parameters = Schema.Struct({
  command: Schema.String,
  timeout: Schema.optionalKey(Schema.Finite.annotate({ description: "Milliseconds; default 120000, at most 1800000" })),
  description: Schema.optionalKey(Schema.String.annotate({ description: "What it does, in a few words" }))
})

const tool = AiTool.make("bash", {
  description:
    "Run a bash command in the working folder. No terminal and no input; processes left in the background are ended.",
  parameters
})

const DEFAULT_TIMEOUT = 120_000
const SHORTEST_TIMEOUT = 1_000
const LONGEST_TIMEOUT = 30 * 60_000

/** Characters of a title. */
const TITLE_LIMIT = 200

const titleOf = (command: string): string => {
  const line = command.trim().replace(/\s*\n\s*/g, " ⏎ ")
  return line.length > TITLE_LIMIT ? `${line.slice(0, TITLE_LIMIT)}…`.toWellFormed() : line
}

/** How a command ended, in one line. */
const ending = ({ duration, exit, timedOut }: CommandResult): string => {
  const seconds = `${(Duration.toMillis(duration) / 1000).toFixed(1)} s`
  const how = exit._tag === "Code" ? `exit code ${exit.code}` : `ended by ${exit.signal}`
  return timedOut ? `[timed out after ${seconds}, ${how}; a longer timeout can be given]` : `[${how}, ${seconds}]`
}

const outcomeOf = (result: CommandResult): ToolOutcome => {
  const { duration, exit, output, spilled, timedOut } = result
  const text = `${output === "" ? "(no output)" : output.replace(/\n$/, "")}\n${ending(result)}`
  const shown = output === "" ? "" : `${fenced(output)}\n`
  return {
    status: exit._tag === "Code" && exit.code === 0 && !timedOut ? "completed" : "failed",
    text,
    content: [textContent(shown + ending(result))],
    rawOutput: {
      ...(exit._tag === "Code" ? { exitCode: exit.code } : { signal: exit.signal }),
      timedOut,
      durationMs: Math.round(Duration.toMillis(duration)),
      truncated: spilled !== undefined,
      ...(spilled === undefined ? {} : { spilled })
    }
  }
}

export const makeBash = (runner: SandboxRunnerShape, paths: Path.Path, reach: CommandReach): ToolDefinition => {
  const decode = makeInput("bash", parameters)

  const spillFile = Effect.fnUntraced(function* (scratch: string) {
    const now = yield* Clock.currentTimeMillis
    const chance = yield* Random.nextIntBetween(0, 36 ** 4)
    return paths.join(scratch, `output-${now.toString(36)}-${chance.toString(36)}.txt`)
  })

  const run = Effect.fn("Tools.bash")(
    function* (command: string, timeout: number, { progress, workspace }: ToolContext) {
      const onOutput = yield* makeLiveOutput((text) => progress({ content: [textContent(fenced(text))] }))
      const result = yield* runner.run({
        command,
        cwd: workspace.cwd,
        timeout: Duration.millis(timeout),
        spill: yield* spillFile(workspace.scratch),
        onOutput
      })
      return outcomeOf(result)
    },
    Effect.scoped,
    Effect.catch(({ message }) => Effect.succeed(failed(message)))
  )

  return {
    tool,
    kind: "execute",
    title: "Run command",
    concurrency: "exclusive",
    prepare: Effect.fnUntraced(function* (raw, workspace) {
      const { command, description, timeout = DEFAULT_TIMEOUT } = yield* decode(raw)
      if (command.trim() === "") return yield* new ToolInputInvalid({ message: `"command" is empty: give a command` })
      const bounded = Math.min(LONGEST_TIMEOUT, Math.max(SHORTEST_TIMEOUT, timeout))
      const outside = yield* reach.outside(command, workspace)
      const words = [
        ...(description === undefined ? [] : [description]),
        fenced(command, "sh"),
        ...outside.map((path) => `A link leads out of the workspace, to ${path}`)
      ]
      return {
        title: titleOf(command),
        kind: "execute",
        locations: [],
        preview: [textContent(words.join("\n"))],
        access: { _tag: "Execute", command, cwd: workspace.cwd, ...(outside.length > 0 && { outside }) },
        run: (context) => run(command, bounded, context)
      } satisfies PreparedCall
    })
  }
}
