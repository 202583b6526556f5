/** A tool of an MCP server as a tool of the model, named `mcp__server__tool`. */
import * as AiTool from "effect/ai/Tool"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { clip } from "../../../domain/text/Clip.ts"
import { textContent } from "../../../domain/Tool.ts"
import { type ToolContext, type ToolDefinition, ToolInputInvalid, type ToolOutcome } from "../../ToolDefinition.ts"
import { failed } from "../../tools/support/Outcome.ts"
import type { CallContext, McpResult } from "../McpServer.ts"
import type { Redactor } from "../Redactor.ts"
import type { McpFailed } from "../transport/McpTransport.ts"
import type { CallLimit } from "../Patience.ts"
import { previewOf } from "./Preview.ts"
import { MAX_DESCRIPTION, type McpTool, shownName } from "./ToolList.ts"

/** What model providers accept as a name. */
const MAX_NAME = 64
const MAX_ALIAS = 30
/** Milliseconds between two views of a call's progress. */
const SHOW_EVERY = 200

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

/** Names of servers hold no `__`, so that `mcp__server__tool` can be read in one way only. */
export const makeAliases = (): Namer => {
  const unique = makeNamer(MAX_ALIAS)
  return (name) => unique(name.replace(/[^a-zA-Z0-9-]+/g, "_").replace(/^_+|_+$/g, "") || "server")
}

/** A tool keeps the name that it got, however often the tools are listed. */
export const makeToolNames = () => {
  const unique = makeNamer(MAX_NAME)
  const given = new Map<string, string>()
  return (alias: string, tool: string): string => {
    const key = JSON.stringify([alias, tool])
    const name = given.get(key) ?? unique(`mcp__${alias}__${tool.replace(/[^a-zA-Z0-9_-]/g, "_")}`)
    given.set(key, name)
    return name
  }
}

/** Whether a server may have these tools as well: names that were given stay, so there is an end to new ones. */
export const makeNameLimit = (most: number) => {
  let given: ReadonlySet<string> = new Set()
  return (names: ReadonlyArray<string>): boolean => {
    const all = given.union(new Set(names))
    if (all.size > most) return false
    given = all
    return true
  }
}

const Input = Schema.Record(Schema.String, Schema.Json)
const decodeInput = Schema.decodeUnknownEffect(Input)

export interface McpToolOptions {
  /** The name of the server as the person gave it, and the unique one. */
  readonly name: string
  readonly alias: string
  readonly toolName: string
  readonly limit: CallLimit
  readonly call: (
    tool: McpTool,
    input: Readonly<Record<string, Schema.Json>>,
    context: CallContext
  ) => Effect.Effect<McpResult, McpFailed>
  readonly outcome: (result: McpResult, context: ToolContext) => Effect.Effect<ToolOutcome>
  readonly redactor: Redactor
}

/** Tells the newest progress, and leaves out what comes too fast to be read. */
const progressOf = ({ progress }: ToolContext) => {
  let shownAt = -SHOW_EVERY
  return (text: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (now - shownAt < SHOW_EVERY) return Effect.void
      shownAt = now
      return progress({ content: [textContent(text)] })
    })
}

export const makeTool = (tool: McpTool, options: McpToolOptions): ToolDefinition => {
  const { alias, call, limit, name, outcome, redactor, toolName } = options
  const title = `${alias}: ${redactor.said(shownName(tool.name))}`
  const description = redactor.said(tool.description?.trim() || tool.title || tool.name)
  return {
    tool: AiTool.dynamic(toolName, {
      description: clip(description, MAX_DESCRIPTION),
      parameters: { type: "object", ...redactor.fields(tool.inputSchema ?? {}) }
    }).annotate(AiTool.Strict, false),
    kind: "other",
    title,
    concurrency: tool.annotations?.readOnlyHint === true ? "shared" : "exclusive",
    prepare: Effect.fnUntraced(function* (raw) {
      const input = yield* Effect.mapError(
        decodeInput(raw ?? {}),
        () => new ToolInputInvalid({ message: `The input of ${title} must be a JSON object that follows its schema.` })
      )
      return {
        title,
        kind: "other",
        locations: [],
        preview: previewOf(redactor.fields(input)),
        access: { _tag: "Mcp", server: alias, tool: tool.name },
        run: (context) =>
          call(tool, input, {
            sessionId: context.workspace.sessionId,
            callId: context.callId,
            elicit: context.elicit,
            progress: progressOf(context),
            limit
          }).pipe(
            Effect.flatMap((result) => outcome(result, context)),
            Effect.catch((failure) => Effect.succeed(failed(`The MCP server "${name}" ${redactor.problem(failure)}.`)))
          )
      }
    })
  }
}
