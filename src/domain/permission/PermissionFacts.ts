/** What rules, remembered answers and built-in lists say about one access. Pure; `PermissionPolicy` weighs it. */
import type { Access, Grant } from "./Permission.ts"
import { matchCommand, matchWildcard } from "./CommandPattern.ts"
import {
  anchorsOf,
  covering,
  mayLieIn,
  type PatternBase,
  type PatternPlace,
  realName,
  striking
} from "./PathPattern.ts"
import type { PermissionRule, PermissionRules } from "./PermissionRule.ts"
import { isReadOnlyLine, readOnlySegments, sweptBy, type Workplace } from "./ReadOnlyCommand.ts"
import { guises, isDangerous, isPlain, parseLine, type Segment, type ShellLine } from "./ShellLine.ts"
import { pathsFrom, pathsOfLine, type ShellPlace } from "./ShellPaths.ts"

/** One access and everything that bears on it. `links` knows at least the paths that it mentions. */
export interface Situation extends Workplace, PatternPlace {
  readonly access: Access
  /** Whether the call searches (`Grep` rules) rather than reads one file. */
  readonly search: boolean
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

const isReadRule = ({ tool }: PermissionRule, search: boolean): boolean =>
  tool === "Read" || (tool === "Grep" && search)

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
  const { links, rules } = situation
  const names = access.paths.flatMap((path) => [path, realName(links, path)])
  const concerns = (rule: PermissionRule) =>
    access._tag === "Edit" ? rule.tool === "Edit" : isReadRule(rule, situation.search)
  const struck = (rule: PermissionRule) =>
    concerns(rule) && (rule.pattern === undefined || names.some(striking(rule.pattern, situation)))
  const allows = (path: string) =>
    rules.allow.some(
      (rule) =>
        rule.tool === "*" || (concerns(rule) && (rule.pattern === undefined || covering(rule.pattern, situation)(path)))
    )
  const facts = { ...nothing, ...ruled(rules, struck, struck, names.length > 0 && names.every(allows)) }
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
const strikesPaths = (rule: PermissionRule, line: ShellLine, names: ReadonlyArray<string>, place: PatternPlace) =>
  rule.pattern === undefined
    ? rule.tool === "Edit" && line.segments.some(({ writes }) => writes.length > 0)
    : names.some(striking(rule.pattern, place))

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
  const { cwd, grants, home, links, rules } = situation
  const line = parseLine(access.command)
  const isAtHome = access.cwd === cwd
  const shell: ShellPlace = { cwd: access.cwd, home }
  const { folders, followed, paths } = pathsOfLine(line, shell)
  const names = new Set([...paths, ...paths.map((path) => realName(links, path))])
  const asked = (rule: PermissionRule) => rule.tool === "Bash" && strikesLine(rule.pattern, line)
  const struck = (rule: PermissionRule) =>
    asked(rule) || (rule.tool !== "Bash" && rule.tool !== "MCPTool" && strikesPaths(rule, line, [...names], situation))
  const every = (covers: (segment: Segment) => boolean) =>
    line.simple && line.segments.length > 0 && line.segments.every(covers)
  const isRuled = (segment: Segment) => rules.allow.some((rule) => coversSegment(rule, segment))
  const isAny = ({ pattern, tool }: PermissionRule) => tool === "*" || (tool === "Bash" && (pattern ?? "*") === "*")
  const verdicts = ruled(rules, struck, asked, rules.allow.some(isAny) || every(isRuled))

  const given = isAtHome ? verdictOf(grants, "allow", "Execute") : new Set<string>()
  const refused = verdictOf(grants, "reject", "Execute")
  const strays = (access.outside ?? []).length > 0 || followed.length < paths.length
  // Nobody sees which files a search or a pattern shows, so that one which may meet a denied file is no longer harmless.
  const mayShow = (folder: string) =>
    rules.deny.some(
      (rule) => isReadRule(rule, true) && rule.pattern !== undefined && mayLieIn(rule.pattern, folder, situation)
    )
  const reading = [...(strays ? [] : readOnlySegments(line, access.cwd, situation))]
  const readOnly = new Set(reading.filter((segment) => !pathsFrom(sweptBy(segment), folders, shell).some(mayShow)))
  const reads = isReadOnlyLine(line, access.cwd, situation)
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
    harmless: reads && every((segment) => readOnly.has(segment)),
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

/** Paths whose real names say where the rules for files hold. */
export const anchorsOfRules = (rules: ReadonlyArray<PermissionRule>, place: PatternBase): ReadonlyArray<string> =>
  rules.flatMap(({ pattern, tool }) =>
    pattern !== undefined && (tool === "Read" || tool === "Edit" || tool === "Grep") ? anchorsOf(pattern, place) : []
  )

/** Paths whose real names a decision asks for, before it is made. */
export const mentionedPaths = (situation: Omit<Situation, "links">): ReadonlySet<string> => {
  const { access, home, rules } = situation
  const anchors = anchorsOfRules([...rules.deny, ...rules.ask, ...rules.allow], situation)
  switch (access._tag) {
    case "None":
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
