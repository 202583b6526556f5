/** What bears on calling a tool of an MCP server. */
import { matchWildcard } from "../CommandPattern.ts"
import type { Access } from "../Permission.ts"
import type { PermissionRule } from "../PermissionRule.ts"
import { type Facts, nothing, ruled, type Situation, subjectsOf } from "./Situation.ts"

type Mcp = Extract<Access, { readonly _tag: "Mcp" }>

/** The name of an MCP tool in rules and remembered answers. */
export const mcpName = ({ server, tool }: Pick<Mcp, "server" | "tool">): string => `${server}__${tool}`

/** Every way to read a pattern as one for a server and one for its tool. Alone it is for all tools of a server. */
const readings = (pattern: string): ReadonlyArray<readonly [server: string, tool: string]> => {
  const bare = pattern.replace(/^mcp__/, "")
  const found: Array<readonly [string, string]> = []
  for (let at = bare.indexOf("__"); at !== -1; at = bare.indexOf("__", at + 1)) {
    found.push([bare.slice(0, at), bare.slice(at + 2)])
  }
  return found.length === 0 ? [[bare, "*"]] : found
}

/** As the model calls it: what providers do not take in a name is an underscore. */
const spoken = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, "_")

const matching =
  (names: ReadonlyArray<Pick<Mcp, "server" | "tool">>) =>
  ({ pattern, tool: ruled }: PermissionRule): boolean => {
    if (ruled !== "MCPTool" || pattern === undefined) return ruled === "MCPTool"
    return names.some(({ server, tool }) =>
      readings(pattern).some((reading) => matchWildcard(reading[0], server) && matchWildcard(reading[1], tool))
    )
  }

export const mcpFacts = ({ grants, rules }: Situation, access: Mcp): Facts => {
  const name = mcpName(access)
  const strikes = matching([access, { server: spoken(access.server), tool: spoken(access.tool) }])
  const covers = matching([access])
  return {
    ...nothing,
    ...ruled(
      rules,
      strikes,
      strikes,
      rules.allow.some((rule) => rule.tool === "*" || covers(rule))
    ),
    rejected: subjectsOf(grants, "reject", "Mcp").has(name),
    granted: subjectsOf(grants, "allow", "Mcp").has(name),
    remembered: grants.filter((grant) => grant.access === "Mcp" && grant.subject === name)
  }
}
