/** One access, everything that bears on it, and what that says about it. */
import type { PatternPlace } from "../PathPattern.ts"
import type { Access, Grant } from "../Permission.ts"
import type { PermissionRule, PermissionRules } from "../PermissionRule.ts"
import type { Workplace } from "../ReadOnlyCommand.ts"

/** `links` knows at least the paths that the access mentions. */
export interface Situation extends Workplace, PatternPlace {
  readonly access: Access
  /** Whether the call searches (`Grep` rules) rather than reads one file. */
  readonly search: boolean
  readonly rules: PermissionRules
  /** Remembered answers, of the project and of the session. */
  readonly grants: ReadonlyArray<Grant>
  /** Whether a command would run under a sandbox. */
  readonly confined: boolean
  /** Somebody asked for a confinement that cannot be had: commands would run free against their word. */
  readonly unconfinable: boolean
  /** Remembered answers could not be read, and one of them may be a no. */
  readonly forgetful: boolean
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
  /** Those of them that are about this access. */
  readonly remembered: ReadonlyArray<Grant>
  /** No mode and no list is enough: only a rule or a remembered answer lets it run unasked. */
  readonly unsettled: boolean
  /** On the built-in list of what only reads. */
  readonly harmless: boolean
  /** Changes something, or may. */
  readonly changes: boolean
  /** An edit inside the workspace of a file that cannot run anything. */
  readonly acceptable: boolean
  /** A confined command that is known to stay in the project. */
  readonly safe: boolean
}

export const nothing: Facts = {
  denied: undefined,
  asked: undefined,
  insists: false,
  allowed: false,
  rejected: false,
  granted: false,
  remembered: [],
  unsettled: false,
  harmless: false,
  changes: false,
  acceptable: false,
  safe: false
}

type Matches = (rule: PermissionRule) => boolean

/** `strikes` and `asks` say which rules are about the access; those for every tool are. */
export const ruled = (rules: PermissionRules, strikes: Matches, asks: Matches, allowed: boolean) => ({
  denied: rules.deny.find((rule) => rule.tool === "*" || strikes(rule)),
  asked: rules.ask.find((rule) => rule.tool === "*" || asks(rule)),
  allowed
})

/** The subjects of the answers of one kind. */
export const subjectsOf = (
  grants: ReadonlyArray<Grant>,
  verdict: Grant["verdict"],
  access: Grant["access"]
): ReadonlySet<string> =>
  new Set(grants.filter((grant) => grant.verdict === verdict && grant.access === access).map(({ subject }) => subject))
