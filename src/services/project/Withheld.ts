/** What trust adds to a session, in words that a person can judge, and a mark that changes with it. */
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"
import type { HookSettings } from "../../domain/Hook.ts"
import type { McpServerSettings } from "../Settings.ts"
import type { ProjectContent } from "./ProjectFiles.ts"

/** Characters of one line. */
const LIMIT = 300

const line = (text: string): string => {
  const flat = text.replace(/\s+/g, " ").trim()
  return flat.length > LIMIT ? `${flat.slice(0, LIMIT)}…`.toWellFormed() : flat
}

const ofHook = ({ action, event, matcher }: HookSettings): string =>
  `the hook ${event}${matcher === undefined || matcher === "" ? "" : ` (${matcher})`}: ` +
  (action._tag === "Command" ? action.command : action.url)

/** Without values of the environment and of headers, which may be secrets. */
const ofServer = ({ spec }: McpServerSettings): string =>
  `the MCP server ${spec.name}: ${spec._tag === "Stdio" ? [spec.command, ...spec.args].join(" ") : spec.url}`

export const withheldBy = ({ hooks, mcpServers, permission }: ProjectContent): ReadonlyArray<string> => [
  ...hooks.map((hook) => line(ofHook(hook))),
  ...mcpServers.map((server) => line(ofServer(server))),
  ...permission.allow.map((rule) => line(`the rule allow ${rule}`))
]

const secretsOf = ({ spec }: McpServerSettings): ReadonlyArray<readonly [string, string]> =>
  (spec._tag === "Stdio" ? spec.env : spec.headers).map(({ name, value }) => [name, Redacted.value(value)])

/** Everything that would run or be allowed is in it, so that trust in one content is none in another. */
export const markOf = (content: ProjectContent): string =>
  createHash("sha256")
    .update(
      JSON.stringify([
        content.hooks.map(({ action, advisory, environment, event, matcher }) => [
          event,
          matcher ?? "",
          action,
          advisory,
          environment
        ]),
        content.mcpServers.map((server) => [ofServer(server), secretsOf(server)]),
        content.permission.allow
      ])
    )
    .digest("hex")
