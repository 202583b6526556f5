/** What rules, remembered answers and built-in lists say about one access. Pure; `PermissionPolicy` weighs it. */
import { expandHome } from "../Paths.ts"
import type { Access, Grant } from "../Permission.ts"
import { matchCommand, matchWildcard } from "./CommandPattern.ts"
import { matchPath, type PatternBase, resolvePath } from "./PathPattern.ts"
import type { PermissionRule, PermissionRules } from "./PermissionRule.ts"
import { isReadOnlyLine, readOnlySegments } from "./ReadOnlyCommand.ts"
import { guises, isDangerous, isPlain, parseLine, type Segment, type ShellLine } from "./ShellLine.ts"

/** One access and everything that bears on it. */
export interface Situation {
  readonly access: Access
  /** Whether the call searches (`Grep` rules) rather than reads one file. */
  readonly search: boolean
  /** The session's folder: base of relative patterns, and what a command may read unasked. */
  readonly cwd: string
  readonly home: string | undefined
  readonly rules: PermissionRules
  readonly grants: ReadonlyArray<Grant>
}

export interface Facts {
  readonly denied: PermissionRule | undefined
  readonly asked: PermissionRule | undefined
  /** An `ask` rule that holds even where nothing is asked. */
  readonly insists: boolean
  /** Allow rules cover all of it. */
  readonly allowed: boolean
  /** Remembered answers. */
  readonly rejected: boolean
  readonly granted: boolean
  /** On the built-in list of what only reads. */
  readonly harmless: boolean
  /** Changes something, or may. */
  readonly changes: boolean
  /** An edit inside the workspace of a file that cannot run anything. */
  readonly acceptable: boolean
}

const nothing: Facts = {
  denied: undefined,
  asked: undefined,
  insists: false,
  allowed: false,
  rejected: false,
  granted: false,
  harmless: false,
  changes: false,
  acceptable: false
}

type Matches = (rule: PermissionRule) => boolean

const ruled = (rules: PermissionRules, struck: Matches, asked: Matches, allowed: boolean) => ({
  denied: rules.deny.find((rule) => rule.tool === "*" || struck(rule)),
  asked: rules.ask.find((rule) => rule.tool === "*" || asked(rule)),
  allowed
})

const verdictOf = (grants: ReadonlyArray<Grant>, verdict: Grant["verdict"], access: Grant["access"]) =>
  new Set(grants.filter((grant) => grant.verdict === verdict && grant.access === access).map(({ subject }) => subject))

/** Files that decide what git, a shell or an editor runs: never written unasked. */
const protectedPath =
  /\/(\.git|\.supercharge|\.vscode|\.idea|\.husky)(\/|$)|\/(\.gitmodules|\.gitconfig|\.mcp\.json|\.envrc|\.(bash|zsh)\w*|\.profile)$/

export const isProtected = (path: string): boolean => protectedPath.test(path)

/** The subject of a remembered answer to all edits inside the workspace. */
export const WORKSPACE_EDITS = "*"

/** Paths that a remembered answer to workspace edits does not cover. */
export const exceptionalPaths = (access: Extract<Access, { readonly _tag: "Edit" }>): ReadonlyArray<string> =>
  access.paths.filter((path) => access.outside.includes(path) || isProtected(path))

const pathFacts = (situation: Situation, access: Extract<Access, { readonly _tag: "Read" | "Edit" }>): Facts => {
  const { rules } = situation
  const concerns = ({ tool }: PermissionRule) =>
    access._tag === "Edit" ? tool === "Edit" : tool === "Read" || (tool === "Grep" && situation.search)
  const matches = (rule: PermissionRule, path: string, below: boolean) =>
    rule.pattern === undefined || matchPath(rule.pattern, path, situation, below)
  const struck = (rule: PermissionRule) => concerns(rule) && access.paths.some((path) => matches(rule, path, true))
  const allows = (path: string) =>
    rules.allow.some((rule) => rule.tool === "*" || (concerns(rule) && matches(rule, path, false)))
  const facts = { ...nothing, ...ruled(rules, struck, struck, access.paths.length > 0 && access.paths.every(allows)) }
  const given = verdictOf(situation.grants, "allow", access._tag)
  if (access._tag === "Edit") {
    const exceptions = exceptionalPaths(access)
    const covers = (path: string) => given.has(path) || (given.has(WORKSPACE_EDITS) && !exceptions.includes(path))
    return {
      ...facts,
      granted: access.paths.length > 0 && access.paths.every(covers),
      changes: true,
      acceptable: access.paths.length > 0 && exceptions.length === 0
    }
  }
  const covers = (path: string) => [...given].some((subject) => path === subject || path.startsWith(`${subject}/`))
  return {
    ...facts,
    granted: access.outside.length > 0 && access.outside.every(covers),
    harmless: access.outside.length === 0
  }
}

/** Deny rules for files also hold for the paths that a command spells out. */
const strikesPaths = (rule: PermissionRule, segment: Segment, base: string, patterns: PatternBase): boolean => {
  const pattern = rule.pattern
  if (pattern === undefined) return rule.tool === "Edit" && segment.writes.length > 0
  return [...segment.words, ...segment.reads, ...segment.writes]
    .flatMap(({ text }) => [text, text.slice(text.indexOf("=") + 1)])
    .filter((text) => text !== "" && !text.startsWith("-"))
    .map((text) => expandHome(text.replace(/^\$(HOME|\{HOME\})(?=\/|$)/, "~"), patterns.home))
    .some((text) => matchPath(pattern, resolvePath(base, text), patterns, true))
}

const strikesLine = (pattern: string | undefined, line: ShellLine): boolean =>
  pattern === undefined ||
  matchCommand(pattern, line.source) ||
  line.segments.some((segment) => guises(segment).some((text) => matchCommand(pattern, text)))

/** What is not plain, such as `npm test > /etc/motd`, is covered only by a rule that says exactly that. */
const coversSegment = ({ pattern, tool }: PermissionRule, segment: Segment): boolean =>
  tool === "*" ||
  (tool === "Bash" &&
    (pattern === undefined || (isPlain(segment) ? matchCommand(pattern, segment.text) : pattern === segment.source)))

const executeFacts = (situation: Situation, access: Extract<Access, { readonly _tag: "Execute" }>): Facts => {
  const { cwd, grants, rules } = situation
  const line = parseLine(access.command)
  const isAtHome = access.cwd === cwd
  const asked = (rule: PermissionRule) => rule.tool === "Bash" && strikesLine(rule.pattern, line)
  const struck = (rule: PermissionRule) =>
    asked(rule) ||
    (rule.tool !== "Bash" &&
      rule.tool !== "MCPTool" &&
      line.segments.some((segment) => strikesPaths(rule, segment, access.cwd, situation)))
  const every = (covers: (segment: Segment) => boolean) =>
    line.simple && line.segments.length > 0 && line.segments.every(covers)
  const isRuled = (segment: Segment) => rules.allow.some((rule) => coversSegment(rule, segment))
  const isAny = ({ pattern, tool }: PermissionRule) => tool === "*" || (tool === "Bash" && (pattern ?? "*") === "*")
  const verdicts = ruled(rules, struck, asked, rules.allow.some(isAny) || every(isRuled))

  const given = isAtHome ? verdictOf(grants, "allow", "Execute") : new Set<string>()
  const refused = verdictOf(grants, "reject", "Execute")
  const strays = (access.outside ?? []).length > 0
  const readOnly = strays ? new Set<Segment>() : readOnlySegments(line, access.cwd, cwd)
  const reads = isReadOnlyLine(line, access.cwd, cwd)
  const isGiven = (segment: Segment) =>
    given.has(segment.source) && isPlain(segment) && !segment.fed && !isDangerous(segment)
  const isHidden = !line.legible && [...rules.deny, ...rules.ask].some((rule) => rule.tool === "Bash")
  return {
    ...nothing,
    ...verdicts,
    insists: verdicts.asked?.tool === "Bash" || isHidden,
    rejected: refused.has(line.source) || line.segments.some((segment) => refused.has(segment.source)),
    granted:
      given.has(line.source) ||
      (verdicts.asked === undefined &&
        every((segment) => isRuled(segment) || isGiven(segment) || readOnly.has(segment))),
    harmless: reads && !strays,
    changes: !reads
  }
}

/** The name of an MCP tool in rules and remembered answers. */
export const mcpName = (access: { readonly server: string; readonly tool: string }): string =>
  `${access.server}__${access.tool}`

const mcpFacts = (situation: Situation, access: Extract<Access, { readonly _tag: "Mcp" }>): Facts => {
  const name = mcpName(access)
  const matches = ({ pattern, tool }: PermissionRule) => {
    if (tool !== "MCPTool" || pattern === undefined) return tool === "MCPTool"
    const bare = pattern.replace(/^mcp__/, "")
    return [bare, ...(bare.includes("__") ? [] : [`${bare}__*`])].some((glob) => matchWildcard(glob, name))
  }
  return {
    ...nothing,
    ...ruled(
      situation.rules,
      matches,
      matches,
      situation.rules.allow.some((rule) => rule.tool === "*" || matches(rule))
    ),
    rejected: verdictOf(situation.grants, "reject", "Mcp").has(name),
    granted: verdictOf(situation.grants, "allow", "Mcp").has(name)
  }
}

export const factsOf = (situation: Situation): Facts => {
  const { access } = situation
  switch (access._tag) {
    case "None":
      return {
        ...nothing,
        ...ruled(
          situation.rules,
          () => false,
          () => false,
          true
        ),
        harmless: true
      }
    case "Read":
    case "Edit":
      return pathFacts(situation, access)
    case "Execute":
      return executeFacts(situation, access)
    case "Mcp":
      return mcpFacts(situation, access)
  }
}
