/**
 * An agent that a person or a project describes: instructions, and limits to what its session may do. It can only narrow:
 * no agent gives a tool or a mode that the session does not have.
 */
import * as Schema from "effect/Schema"
import { ExecutionMode } from "./permission/ExecutionMode.ts"

const limits = {
  /** The highest mode. */
  mode: Schema.optionalKey(ExecutionMode),
  /** The only tools; absent: all. `mcp__server` stands for all tools of a server, `*` for all tools. */
  tools: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Tools that it does not get, in the same spelling. */
  without: Schema.optionalKey(Schema.Array(Schema.String))
}

/** What an agent keeps its session from. */
export const AgentLimits = Schema.Struct(limits)
export type AgentLimits = typeof AgentLimits.Type

export const CustomAgent = Schema.Struct({
  ...limits,
  name: Schema.NonEmptyString,
  /** When it is of use, for people and models. May be empty. */
  description: Schema.String,
  /** Its instructions. */
  prompt: Schema.String,
  /** Whether they replace those of the harness; otherwise they are added. */
  replaces: Schema.Boolean,
  /** As written; see `modelFor` of `AgentLimits`. */
  model: Schema.optionalKey(Schema.String),
  /** Model requests that it may make as a subagent. */
  steps: Schema.optionalKey(Schema.Int)
})
export type CustomAgent = typeof CustomAgent.Type

/** Where an agent was found. `session`: its client or the command line brought it. */
export type AgentScope = "project" | "user" | "plugin" | "session"

export interface FoundAgent extends CustomAgent {
  readonly scope: AgentScope
  /** Absolute; absent where it has no file. */
  readonly path?: string
}

/** The agent of a session, and its limits as they were when it was chosen: a file that changes later cannot widen them. */
export const AgentChoice = Schema.Struct({
  name: Schema.NonEmptyString,
  limits: AgentLimits,
  /** Whether its own model is used: no longer once another one was chosen. */
  ownModel: Schema.Boolean,
  /** All of it, where it has no file that a later process could read. */
  definition: Schema.optionalKey(CustomAgent)
})
export type AgentChoice = typeof AgentChoice.Type

export const limitsOf = ({ mode, tools, without }: AgentLimits): AgentLimits => ({
  ...(mode === undefined ? {} : { mode }),
  ...(tools === undefined ? {} : { tools }),
  ...(without === undefined ? {} : { without })
})

export const choiceOf = ({ path: _path, scope, ...agent }: FoundAgent, ownModel = true): AgentChoice => ({
  name: agent.name,
  limits: limitsOf(agent),
  ownModel,
  ...(scope === "session" ? { definition: agent } : {})
})
