/** Reads the sections about how the agent behaves: sandbox, tools, modes, trust. */
import * as Schema from "effect/Schema"
import { ExecutionMode } from "../../domain/permission/ExecutionMode.ts"
import { SandboxProfile } from "../../domain/sandbox/Profile.ts"
import { type Complain, configKey, type Section, tellUnknown } from "./ConfigKey.ts"

const oneOf = (values: ReadonlyArray<string>) => `one of ${values.map((value) => `"${value}"`).join(", ")}`

// What a person wrote to protect the machine must not stop protecting it because of a spelling mistake.
const CONFINED = 'the profile is "strict" until this is corrected'

const UNTIL_THEN = ' Until this is corrected, the profile is "strict"'

const profileKey = configKey(SandboxProfile, oneOf(SandboxProfile.literals), CONFINED)
const processLimitKey = configKey(
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 })),
  "a whole number of processes",
  "it is 512"
)
const secondsKey = configKey(Schema.Finite.check(Schema.isGreaterThan(0)), "a number of seconds", "it is 120")
const harnessKey = configKey(Schema.NonEmptyString, 'the id of a harness, such as "super-pi-code"')

/** Modes under the names of other agents. */
const modeNames = {
  default: "ask",
  acceptEdits: "accept-edits",
  bypassPermissions: "always-approve"
} as const

const ModeName = Schema.Union([ExecutionMode, Schema.Literals(["default", "acceptEdits", "bypassPermissions"])])

/** The mode of a name; ours or that of other agents. */
export const modeOf = (name: typeof ModeName.Type): ExecutionMode =>
  name === "default" || name === "acceptEdits" || name === "bypassPermissions" ? modeNames[name] : name

const modeKey = configKey(ModeName, oneOf(ExecutionMode.literals), 'it is "ask"')
const rememberKey = configKey(Schema.Boolean, "true or false without quotes", "answers are not remembered")
const gitignoreKey = configKey(Schema.Boolean, "true or false without quotes", "it is true")
const outputKey = configKey(Schema.Int.check(Schema.isGreaterThan(0)), "a whole number of bytes", "it is 20000")
const domainsKey = configKey(
  Schema.Array(Schema.NonEmptyString),
  'a list of domains, such as ["example.org"]',
  "nothing can be fetched until this is corrected"
)
const localKey = configKey(Schema.Boolean, "true or false without quotes", "it is false")
const trustKey = configKey(Schema.Boolean, "true or false without quotes", "it is true")

/** What of these sections the file says. */
export interface AgentSettings {
  readonly sandboxProfile: SandboxProfile | undefined
  readonly processLimit: number | undefined
  /** Seconds. */
  readonly commandTimeout: number | undefined
  readonly harness: string | undefined
  readonly mode: ExecutionMode | undefined
  readonly rememberApprovals: boolean | undefined
  readonly respectGitignore: boolean | undefined
  readonly mcpOutputLimit: number | undefined
  readonly allowedDomains: ReadonlyArray<string> | undefined
  readonly allowLocal: boolean | undefined
  readonly folderTrust: boolean | undefined
}

/** What a misspelt name of the section does, to be said behind the question what was meant. */
export const withoutProfile = (root: Section, meant: string | undefined): string =>
  meant === "sandbox" && !root.section("sandbox", CONFINED).has("profile") ? UNTIL_THEN : ""

/**
 * The profile that a file names in `[sandbox]`. It is `strict` where one cannot be read: a value that is none or stands in
 * place of the section, a misspelt key, a misspelt name of the section.
 */
export const readProfile = (root: Section, complain: Complain): SandboxProfile | undefined => {
  const section = root.section("sandbox", CONFINED)
  const profile = section.read("profile", profileKey)
  const others = section.unknown(["profile"])
  const isMisspelt = profile === undefined && others.some(({ meant }) => meant !== undefined)
  for (const { meant, path } of others) {
    const remedy = meant === undefined ? "the only key is profile" : `did you mean ${meant}?`
    complain(path, `is not read; ${remedy}${meant !== undefined && isMisspelt ? UNTIL_THEN : ""}`)
  }
  if (profile !== undefined) return profile
  const isElsewhere = root.unknown(["sandbox"]).some(({ meant }) => meant !== undefined)
  return section.has("profile") || root.isMistaken("sandbox") || isMisspelt || isElsewhere ? "strict" : undefined
}

/** Misspelt keys; `alarm` takes those that were to confine something. */
const tellUnknownKeys = (root: Section, complain: Complain, alarm: Complain): void => {
  const toolset = root.section("toolset")
  tellUnknown(toolset, ["bash", "web_fetch"], complain)
  tellUnknown(toolset.section("bash"), ["timeout_secs", "process_limit"], complain)
  tellUnknown(toolset.section("web_fetch"), ["allowed_domains", "allow_local"], alarm)
  tellUnknown(root.section("tools"), ["respect_gitignore"], complain)
  tellUnknown(root.section("agent"), ["harness"], complain)
  tellUnknown(root.section("folder_trust"), ["enabled"], complain)
  // Programs that show the agent keep what they show in this section.
  tellUnknown(root.section("ui"), ["permission_mode", "remember_tool_approvals"], complain, "misspelt")
  if (root.section("mcp").has("disabled_mcp_servers")) {
    complain("mcp.disabled_mcp_servers", "is not read here; write it above every section")
  }
  tellUnknown(root.section("mcp"), ["max_output_bytes", "disabled_mcp_servers"], complain)
}

export const readAgentSections = (root: Section, complain: Complain, alarm: Complain): AgentSettings => {
  const bash = root.section("toolset").section("bash")
  const fetch = root.section("toolset").section("web_fetch")
  const ui = root.section("ui")
  const mode = ui.read("permission_mode", modeKey)
  const domains = fetch.read("allowed_domains", domainsKey)
  tellUnknownKeys(root, complain, alarm)
  return {
    sandboxProfile: readProfile(root, alarm),
    processLimit: bash.read("process_limit", processLimitKey),
    commandTimeout: bash.read("timeout_secs", secondsKey),
    harness: root.section("agent").read("harness", harnessKey),
    mode: mode === undefined ? undefined : modeOf(mode),
    rememberApprovals:
      ui.read("remember_tool_approvals", rememberKey) ?? (ui.has("remember_tool_approvals") ? false : undefined),
    respectGitignore: root.section("tools").read("respect_gitignore", gitignoreKey),
    mcpOutputLimit: root.section("mcp").read("max_output_bytes", outputKey),
    allowedDomains: domains ?? (fetch.has("allowed_domains") ? [] : undefined),
    allowLocal: fetch.read("allow_local", localKey),
    folderTrust: root.section("folder_trust").read("enabled", trustKey)
  }
}
