/** The `bash_output` tool: which background commands there are, and what one of them wrote. */
import * as AiTool from "effect/ai/Tool"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { fenced } from "../../domain/text/Fence.ts"
import { textContent } from "../../domain/Tool.ts"
import type { PreparedCall, ToolContext, ToolDefinition, ToolOutcome } from "../ToolDefinition.ts"
import type { BackgroundCommands, BackgroundOutput, BackgroundStatus } from "./support/BackgroundCommands.ts"
import { ending, seconds } from "./support/CommandOutcome.ts"
import { makeInput } from "./support/Input.ts"
import { completed, failed } from "./support/Outcome.ts"

const parameters = Schema.Struct({
  id: Schema.optionalKey(Schema.String.annotate({ description: "As bash gave it; without it, all are listed" })),
  wait: Schema.optionalKey(
    Schema.Finite.annotate({ description: "Milliseconds to wait for its end first; default 0, at most 600000" })
  )
})

const tool = AiTool.make("bash_output", {
  description: "Read what a background command wrote since it was read last, or list the background commands.",
  parameters
})

const LONGEST_WAIT = 600_000

const stateOf = ({ age, result }: BackgroundStatus): string =>
  result === undefined
    ? `[running for ${seconds(age)}]`
    : "lost" in result
      ? `[ended after ${seconds(age)}: it could not be followed any further, and how it went is not known]`
      : ending(result)

const exitOf = ({ result }: BackgroundStatus): Readonly<Record<string, unknown>> => {
  if (result === undefined) return {}
  if ("lost" in result) return { lost: true }
  return result.exit._tag === "Code" ? { exitCode: result.exit.code } : { signal: result.exit.signal }
}

/** One that ended is told as such, whatever its exit code: reading about it succeeded. */
export const describeOutput = (output: BackgroundOutput): ToolOutcome => {
  const state = `${output.id} ${stateOf(output)}`
  return {
    status: "completed",
    text: `${output.output === "" ? "(nothing new)" : output.output.replace(/\n$/, "")}\n${state}`,
    content: [textContent(output.output === "" ? state : `${fenced(output.output)}\n${state}`)],
    rawOutput: {
      id: output.id,
      running: output.result === undefined,
      ...exitOf(output)
    }
  }
}

/** What is said of an id that nobody has. */
export const unknownId = (id: string, known: ReadonlyArray<BackgroundStatus>): ToolOutcome =>
  failed(
    `There is no background command "${id}" in this session. ` +
      (known.length === 0 ? "None was started." : `The ids are: ${known.map((one) => one.id).join(", ")}.`)
  )

export const makeBashOutput = (background: BackgroundCommands): ToolDefinition => {
  const decode = makeInput("bash_output", parameters)

  const run = Effect.fn("Tools.bash_output")(function* (
    { id, wait = 0 }: typeof parameters.Type,
    { workspace }: ToolContext
  ) {
    const known = yield* background.list(workspace)
    if (id === undefined) {
      return completed(
        known.length === 0
          ? "No background command was started in this session."
          : known.map((one) => `${one.id} ${stateOf(one)} ${one.command.replace(/\s*\n\s*/g, " ⏎ ")}`).join("\n")
      )
    }
    const read = yield* background.read(workspace, id, Duration.millis(Math.min(Math.max(wait, 0), LONGEST_WAIT)))
    return read === undefined ? unknownId(id, known) : describeOutput(read)
  })

  return {
    tool,
    kind: "other",
    title: "Read background output",
    concurrency: "shared",
    prepare: Effect.fnUntraced(function* (raw) {
      const input = yield* decode(raw)
      return {
        title: input.id === undefined ? "List background commands" : `Output of ${input.id}`,
        kind: "other",
        locations: [],
        preview: [],
        access: { _tag: "None" },
        run: (context) => run(input, context)
      } satisfies PreparedCall
    })
  }
}
