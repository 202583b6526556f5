/** The MCP servers of a session in words, as Markdown for a person. */
import type { McpStatus } from "../McpManager.ts"

const MAX_TOOLS = 60

const states: Readonly<Record<McpStatus["state"], string>> = {
  connecting: "connecting",
  ready: "ready",
  waiting: "not connected, and tried again by itself",
  failed: "cannot be used"
}

const origins: Readonly<Record<McpStatus["origin"], string>> = {
  client: "from the editor",
  settings: "from your settings",
  project: "from the project"
}

const describe = ({ name, origin, problem, revision, software, state, tools, transport }: McpStatus): string => {
  const facts = [
    `over ${transport}`,
    origins[origin],
    ...(software === undefined ? [] : [software]),
    ...(revision === undefined ? [] : [`protocol ${revision}`])
  ]
  const shown = tools.slice(0, MAX_TOOLS).map((tool) => `\`${tool}\``)
  if (tools.length > MAX_TOOLS) shown.push(`and ${tools.length - MAX_TOOLS} more`)
  return [
    `- **${name}**: ${states[state]} (${facts.join(", ")})`,
    ...(problem === undefined ? [] : [`  It ${problem}.`]),
    ...(tools.length === 0 ? [] : [`  Tools: ${shown.join(", ")}`])
  ].join("\n")
}

export const describeServers = (status: ReadonlyArray<McpStatus>): string =>
  status.length === 0
    ? "This session has no MCP servers. Name them in the editor, or under [mcp_servers.NAME] in config.toml."
    : ["The MCP servers of this session:", ...status.map(describe)].join("\n")
