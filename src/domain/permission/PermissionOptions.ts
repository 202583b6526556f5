/** What a person can answer to a question, and what each "always" will be remembered as: exactly what its label says. */
import type { Access, Grant, PermissionOption } from "./Permission.ts"
import { exceptionalPaths, mcpName, WORKSPACE_EDITS } from "./PermissionFacts.ts"

export interface Choice {
  readonly option: PermissionOption
  readonly grants: ReadonlyArray<Grant>
}

const MAX_LABEL = 120

/** The subject in quotes, if it can be read as a label. */
const quoted = (subject: string, otherwise: string): string =>
  subject.length <= MAX_LABEL && !subject.includes("\n") ? `"${subject}"` : otherwise

const once: ReadonlyArray<Choice> = [
  { option: { id: "allow-once", name: "Allow once", kind: "allow_once" }, grants: [] },
  { option: { id: "reject-once", name: "Reject", kind: "reject_once" }, grants: [] }
]

const always = (id: string, name: string, grants: ReadonlyArray<Grant>): Choice => ({
  option: { id, name, kind: "allow_always" },
  grants
})

const allowing = (access: Grant["access"], subjects: ReadonlyArray<string>): ReadonlyArray<Grant> =>
  subjects.map((subject) => ({ verdict: "allow", access, subject }))

const list = (paths: ReadonlyArray<string>): string => quoted(paths.join(", "), "exactly these files")

/** `cwd` is the session's: an answer for a command elsewhere is not remembered. */
export const choicesFor = (access: Access, cwd: string): ReadonlyArray<Choice> => {
  switch (access._tag) {
    case "None":
      return once
    case "Edit": {
      const name =
        exceptionalPaths(access).length === 0
          ? "Allow all edits in the workspace for this session"
          : `Allow edits of ${list(access.paths)} for this session`
      const subjects = exceptionalPaths(access).length === 0 ? [WORKSPACE_EDITS] : access.paths
      return [always("allow-edits-session", name, allowing("Edit", subjects)), ...once]
    }
    case "Read":
      return [
        always("always-allow", `Always allow reading ${list(access.outside)}`, allowing("Read", access.outside)),
        ...once
      ]
    case "Mcp":
      return [
        always(
          "always-allow",
          `Always allow ${quoted(mcpName(access), "this tool")}`,
          allowing("Mcp", [mcpName(access)])
        ),
        ...once
      ]
    case "Execute": {
      if (access.cwd !== cwd) return once
      const subject = access.command.trim()
      const label = quoted(subject, "exactly this command")
      return [
        always("always-allow", `Always allow ${label}`, allowing("Execute", [subject])),
        ...once,
        {
          option: { id: "reject-always", name: `Never run ${label}`, kind: "reject_always" },
          grants: [{ verdict: "reject", access: "Execute", subject }]
        }
      ]
    }
  }
}
