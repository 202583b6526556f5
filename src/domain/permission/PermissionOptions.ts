/** What a person can answer to a question, and what each "always" will be remembered as: exactly what its label says. */
import { type Execute, runsFree } from "./facts/CommandFacts.ts"
import { domainOf } from "./facts/FetchFacts.ts"
import { exceptionalPaths, WORKSPACE_EDITS } from "./facts/FileFacts.ts"
import { mcpName } from "./facts/McpFacts.ts"
import type { Access, Grant, PermissionOption } from "./Permission.ts"

export interface Choice {
  readonly option: PermissionOption
  readonly grants: ReadonlyArray<Grant>
}

/** Where the question is asked: the session's folder, and whether a confinement that was asked for cannot be had. */
export interface Occasion {
  readonly cwd: string
  readonly unconfinable: boolean
}

const MAX_LABEL = 120

/** Longer subjects are allowed once only. */
const MAX_SUBJECT = 2_000

/** The subject in quotes, if it can be read as a label. */
const quoted = (subject: string, otherwise: string): string =>
  subject.length <= MAX_LABEL && !/[\p{Cc}\p{Cf}]/u.test(subject) ? `"${subject}"` : otherwise

const list = (paths: ReadonlyArray<string>): string => quoted(paths.join(", "), "exactly these files")

const once: ReadonlyArray<Choice> = [
  { option: { id: "allow-once", name: "Allow once", kind: "allow_once" }, grants: [] },
  { option: { id: "reject-once", name: "Reject", kind: "reject_once" }, grants: [] }
]

const allows = (id: string, name: string, grants: ReadonlyArray<Omit<Grant, "verdict">>): Choice => ({
  option: { id, name, kind: "allow_always" },
  grants: grants.map((grant) => ({ verdict: "allow", ...grant }))
})

const rejects = (id: string, name: string, grant: Omit<Grant, "verdict">): Choice => ({
  option: { id, name, kind: "reject_always" },
  grants: [{ verdict: "reject", ...grant }]
})

const ofCommand = (execute: Execute, occasion: Occasion): ReadonlyArray<Choice> => {
  const isFree = runsFree(execute, occasion)
  const access = isFree ? "Unsandboxed" : "Execute"
  const subject = execute.command.trim()
  const label = quoted(subject, "exactly this command") + (isFree ? " outside of the sandbox" : "")
  const place = execute.cwd === occasion.cwd ? "" : ` in ${quoted(execute.cwd, "this folder")}`
  return [
    allows("always-allow", `Always allow ${label}${place}`, [{ access, subject, folder: execute.cwd }]),
    ...once,
    rejects("reject-always", `Never run ${label}`, { access, subject })
  ]
}

const ofFetch = (url: string): ReadonlyArray<Choice> => {
  const subject = domainOf(url)
  if (subject === undefined) return once
  return [
    allows("allow-always-domain", `Always allow fetching from ${subject}`, [{ access: "Fetch", subject }]),
    ...once,
    rejects("reject-always-domain", `Never fetch from ${subject} and below`, { access: "Fetch", subject })
  ]
}

const ofEdit = (access: Extract<Access, { readonly _tag: "Edit" }>): ReadonlyArray<Choice> => {
  const isOrdinary = exceptionalPaths(access).length === 0
  const name = isOrdinary
    ? "Allow all edits in the workspace for this session"
    : `Allow edits of ${list(access.paths)} for this session`
  const subjects = isOrdinary ? [WORKSPACE_EDITS] : access.paths
  return [
    allows(
      "allow-edits-session",
      name,
      subjects.map((subject) => ({ access: "Edit", subject }))
    ),
    ...once
  ]
}

const choicesOf = (access: Access, occasion: Occasion): ReadonlyArray<Choice> => {
  switch (access._tag) {
    case "None":
      return once
    case "Edit":
      return ofEdit(access)
    case "Read": {
      const subjects = access.outside.map((subject) => ({ access: "Read", subject }) as const)
      return [allows("always-allow", `Always allow reading ${list(access.outside)}`, subjects), ...once]
    }
    case "Mcp": {
      const subject = mcpName(access)
      return [
        allows("always-allow", `Always allow ${quoted(subject, "this tool")}`, [{ access: "Mcp", subject }]),
        ...once
      ]
    }
    case "Fetch":
      return ofFetch(access.url)
    case "Execute":
      return ofCommand(access, occasion)
  }
}

/** Only what is for this once, where answers are not remembered. */
export const onceOnly: ReadonlyArray<Choice> = once

/** The offered answers, in the order in which they are shown. */
export const choicesFor = (access: Access, occasion: Occasion): ReadonlyArray<Choice> =>
  choicesOf(access, occasion).filter(({ grants }) => grants.every(({ subject }) => subject.length <= MAX_SUBJECT))
