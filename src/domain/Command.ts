/** Slash commands that the agent answers itself, without a model. */
import type { Content } from "./Content.ts"
import type { Harness } from "./Harness.ts"

/** `hint` says what may follow the name. */
export interface CommandInfo {
  readonly name: CommandName
  readonly description: string
  readonly hint?: string
}

export type CommandName = "undo" | "diff" | "mcp"

/** Whether it changes nothing, so that it can be broken off anywhere. */
export const isReading = (name: CommandName): boolean => name !== "undo"

interface Known extends CommandInfo {
  readonly isFor: (harness: Harness) => boolean
}

const changing = new Set(["write", "edit", "apply_patch", "bash"])
const changesFiles = ({ tools }: Harness): boolean => tools.some((tool) => changing.has(tool))

const known: ReadonlyArray<Known> = [
  {
    name: "undo",
    description: "Take back what the last turn changed in files",
    isFor: changesFiles
  },
  { name: "diff", description: "Show what this session changed in files", isFor: changesFiles },
  { name: "mcp", description: "Show the MCP servers of this session and their tools", isFor: ({ mcp }) => mcp }
]

/** Those of a session, as its client is told of them. */
export const commandsOf = (harness: Harness): ReadonlyArray<CommandInfo> =>
  known.filter(({ isFor }) => isFor(harness)).map(({ isFor: _isFor, ...info }) => info)

/** The command that a prompt is, if it is one: `/name` at its beginning and nothing but text. */
export const commandIn = (content: ReadonlyArray<Content>, harness: Harness): CommandName | undefined => {
  const [first, ...rest] = content
  if (first?.type !== "text" || rest.length > 0) return undefined
  const name = /^\/([a-z]+)\s*$/.exec(first.text.trimStart())?.[1]
  return commandsOf(harness).find((command) => command.name === name)?.name
}
