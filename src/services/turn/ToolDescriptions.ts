/** Tools as the model is told of them. They are run by the turn, so that each call is judged, told and logged. */
import * as Effect from "effect/Effect"
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type { ToolDefinition } from "../ToolDefinition.ts"

const describe = ({ tool }: ToolDefinition) =>
  Tool.dynamic(tool.name, {
    ...(tool.description === undefined ? {} : { description: tool.description }),
    parameters: Tool.getJsonSchema(tool)
  })

export type DescribedToolkit = Toolkit.WithHandler<Record<string, ReturnType<typeof describe>>>

export const describeAll = (tools: ReadonlyMap<string, ToolDefinition>): DescribedToolkit => ({
  tools: Object.fromEntries([...tools].map(([name, definition]) => [name, describe(definition)])),
  handle: (name) => Effect.die(new Error(`The tool "${name}" is run by the turn`))
})
