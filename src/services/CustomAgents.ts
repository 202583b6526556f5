/** The agents that a person, a project or a plugin describes in files. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { AgentScope, CustomAgent, FoundAgent } from "../domain/CustomAgent.ts"
import { InvalidInput } from "../domain/Failure.ts"

/** The agents of a folder. */
export interface AgentList {
  /** By name, without two that a file system may take for one. */
  readonly agents: ReadonlyArray<FoundAgent>
  /** What is wrong in their files; each line names file, field and remedy. */
  readonly problems: ReadonlyArray<string>
}

/** What a client wants to be written down. */
export interface NewAgent {
  readonly name: string
  readonly instructions: string
  /** Default: the first line of the instructions. */
  readonly description?: string
  /** Default: the project where the person trusts it, else the person's own. */
  readonly scope?: Extract<AgentScope, "project" | "user">
}

/** What `CustomAgents` promises. */
export interface CustomAgentsShape {
  /**
   * Those for an absolute folder, read anew when their files changed. A project's agent takes the place of one of the person's of
   * the same name, and keeps within its limits.
   */
  readonly list: (cwd: string) => Effect.Effect<AgentList>
  /** Writes a new file, whole or not at all. Fails for the field, and never replaces anything. */
  readonly create: (cwd: string, agent: NewAgent) => Effect.Effect<FoundAgent, InvalidInput>
  /** The agent in the file at an absolute path. Fails for the field `agentProfile`. */
  readonly load: (path: string) => Effect.Effect<FoundAgent, InvalidInput>
  /** The agent that a client sent: the fields of a file, and `prompt`. Fails for the field `agentProfile`. */
  readonly define: (value: Readonly<Record<string, unknown>>) => Effect.Effect<FoundAgent, InvalidInput>
}

const refuse = (field: string) =>
  Effect.fail(new InvalidInput({ field, message: "this agent reads and writes no files that describe agents" }))

/** Which agents there are beside the harnesses: none, unless a layer says otherwise. */
export const CustomAgents = Context.Reference<CustomAgentsShape>("super-pi/CustomAgents", {
  defaultValue: () => ({
    list: () => Effect.succeed({ agents: [], problems: [] }),
    create: () => refuse("name"),
    load: () => refuse("agentProfile"),
    define: () => refuse("agentProfile")
  })
})

export type { CustomAgent, FoundAgent }
