/** The `todo` tool: the plan that a person follows (F81). Always the complete list. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { PlanEntry } from "../../domain/Event.ts"
import { type PreparedCall, type ToolDefinition, ToolInputInvalid } from "../ToolDefinition.ts"
import { makeInput } from "./support/Input.ts"

const parameters = Schema.Struct({
  entries: Schema.Array(
    Schema.Struct({
      content: Schema.String,
      status: Schema.Literals(["pending", "in_progress", "completed", "cancelled"]),
      priority: Schema.optionalKey(Schema.Literals(["high", "medium", "low"]))
    })
  )
})

const tool = AiTool.make("todo", {
  description: "Replace the plan that the user sees: always the whole list.",
  parameters
})

const LIMIT = 100

/** Protocols know no cancelled entries: they leave the plan. */
const toPlan = (entries: (typeof parameters.Type)["entries"]): ReadonlyArray<PlanEntry> =>
  entries.flatMap(({ content, priority = "medium", status }) =>
    status === "cancelled" ? [] : [{ content, priority, status }]
  )

const summary = (entries: ReadonlyArray<PlanEntry>): string => {
  const count = (wanted: PlanEntry["status"]) => entries.filter(({ status }) => status === wanted).length
  return entries.length === 0
    ? "The plan is empty now."
    : `The plan has ${count("completed")} completed, ${count("in_progress")} in progress, ${count("pending")} pending.`
}

export const makeTodo = (): ToolDefinition => {
  const decode = makeInput("todo", parameters)
  return {
    tool,
    kind: "think",
    title: "Update plan",
    concurrency: "shared",
    prepare: Effect.fnUntraced(function* (raw) {
      const { entries } = yield* decode(raw)
      if (entries.length > LIMIT) {
        return yield* new ToolInputInvalid({
          message: `"entries" has ${entries.length} entries; at most ${LIMIT} fit: join small steps`
        })
      }
      const plan = toPlan(entries)
      return {
        title: "Update plan",
        kind: "think",
        locations: [],
        preview: [],
        access: { _tag: "None" },
        run: (context) => Effect.as(context.plan(plan), { status: "completed", text: summary(plan), content: [] })
      } satisfies PreparedCall
    })
  }
}
