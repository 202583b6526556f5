/** Slash commands: those that the agent brings along, and how a prompt names one. */
import type { Content } from "./Content.ts"
import type { Harness } from "./Harness.ts"

/** `name` is without its slash; `hint` says what may follow it. */
export interface CommandInfo {
  readonly name: string
  readonly description: string
  readonly hint?: string
}

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

const whole = new Set<string>(["undo", "clear"] satisfies ReadonlyArray<BuiltInName>)

/** Whether it can be broken off anywhere, since it changes nothing before its end. */
export const isReading = (name: string): boolean => !whole.has(name)

/** A command as it was typed. `input` is all that followed its name, without the space around it. */
export interface Typed {
  readonly name: string
  readonly input: string
  /** What came with it, such as files that the editor attached. */
  readonly rest: ReadonlyArray<Content>
}

/** The command that a prompt may be: it begins with a slash and a name. Whether there is one of that name is another thing. */
export const typedIn = (content: ReadonlyArray<Content>): Typed | undefined => {
  const [first, ...rest] = content
  if (first?.type !== "text") return undefined
  const [, name, input = ""] = /^\s*\/([^\s/]+)(?:\s+([^]*))?$/.exec(first.text) ?? []
  return name === undefined ? undefined : { name, input: input.trim(), rest }
}
