/** A harness is a value: which tools, how far it may go, what it is told, and whether a person is present. */
import * as Schema from "effect/Schema"
import type { ExecutionMode } from "./permission/ExecutionMode.ts"

/** Such as `super-pi-code`; a client names it in `_meta.harness` of `session/new`. */
export const HarnessId = Schema.NonEmptyString.pipe(Schema.brand("HarnessId"))
export type HarnessId = typeof HarnessId.Type

const everyTool = ["read", "write", "edit", "grep", "glob", "list", "bash", "todo"] as const

/** The name that a model calls. */
export type ToolName = (typeof everyTool)[number]

/** One kind of agent. A session keeps its harness for life. */
export interface Harness {
  readonly id: HarnessId
  readonly title: string
  readonly description: string
  readonly tools: ReadonlyArray<ToolName>
  /** Whether the MCP servers of the client become tools. */
  readonly mcp: boolean
  readonly ceiling: ExecutionMode
  /** Nobody present: what would be asked is denied. */
  readonly unattended: boolean
  readonly prompt: string
}

const readingTools: ReadonlyArray<ToolName> = ["read", "grep", "glob", "list", "todo"]

const code: Harness = {
  id: HarnessId.make("super-pi-code"),
  title: "Code",
  description: "Changes a repository: reads, edits, runs commands",
  tools: everyTool,
  mcp: true,
  ceiling: "always-approve",
  unattended: false,
  prompt: `You are a coding agent that works in the user's repository through tools.
Read before you edit. Keep changes small and in the style of the code around them. After a change, run the tests or checks that cover it and report what you saw, not what you expect.
Use the todo tool for work of more than a few steps and keep it current. Call independent read tools together in one step.
Be brief. Refer to code as path:line. When you are done, say what changed and what you verified.`
}

const assistant: Harness = {
  id: HarnessId.make("super-pi-assistant"),
  title: "Assistant",
  description: "Talks with a person and uses MCP tools; touches no files and runs no commands",
  tools: ["todo"],
  mcp: true,
  ceiling: "always-approve",
  unattended: false,
  prompt: `You are an assistant. You have no access to files or a shell; use the tools that you are given, and say so when a request needs more.
Answer briefly and plainly.`
}

const librarian: Harness = {
  id: HarnessId.make("super-pi-librarian"),
  title: "Librarian",
  description: "Reads and answers with nobody present: what would need a question is denied",
  tools: readingTools,
  mcp: true,
  ceiling: "accept-edits",
  unattended: true,
  prompt: `You answer questions about a repository by reading it. Nobody is present to answer questions of yours: decide with what you have.
Give sources as path:line.`
}

const planner: Harness = {
  id: HarnessId.make("super-pi-planner"),
  title: "Planner",
  description: "Studies a repository and writes a plan; cannot change anything",
  tools: readingTools,
  mcp: false,
  ceiling: "plan",
  unattended: false,
  prompt: `You study a repository and produce a plan for a change. You cannot change files or run commands.
Put the steps into the todo tool, each small enough to check, and name the files that each step touches.`
}

/** The built-in harnesses, the default one first. */
export const harnesses: readonly [Harness, ...ReadonlyArray<Harness>] = [code, assistant, librarian, planner]

/** The harness of a session that names none. */
export const defaultHarness: Harness = code

export const findHarness = (id: string): Harness | undefined => harnesses.find((harness) => harness.id === id)
