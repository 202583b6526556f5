/** Reads the sections about how the agent behaves, beside its choices: sandbox, tools, memory of answers, trust. */
import type { SandboxProfile } from "../../domain/sandbox/Profile.ts"
import { type Complain, type Section, tellUnknown } from "./ConfigKey.ts"
import * as keys from "./ConfigKeys.ts"

/** What of these sections the file says, beside choices. */
export interface AgentSettings {
  readonly sandboxProfile: SandboxProfile | undefined
  readonly processLimit: number | undefined
  readonly rememberApprovals: boolean | undefined
  readonly mcpOutputLimit: number | undefined
  readonly allowedDomains: ReadonlyArray<string> | undefined
  readonly allowLocal: boolean | undefined
  readonly folderTrust: boolean | undefined
}

const CONFINED = keys.sandbox.profile.otherwise

const UNTIL_THEN = ' Until this is corrected, the profile is "strict"'

/** What a misspelt name of the section does, to be said behind the question what was meant. */
export const withoutProfile = (root: Section, meant: string | undefined): string =>
  meant === "sandbox" && !root.section("sandbox", CONFINED).has("profile") ? UNTIL_THEN : ""

/**
 * The profile that a file names in `[sandbox]`. It is `strict` where one cannot be read: a value that is none or stands in
 * place of the section, a misspelt key, a misspelt name of the section.
 */
export const readProfile = (root: Section, complain: Complain): SandboxProfile | undefined => {
  const section = root.section("sandbox", CONFINED)
  const profile = section.read("profile", keys.sandbox.profile)
  const others = section.unknown(Object.keys(keys.sandbox))
  const isMisspelt = profile === undefined && others.some(({ meant }) => meant !== undefined)
  for (const { meant, path } of others) {
    const remedy = meant === undefined ? "the only key is profile" : `did you mean ${meant}?`
    complain(path, `is not read; ${remedy}${meant !== undefined && isMisspelt ? UNTIL_THEN : ""}`)
  }
  if (profile !== undefined) return profile
  const isElsewhere = root.unknown(["sandbox"]).some(({ meant }) => meant !== undefined)
  return root.isMistaken("sandbox") || isMisspelt || isElsewhere ? "strict" : undefined
}

/** Misspelt keys; `alarm` takes those that were to confine something. */
const tellUnknownKeys = (root: Section, complain: Complain, alarm: Complain): void => {
  const toolset = root.section("toolset")
  tellUnknown(toolset, ["bash", "web_fetch"], complain)
  tellUnknown(toolset.section("bash"), Object.keys(keys.bash), complain)
  tellUnknown(toolset.section("web_fetch"), Object.keys(keys.webFetch), alarm)
  tellUnknown(root.section("tools"), Object.keys(keys.tools), complain)
  tellUnknown(root.section("agent"), Object.keys(keys.agent), complain)
  tellUnknown(root.section("folder_trust"), Object.keys(keys.folderTrust), complain)
  // Programs that show the agent keep what they show in this section.
  tellUnknown(root.section("ui"), Object.keys(keys.ui), complain, "misspelt")
  if (root.section("mcp").has("disabled_mcp_servers")) {
    complain("mcp.disabled_mcp_servers", "is not read here; write it above every section")
  }
  tellUnknown(root.section("mcp"), ["max_output_bytes", "disabled_mcp_servers"], complain)
}

export const readAgentSections = (root: Section, complain: Complain, alarm: Complain): AgentSettings => {
  const bash = root.section("toolset").section("bash")
  const fetch = root.section("toolset").section("web_fetch")
  const ui = root.section("ui")
  const domains = fetch.read("allowed_domains", keys.webFetch.allowed_domains)
  tellUnknownKeys(root, complain, alarm)
  return {
    sandboxProfile: readProfile(root, alarm),
    processLimit: bash.read("process_limit", keys.bash.process_limit),
    rememberApprovals: ui.read("remember_tool_approvals", keys.ui.remember_tool_approvals),
    mcpOutputLimit: root.section("mcp").read("max_output_bytes", keys.mcp.max_output_bytes),
    allowedDomains: domains,
    allowLocal: fetch.read("allow_local", keys.webFetch.allow_local),
    folderTrust: root.section("folder_trust").read("enabled", keys.folderTrust.enabled)
  }
}
