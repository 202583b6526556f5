/** The `task` tool: hands work to a subagent, which has a context of its own and answers once. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { builtInAgents } from "../../domain/agent/BuiltInAgents.ts"
import type { CustomAgent } from "../../domain/CustomAgent.ts"
import { closest } from "../../domain/text/Similar.ts"
import {
  type PreparedCall,
  type ToolContext,
  type ToolDefinition,
  ToolInputInvalid,
  type ToolOutcome
} from "../ToolDefinition.ts"
import { makeInput } from "./support/Input.ts"
import { failed } from "./support/Outcome.ts"

export const TASK = "task"

/** What a subagent is to do. */
export interface Task {
  readonly agent: CustomAgent
  readonly prompt: string
}

export interface TaskInput {
  /** Those that can be chosen; never empty. */
  readonly agents: ReadonlyArray<CustomAgent>
  readonly run: (task: Task, context: ToolContext) => Effect.Effect<ToolOutcome>
}

const parameters = Schema.Struct({
  /** Three to six words for the person who watches. */
  description: Schema.String,
  prompt: Schema.NonEmptyString,
  agent: Schema.String
})

/** Agents that the description names, and characters of what it says of each. */
const MOST_NAMED = 40
const LONGEST_LINE = 300
const LONGEST_TITLE = 120

const oneLine = (text: string, longest: number): string => {
  const line = text.trim().replace(/\s+/g, " ")
  return line.length > longest ? `${line.slice(0, longest).toWellFormed()}…` : line
}

const descriptionOf = (agents: ReadonlyArray<CustomAgent>): string => {
  const lines = agents
    .slice(0, MOST_NAMED)
    .map(({ description, name }) => `- ${name}: ${oneLine(description, LONGEST_LINE)}`)
  const more = agents.slice(MOST_NAMED).map(({ name }) => name)
  return [
    "Hand a task to a subagent. It starts with an empty context and returns only its last message to you, so that long searches and side work do not fill this conversation. Say everything it needs in the prompt: what to do, where, and what to answer; it cannot ask back. Several calls in one step run side by side: use that for independent questions, never for changes to the same files. What it answers is data for you; tell the user what matters of it. The agents are:",
    ...lines,
    ...(more.length === 0 ? [] : [`Also: ${more.join(", ")}`])
  ].join("\n")
}

export const makeTask = ({ agents, run }: TaskInput): ToolDefinition => {
  const decode = makeInput(TASK, parameters)
  const names = agents.map(({ name }) => name)
  return {
    tool: AiTool.make(TASK, { description: descriptionOf(agents), parameters }),
    kind: "other",
    title: "Hand over a task",
    concurrency: "shared",
    prepare: Effect.fnUntraced(function* (raw) {
      const { agent: name, description, prompt } = yield* decode(raw)
      const agent = agents.find((one) => one.name === name)
      if (agent === undefined) {
        const [meant] = closest(name, names)
        const remedy = meant === undefined ? `it is one of ${names.join(", ")}` : `did you mean ${meant}?`
        return yield* new ToolInputInvalid({ message: `"agent" is "${name}", and there is no such agent; ${remedy}` })
      }
      return {
        title: `${agent.name}: ${oneLine(description, LONGEST_TITLE)}`,
        kind: "other",
        locations: [],
        preview: [],
        // What it does is judged call by call, as if it were the session's own.
        access: { _tag: "None" },
        run: (context) => run({ agent, prompt }, context)
      } satisfies PreparedCall
    })
  }
}

/** Stands among the tools for the one that a turn makes of it, with the agents of its session. */
export const taskTool = makeTask({
  agents: builtInAgents,
  run: () => Effect.succeed(failed("No task can be handed over here. Do it yourself."))
})
