/**
 * How much the agent may do without asking, from least to most. A mode above a ceiling is refused and not listed.
 * Deny rules and hooks hold in every mode.
 */
import * as Schema from "effect/Schema"

/** From least to most: `plan` only reads, `ask` asks, `accept-edits` asks for all but edits in the workspace. */
export const ExecutionMode = Schema.Literals(["plan", "ask", "accept-edits", "auto", "always-approve"])
export type ExecutionMode = typeof ExecutionMode.Type

const order = ExecutionMode.literals

export const atMost = (mode: ExecutionMode, ceiling: ExecutionMode): boolean =>
  order.indexOf(mode) <= order.indexOf(ceiling)

export const lower = (one: ExecutionMode, other: ExecutionMode): ExecutionMode => (atMost(one, other) ? one : other)

/** A mode as an editor lists it. */
export interface ModeDescription {
  readonly id: ExecutionMode
  readonly name: string
  readonly description: string
}

const descriptions: ReadonlyArray<ModeDescription> = [
  {
    id: "plan",
    name: "Plan",
    description: "Reads, searches and runs commands that only read; changes and other commands are refused"
  },
  { id: "ask", name: "Ask", description: "Asks before each change and each command that is not known to be harmless" },
  {
    id: "accept-edits",
    name: "Accept edits",
    description: "Edits inside the workspace without asking; asks for the rest"
  },
  {
    id: "auto",
    name: "Auto",
    description:
      "Edits inside the workspace and runs known build, test and git commands in the sandbox without asking; asks for the rest"
  },
  {
    id: "always-approve",
    name: "Always approve",
    description: "Runs everything without asking; deny rules, and ask rules for commands, still hold"
  }
]

/** The modes that can be chosen under a ceiling. */
export const offered = (ceiling: ExecutionMode): ReadonlyArray<ModeDescription> =>
  descriptions.filter(({ id }) => atMost(id, ceiling))
