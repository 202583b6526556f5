/** What bears on a shell command: every segment for a yes, any for a no. */
import { matchCommand } from "../CommandPattern.ts"
import { mayLieIn, type PatternPlace, realName, striking } from "../PathPattern.ts"
import type { Access, Grant } from "../Permission.ts"
import type { PermissionRule } from "../PermissionRule.ts"
import { isReadOnlyLine, readOnlySegments, sweptBy } from "../ReadOnlyCommand.ts"
import { isSafeLine } from "../Risk.ts"
import { guises, isDangerous, isPlain, parseLine, type Segment, type ShellLine } from "../ShellLine.ts"
import { pathsFrom, pathsOfLine, type ShellPlace } from "../ShellPaths.ts"
import { isReadRule } from "./FileFacts.ts"
import { type Facts, nothing, ruled, type Situation, subjectsOf } from "./Situation.ts"

export type Execute = Extract<Access, { readonly _tag: "Execute" }>

/** Whether nothing would confine a command that is meant to be confined otherwise: what was allowed inside is no yes. */
export const runsFree = (
  { unsandboxed = false }: Execute,
  { unconfinable }: Pick<Situation, "unconfinable">
): boolean => unsandboxed || unconfinable

const UNSANDBOXED = "unsandboxed:"

interface Scope {
  /** The rule is about commands outside of the sandbox alone. */
  readonly isFree: boolean
  readonly pattern: string | undefined
}

const scopeOf = ({ pattern }: PermissionRule): Scope => {
  if (pattern?.startsWith(UNSANDBOXED) !== true) return { isFree: false, pattern }
  const rest = pattern.slice(UNSANDBOXED.length).trim()
  return { isFree: true, pattern: rest === "" ? undefined : rest }
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
const coversSegment = (rule: PermissionRule, segment: Segment): boolean => {
  const { pattern } = scopeOf(rule)
  return (
    rule.tool === "*" ||
    (rule.tool === "Bash" &&
      (pattern === undefined || (isPlain(segment) ? matchCommand(pattern, segment.text) : pattern === segment.source)))
  )
}

const coversAll = (rule: PermissionRule): boolean =>
  rule.tool === "*" || (rule.tool === "Bash" && (scopeOf(rule).pattern ?? "*") === "*")

/** The refused commands, also as they are read without quotes and needless blanks. */
const refusals = (grants: ReadonlyArray<Grant>, isFree: boolean): ReadonlySet<string> => {
  const subjects = [
    ...subjectsOf(grants, "reject", "Execute"),
    ...(isFree ? subjectsOf(grants, "reject", "Unsandboxed") : [])
  ]
  return new Set(
    subjects.flatMap((subject) => {
      const [first, ...more] = parseLine(subject).segments
      return first === undefined || more.length > 0 ? [subject] : [subject, first.text]
    })
  )
}

/** Nobody sees which files a search or a pattern shows, so that one which may meet a denied file is no longer harmless. */
const showing = (situation: Situation, folders: ReadonlyArray<string>, shell: ShellPlace) => {
  const rules = situation.rules.deny.filter((rule) => isReadRule(rule, true))
  const mayShow = (folder: string) =>
    rules.some(({ pattern }) => pattern !== undefined && mayLieIn(pattern, folder, situation))
  return (segment: Segment) => pathsFrom(sweptBy(segment), folders, shell).some(mayShow)
}

export const commandFacts = (situation: Situation, access: Execute): Facts => {
  const { cwd, grants, home, links, rules } = situation
  const line = parseLine(access.command)
  const isFree = runsFree(access, situation)
  const shell: ShellPlace = { cwd: access.cwd, home }
  const { folders, followed, paths } = pathsOfLine(line, shell)
  const names = [...new Set([...paths, ...paths.map((path) => realName(links, path))])]
  const every = (covers: (segment: Segment) => boolean) =>
    line.simple && line.segments.length > 0 && line.segments.every(covers)

  const asks = (rule: PermissionRule) => {
    const scope = scopeOf(rule)
    return rule.tool === "Bash" && (isFree || !scope.isFree) && strikesLine(scope.pattern, line)
  }
  const strikes = (rule: PermissionRule) =>
    asks(rule) ||
    ((rule.tool === "Read" || rule.tool === "Edit" || rule.tool === "Grep") &&
      strikesPaths(rule, line, names, situation))
  const allowing = rules.allow.filter((rule) => !isFree || (rule.tool === "Bash" && scopeOf(rule).isFree))
  const isRuled = (segment: Segment) => allowing.some((rule) => coversSegment(rule, segment))
  const verdicts = ruled(rules, strikes, asks, allowing.some(coversAll) || every(isRuled))

  // Where it runs is a part of what was allowed; a no holds everywhere.
  const here = grants.filter(({ folder = cwd }) => folder === access.cwd)
  const given = subjectsOf(here, "allow", isFree ? "Unsandboxed" : "Execute")
  const refused = refusals(grants, isFree)
  const texts = new Set([line.source, ...line.segments.flatMap(guises)])
  const strays = (access.outside ?? []).length > 0 || followed.length < paths.length
  const shows = showing(situation, folders, shell)
  const reading = [...(strays ? [] : readOnlySegments(line, access.cwd, situation))]
  const readOnly = new Set(reading.filter((segment) => !shows(segment)))
  const reads = isReadOnlyLine(line, access.cwd, situation)
  const isGiven = (segment: Segment) =>
    given.has(segment.source) && isPlain(segment) && !segment.fed && !isDangerous(segment)
  const isHidden = !line.legible && [...rules.deny, ...rules.ask].some(({ tool }) => tool === "Bash")
  return {
    ...nothing,
    ...verdicts,
    insists: verdicts.asked?.tool === "Bash" || isHidden,
    rejected: [...texts].some((text) => refused.has(text)),
    granted:
      given.has(line.source) ||
      (!isFree &&
        verdicts.asked === undefined &&
        every((segment) => isRuled(segment) || isGiven(segment) || readOnly.has(segment))),
    remembered: grants.filter(
      (grant) => (grant.access === "Execute" || grant.access === "Unsandboxed") && texts.has(grant.subject)
    ),
    unsettled: situation.unconfinable || situation.forgetful,
    harmless: !isFree && reads && every((segment) => readOnly.has(segment)),
    changes: access.unsandboxed === true || !reads,
    safe: !isFree && !strays && situation.confined && isSafeLine(line, readOnly, access.cwd !== cwd)
  }
}
