/** The `bash_stop` tool: ends a background command. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { PreparedCall, ToolContext, ToolDefinition } from "../ToolDefinition.ts"
import { describeOutput, unknownId } from "./BashOutput.ts"
import type { BackgroundCommands } from "./support/BackgroundCommands.ts"
import { makeInput } from "./support/Input.ts"

const parameters = Schema.Struct({ id: Schema.String.annotate({ description: "As bash gave it" }) })

const tool = AiTool.make("bash_stop", {
  description: "End a background command, and read the last of its output.",
  parameters
})

export const makeBashStop = (background: BackgroundCommands): ToolDefinition => {
  const decode = makeInput("bash_stop", parameters)

  const run = Effect.fn("Tools.bash_stop")(function* (id: string, { workspace }: ToolContext) {
    const stopped = yield* background.stop(workspace, id)
    return stopped === undefined ? unknownId(id, yield* background.list(workspace)) : describeOutput(stopped)
  })

  return {
    tool,
    kind: "other",
    title: "Stop background command",
    concurrency: "exclusive",
    prepare: Effect.fnUntraced(function* (raw) {
      const { id } = yield* decode(raw)
      return {
        title: `Stop ${id}`,
        kind: "other",
        locations: [],
        preview: [],
        access: { _tag: "None" },
        run: (context) => run(id, context)
      } satisfies PreparedCall
    })
  }
}
