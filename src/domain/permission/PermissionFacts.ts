/** What rules, remembered answers and built-in lists say about one access. Pure; `PermissionPolicy` weighs it. */
import { commandFacts } from "./facts/CommandFacts.ts"
import { fetchFacts } from "./facts/FetchFacts.ts"
import { fileFacts, isReadRule } from "./facts/FileFacts.ts"
import { mcpFacts } from "./facts/McpFacts.ts"
import { type Facts, nothing, ruled, type Situation } from "./facts/Situation.ts"
import { anchorsOf, type PatternBase, type PatternPlace, striking } from "./PathPattern.ts"
import type { PermissionRule, PermissionRules } from "./PermissionRule.ts"
import { parseLine } from "./ShellLine.ts"
import { pathsOfLine } from "./ShellPaths.ts"

export type { Facts, Situation } from "./facts/Situation.ts"

const no = (): boolean => false

export const factsOf = (situation: Situation): Facts => {
  const { access } = situation
  switch (access._tag) {
    case "None":
      return { ...nothing, ...ruled(situation.rules, no, no, true), harmless: true }
    case "Read":
    case "Edit":
      return fileFacts(situation, access)
    case "Execute":
      return commandFacts(situation, access)
    case "Fetch":
      return fetchFacts(situation, access)
    case "Mcp":
      return mcpFacts(situation, access)
  }
}

/** Paths whose real names say where the rules for files hold. */
export const anchorsOfRules = (rules: ReadonlyArray<PermissionRule>, place: PatternBase): ReadonlyArray<string> =>
  rules.flatMap(({ pattern, tool }) =>
    pattern !== undefined && (tool === "Read" || tool === "Edit" || tool === "Grep") ? anchorsOf(pattern, place) : []
  )

/** Paths whose real names a decision asks for, before it is made. */
export const mentionedPaths = ({
  access,
  cwd,
  home,
  root = cwd,
  rules
}: Pick<Situation, "access" | "cwd" | "home" | "root" | "rules">): ReadonlySet<string> => {
  const anchors = anchorsOfRules([...rules.deny, ...rules.ask, ...rules.allow], { cwd, home, root })
  switch (access._tag) {
    case "None":
    case "Fetch":
    case "Mcp":
      return new Set()
    case "Read":
    case "Edit":
      return new Set([...anchors, ...access.paths])
    case "Execute": {
      const { folders, followed } = pathsOfLine(parseLine(access.command), { cwd: access.cwd, home })
      return new Set([...anchors, ...folders, ...followed])
    }
  }
}

/**
 * What the rules leave to somebody who looks below a folder that may be looked into: a test for both names of a file.
 * Undefined when they leave everything.
 */
export const readableBy = (
  { deny }: PermissionRules,
  search: boolean,
  place: PatternPlace
): ((path: string) => boolean) | undefined => {
  const strikes = deny.flatMap((rule) => {
    if (rule.tool !== "*" && !isReadRule(rule, search)) return []
    return [rule.pattern === undefined ? () => true : striking(rule.pattern, place)]
  })
  return strikes.length === 0 ? undefined : (path) => !strikes.some((strike) => strike(path))
}
