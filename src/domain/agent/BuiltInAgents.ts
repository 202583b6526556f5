/** Agents that every session can hand tasks to. */
import type { CustomAgent } from "../CustomAgent.ts"

/** Subagents that are always there; a file of the same name takes the place of one. */
export const builtInAgents: ReadonlyArray<CustomAgent> = [
  {
    name: "general-purpose",
    description: "Any task of several steps, with all tools: research, a change in one part of the code, a check",
    prompt: "Do the whole task, no more and no less.",
    replaces: false
  },
  {
    name: "explore",
    description: "Finds out where and how something is done in the code; reads and searches, changes nothing",
    prompt:
      "You only read and search. Look in several places and under several names before you say that something is not there. Answer with what was asked, and with the places as path:line.",
    replaces: false,
    mode: "plan",
    tools: ["read", "grep", "glob", "list"]
  }
]
