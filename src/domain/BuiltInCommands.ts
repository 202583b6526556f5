/** The slash commands that the agent brings along. Loaded with the list of commands, not before. */
import type { CommandInfo } from "./Command.ts"
import type { Harness } from "./Harness.ts"

export type BuiltInName =
  | "help"
  | "status"
  | "model"
  | "mode"
  | "effort"
  | "context"
  | "cost"
  | "compact"
  | "clear"
  | "undo"
  | "diff"
  | "mcp"
  | "permissions"
  | "agents"
  | "init"
  | "export"
  | "review"

export interface BuiltIn extends CommandInfo {
  readonly name: BuiltInName
  readonly isFor?: (harness: Harness) => boolean
  /** It only asks the model something, so that a file of the same name may ask it better. */
  readonly isPrompt?: boolean
}

const changing = new Set(["write", "edit", "apply_patch", "bash"])
const changesFiles = ({ tools }: Harness): boolean => tools.some((tool) => changing.has(tool))
const has = (tool: string) => (harness: Harness) => harness.tools.includes(tool)

const builtIns: ReadonlyArray<BuiltIn> = [
  { name: "help", description: "Show what can be typed after a slash" },
  { name: "status", description: "Show the session: model, mode, folder, servers" },
  { name: "model", description: "Show the models, or choose one", hint: "[model]" },
  { name: "mode", description: "Show the modes, or choose one", hint: "[mode]" },
  { name: "effort", description: "Show the levels of reasoning effort, or choose one", hint: "[level]" },
  { name: "context", description: "Show how full the model's context window is" },
  { name: "cost", description: "Show the tokens and the cost of this session" },
  {
    name: "compact",
    description: "Replace the conversation that the model reads by a summary",
    hint: "[what must be kept]"
  },
  { name: "clear", description: "Let the model forget the conversation; the history stays" },
  { name: "undo", description: "Take back what the last turn changed in files", isFor: changesFiles },
  { name: "diff", description: "Show what this session changed in files", isFor: changesFiles },
  { name: "mcp", description: "Show the MCP servers of this session and their tools", isFor: ({ mcp }) => mcp },
  { name: "permissions", description: "Show the rules and remembered answers that decide about tool calls" },
  { name: "agents", description: "Show the agents that there are" },
  {
    name: "init",
    description: "Write an AGENTS.md that tells agents about this project",
    hint: "[what matters]",
    isFor: has("write"),
    isPrompt: true
  },
  {
    name: "export",
    description: "Write the conversation into a Markdown file, or show it",
    hint: "[file]"
  },
  {
    name: "review",
    description: "Review the changes that are not committed, or others",
    hint: "[what]",
    isFor: has("bash"),
    isPrompt: true
  }
]

/** Those of a harness, as its client is told of them. */
export const builtInsOf = (harness: Harness): ReadonlyArray<BuiltIn> =>
  builtIns.filter(({ isFor }) => isFor === undefined || isFor(harness))
