/** What an agent makes of a session: narrower, and told more. */
import type { AgentLimits, CustomAgent } from "../CustomAgent.ts"
import type { Harness } from "../Harness.ts"
import type { ModelInfo } from "../Model.ts"
import { lower } from "../permission/ExecutionMode.ts"

const names = (list: ReadonlyArray<string>, tool: string): boolean =>
  list.some((name) => {
    if (name === tool || name === "*") return true
    return name.startsWith("mcp__") && tool.startsWith(name.endsWith("*") ? name.slice(0, -1) : `${name}__`)
  })

/** Whether it may call a tool that its session has. */
export const mayUse = ({ tools, without = [] }: AgentLimits, tool: string): boolean =>
  (tools === undefined || names(tools, tool)) && !names(without, tool)

/** What both allow. */
export const within = (one: AgentLimits, other: AgentLimits): AgentLimits => {
  const mode = one.mode === undefined ? other.mode : lower(one.mode, other.mode ?? one.mode)
  const without = [...new Set([...(one.without ?? []), ...(other.without ?? [])])]
  const common = (tools: ReadonlyArray<string>, bound: AgentLimits) => tools.filter((tool) => mayUse(bound, tool))
  const tools =
    one.tools === undefined || other.tools === undefined
      ? (one.tools ?? other.tools)
      : [...new Set([...common(one.tools, other), ...common(other.tools, one)])]
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(tools === undefined ? {} : { tools }),
    ...(without.length === 0 ? {} : { without })
  }
}

/** The harness under these limits. */
export const narrowed = (harness: Harness, bounds: AgentLimits): Harness => ({
  ...harness,
  tools: harness.tools.filter((tool) => mayUse(bounds, tool)),
  ceiling: lower(harness.ceiling, bounds.mode ?? harness.ceiling)
})

/** What the model is told first. `given` is what stands there without the agent. */
export const promptWith = ({ prompt, replaces }: CustomAgent, given: string): string =>
  replaces ? prompt : `${given}\n\n${prompt}`

/**
 * The model that is meant: by its id, by the part behind the provider, or by one word of that, such as `haiku`. Undefined when
 * there is none.
 */
export const modelFor = (known: ReadonlyArray<ModelInfo>, wanted: string): ModelInfo | undefined => {
  const own = (id: string) => id.slice(id.indexOf("/") + 1)
  return (
    known.find(({ id }) => id === wanted) ??
    known.find(({ id }) => own(id) === wanted) ??
    known.find(({ id }) =>
      own(id)
        .split(/[-.:_/]/)
        .includes(wanted.toLowerCase())
    )
  )
}

/** Names are one where a file system may take them for one. */
export const sameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()
