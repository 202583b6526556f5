/** A tool of an MCP server as a tool of the model, named `server__tool`. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { textContent } from "../../domain/Tool.ts"
import { type ToolDefinition, ToolInputInvalid } from "../ToolDefinition.ts"
import { failed } from "../tools/support/Outcome.ts"
import { outcomeOf } from "./McpOutcome.ts"
import type { McpServer, McpTool } from "./McpServer.ts"
import type { Redactor } from "./Redactor.ts"

/** What model providers accept as a name. */
const MAX_NAME = 64
const MAX_ALIAS = 30
const MAX_DESCRIPTION = 10_000
const MAX_PREVIEW = 10_000

/** Hands out names that are no longer than `longest` and differ from those before: `x`, `x_2`, `x_3`. */
export const makeNamer = (longest: number) => {
  const taken = new Set<string>()
  return (wish: string): string => {
    let name = wish.slice(0, longest)
    for (let count = 2; taken.has(name); count++) {
      const ending = `_${count}`
      name = wish.slice(0, longest - ending.length) + ending
    }
    taken.add(name)
    return name
  }
}
export type Namer = ReturnType<typeof makeNamer>

/** Names of servers hold no `__`, so that `server__tool` can be read in one way only. */
export const makeAliases = (): Namer => {
  const unique = makeNamer(MAX_ALIAS)
  return (name) => unique(name.replace(/[^a-zA-Z0-9-]+/g, "_").replace(/^_+|_+$/g, "") || "server")
}

export const makeToolNames = (): Namer => makeNamer(MAX_NAME)

const Input = Schema.Record(Schema.String, Schema.Json)
const decodeInput = Schema.decodeUnknownEffect(Input)

export interface McpToolContext {
  /** The name of the server as the person gave it, and the unique one. */
  readonly name: string
  readonly alias: string
  readonly server: McpServer
  readonly redactor: Redactor
  readonly names: Namer
}

export const makeTool = (tool: McpTool, { alias, name, names, redactor, server }: McpToolContext): ToolDefinition => {
  const title = `${alias}: ${tool.name}`
  return {
    tool: AiTool.dynamic(names(`${alias}__${tool.name.replace(/[^a-zA-Z0-9_-]/g, "_")}`), {
      description: (tool.description?.trim() || tool.title || tool.name).slice(0, MAX_DESCRIPTION),
      parameters: { type: "object", ...tool.inputSchema }
    }).annotate(AiTool.Strict, false),
    kind: "other",
    title,
    concurrency: tool.annotations?.readOnlyHint === true ? "shared" : "exclusive",
    prepare: Effect.fnUntraced(function* (raw) {
      const input = yield* Effect.mapError(
        decodeInput(raw ?? {}),
        () => new ToolInputInvalid({ message: `The input of ${title} must be a JSON object that follows its schema.` })
      )
      const preview = JSON.stringify(input, null, 2)
      return {
        title,
        kind: "other",
        locations: [],
        preview: preview === "{}" ? [] : [textContent(preview.slice(0, MAX_PREVIEW))],
        access: { _tag: "Mcp", server: alias, tool: tool.name },
        run: () =>
          server.call(tool.name, input).pipe(
            Effect.map((result) => outcomeOf(result, redactor)),
            Effect.catch((failure) => Effect.succeed(failed(`The MCP server "${name}" ${redactor.problem(failure)}.`)))
          )
      }
    })
  }
}
