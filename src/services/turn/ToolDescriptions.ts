/** Tools as the model is told of them. They are run by the turn, so that each call is judged, told and logged. */
import * as Effect from "effect/Effect"
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type { ToolDefinition } from "../ToolDefinition.ts"

const make = ({ tool }: ToolDefinition) =>
  Tool.dynamic(tool.name, {
    ...(tool.description === undefined ? {} : { description: tool.description }),
    parameters: Tool.getJsonSchema(tool)
  })

type Described = ReturnType<typeof make>

export type DescribedToolkit = Toolkit.WithHandler<Record<string, Described>>

const made = new WeakMap<ToolDefinition, Described>()

/** Derived once per tool; the same description again is what a model adapter can keep things by. */
const describe = (definition: ToolDefinition): Described => {
  const known = made.get(definition)
  if (known !== undefined) return known
  const described = make(definition)
  made.set(definition, described)
  return described
}

export const describeAll = (tools: ReadonlyMap<string, ToolDefinition>): DescribedToolkit => ({
  tools: Object.fromEntries([...tools].map(([name, definition]) => [name, describe(definition)])),
  handle: (name) => Effect.die(new Error(`The tool "${name}" is run by the turn`))
})
