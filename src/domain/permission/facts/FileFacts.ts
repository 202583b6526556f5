/** What bears on reading and editing files. */
import { isWithin } from "../../files/Paths.ts"
import { covering, realName, striking } from "../PathPattern.ts"
import type { Access } from "../Permission.ts"
import type { PermissionRule } from "../PermissionRule.ts"
import { type Facts, nothing, ruled, type Situation, subjectsOf } from "./Situation.ts"

/** `Read` rules bind searches, too. */
export const isReadRule = ({ tool }: PermissionRule, search: boolean): boolean =>
  tool === "Read" || (tool === "Grep" && search)

/** Folders and files that decide what git, a shell, an editor or a package manager runs: never written unasked. */
const protectedPath = new RegExp(
  String.raw`/\.(git|hg|supercharge|claude|vscode|idea|zed|devcontainer|husky|cargo)(/|$)` +
    String.raw`|/\.(gitmodules|gitconfig|mcp\.json|envrc|profile|exrc|npmrc|pnpmfile\.c?js|pre-commit-config\.ya?ml)$` +
    String.raw`|/\.(bash|zsh|yarnrc|n?vimrc|nvim)[\w.-]*$`,
  "i"
)

export const isProtected = (path: string): boolean => protectedPath.test(path)

/** The subject of a remembered answer to all edits inside the workspace. */
export const WORKSPACE_EDITS = "*"

type Edit = Extract<Access, { readonly _tag: "Edit" }>
type Read = Extract<Access, { readonly _tag: "Read" }>

/** Paths that a remembered answer to workspace edits does not cover. */
export const exceptionalPaths = ({ outside, paths }: Edit): ReadonlyArray<string> =>
  paths.filter((path) => outside.includes(path) || isProtected(path))

export const fileFacts = (situation: Situation, access: Read | Edit): Facts => {
  const { grants, links, rules } = situation
  const namesOf = (paths: ReadonlyArray<string>) => paths.flatMap((path) => [path, realName(links, path)])
  const names = namesOf(access.paths)
  const reads = namesOf(access._tag === "Edit" ? (access.reads ?? []) : [])
  const concerns = (rule: PermissionRule) =>
    access._tag === "Edit" ? rule.tool === "Edit" : isReadRule(rule, situation.search)
  const strikes = (rule: PermissionRule) => {
    if (!concerns(rule) && (reads.length === 0 || !isReadRule(rule, situation.search))) return false
    return rule.pattern === undefined || (concerns(rule) ? names : reads).some(striking(rule.pattern, situation))
  }
  const allows = (path: string) =>
    rules.allow.some(
      (rule) =>
        rule.tool === "*" || (concerns(rule) && (rule.pattern === undefined || covering(rule.pattern, situation)(path)))
    )
  const facts = { ...nothing, ...ruled(rules, strikes, strikes, names.length > 0 && names.every(allows)) }
  const given = subjectsOf(grants, "allow", access._tag)
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
  const covers = (path: string) => [...given].some((folder) => isWithin(folder, path))
  return {
    ...facts,
    granted: access.outside.length > 0 && access.outside.every(covers),
    remembered: grants.filter(
      (grant) => grant.access === "Read" && access.outside.some((path) => isWithin(grant.subject, path))
    ),
    harmless: access.outside.length === 0
  }
}
