/** The tools that a server offers, as many as a request to a model can carry. What is left out is told, never just missing. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { clip } from "../../../domain/text/Clip.ts"
import * as Lenient from "../../../domain/wire/Lenient.ts"
import { visible } from "../../../domain/text/Visible.ts"

const MAX_TOOLS = 1_000
/** In characters; the protocol advises 128. */
const MAX_NAME = 256
export const MAX_DESCRIPTION = 10_000
/** Of one schema as JSON, and of all tools together: more than that no model can read. */
const MAX_SCHEMA = 200_000
const MAX_ALL = 4_000_000

/** What we use of a tool's description. `inputSchema` is passed on as it came. */
export const McpTool = Schema.Struct({
  name: Schema.NonEmptyString,
  title: Lenient.drop(Schema.String),
  description: Lenient.drop(Schema.String),
  inputSchema: Lenient.drop(Schema.Record(Schema.String, Schema.Json)),
  annotations: Lenient.drop(
    Schema.Struct({ title: Lenient.drop(Schema.String), readOnlyHint: Lenient.drop(Schema.Boolean) })
  ),
  execution: Lenient.drop(Schema.Struct({ taskSupport: Lenient.drop(Schema.String) }))
})
export type McpTool = typeof McpTool.Type

const decodeTool = Schema.decodeUnknownOption(McpTool)

/** Tools that can only be called as tasks are none that a model can use. */
const isCallable = ({ execution }: McpTool): boolean => execution?.taskSupport !== "required"

export interface Listed {
  readonly tools: ReadonlyArray<McpTool>
  /** What of them is not used, as what follows the server's name. */
  readonly leftOut: string | undefined
}

export interface ToolList {
  readonly add: (tools: ReadonlyArray<unknown>) => void
  readonly isFull: () => boolean
  /** `hasMore`: the server has others, which were not asked for. */
  readonly listed: (hasMore: boolean) => Listed
}

/** Of a server that has no tools. */
export const none: Listed = { tools: [], leftOut: undefined }

/** A name in the words of ours: short, and nothing in it that nobody sees. */
export const shownName = (name: string): string => clip(visible(name.replace(/[\r\n\t]+/g, " ")), 100)

export const make = (): ToolList => {
  const tools: Array<McpTool> = []
  const names = new Set<string>()
  const unfit: Array<string> = []
  let size = 0
  let isFull = false

  const take = (tool: McpTool): void => {
    const schema = tool.inputSchema === undefined ? 0 : JSON.stringify(tool.inputSchema).length
    if (tool.name.length > MAX_NAME || schema > MAX_SCHEMA) return void unfit.push(shownName(tool.name))
    // The protocol wants them to differ, and so do models.
    if (names.has(tool.name)) return undefined
    names.add(tool.name)
    size += tool.name.length + Math.min(tool.description?.length ?? 0, MAX_DESCRIPTION) + schema
    isFull = tools.length >= MAX_TOOLS || size > MAX_ALL
    if (!isFull) tools.push(tool)
    return undefined
  }

  return {
    add: (found) => {
      for (const one of found) {
        if (isFull) return
        const tool = decodeTool(one)
        if (Option.isSome(tool) && isCallable(tool.value)) take(tool.value)
      }
    },
    isFull: () => isFull,
    listed: (hasMore) => {
      const reasons = [
        ...(isFull || hasMore ? [`only ${tools.length} of its tools are used, because it has too many`] : []),
        ...(unfit.length === 0
          ? []
          : [`${unfit.length} with too long a name or schema are not used, such as ${unfit[0]}`])
      ]
      return { tools, leftOut: reasons.length === 0 ? undefined : reasons.join(", and ") }
    }
  }
}
