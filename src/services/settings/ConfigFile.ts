/** Reads the text of `config.toml`. Loaded only when there is such a file. */
import * as Toml from "effect/encoding/Toml"
import * as Result from "effect/Result"
import type { RelaySettings } from "../Settings.ts"
import { readAgentSections, withoutProfile } from "./AgentSections.ts"
import { readChoices } from "./ChoiceSection.ts"
import { type Complain, readItem, rootSection, type Section, tellUnknown } from "./ConfigKey.ts"
import * as keys from "./ConfigKeys.ts"
import { placeIn } from "./ConfigLines.ts"
import type { FileProvider, FileSettings } from "./FileSettings.ts"
import { readHooks } from "./HookSection.ts"
import { readServers } from "./McpSection.ts"
import { readPermission, ruleLists } from "./PermissionSection.ts"
import { isProviderName, readProvider } from "./ProviderSection.ts"
import { describeTomlProblem } from "./TomlProblem.ts"

/** More would be noise on stderr. */
const mostWarnings = 50

const sectionNames = [
  "models",
  "providers",
  "acp",
  "permission",
  "sandbox",
  "hooks",
  "mcp_servers",
  "mcp",
  "disabled_mcp_servers",
  "agent",
  "ui",
  "tools",
  "toolset",
  "folder_trust",
  "remote",
  "relay",
  "auth",
  "cli"
]

const readRelay = (section: Section): RelaySettings => {
  const url = section.read("url", keys.relay.url)
  const token = section.read("token", keys.relay.token)
  const origin = section.read("origin", keys.relay.origin)
  return {
    ...(url === undefined ? {} : { url }),
    ...(token === undefined ? {} : { token }),
    ...(origin === undefined ? {} : { origin })
  }
}

/** A misspelt section says nothing, which is worst where it was to forbid something. */
const tellUnknownSections = (root: Section, complain: Complain, alarm: Complain): void => {
  for (const { meant, name, path } of root.unknown(sectionNames)) {
    if (ruleLists.some((list) => list === name)) {
      const tell = name === "allow" ? complain : alarm
      tell(path, "is not read here; write it below the line [permission]")
      continue
    }
    const remedy = meant === undefined ? `the sections are ${sectionNames.join(", ")}` : `did you mean [${meant}]?`
    const tell = meant === "permission" || meant === "hooks" || meant === "sandbox" ? alarm : complain
    tell(path, `is not read: there is no such section; ${remedy}${withoutProfile(root, meant)}`)
  }
}

const readProviders = (section: Section, complain: Complain): Pick<FileSettings, "providers" | "brokenProviders"> => {
  const providers: Array<FileProvider> = []
  const brokenProviders: Array<string> = []
  for (const [name, table] of section.sections()) {
    if (!isProviderName(name)) {
      complain(table.path, "is no name for a provider: use letters, digits, _ . or -, and not scripted; it is left out")
      continue
    }
    const provider = readProvider(name, table, complain)
    if (provider === undefined) brokenProviders.push(name)
    else providers.push(provider)
  }
  return { providers, brokenProviders }
}

const disabledServers = (root: Section, complain: Complain): ReadonlyArray<string> =>
  root.items("disabled_mcp_servers").flatMap((item) => readItem(item, keys.disabledServer, complain) ?? [])

/** A key that was to guard the agent and is misspelt guards nothing, so that `alarm` takes those. */
const tellUnknownKeys = (root: Section, complain: Complain, alarm: Complain): void => {
  tellUnknown(root.section("models"), Object.keys(keys.models), complain, "misspelt")
  tellUnknown(root.section("cli"), Object.keys(keys.cli), complain, "misspelt")
  tellUnknown(root.section("acp"), Object.keys(keys.acp), complain)
  tellUnknown(root.section("relay"), Object.keys(keys.relay), complain)
  tellUnknown(root.section("remote"), Object.keys(keys.remote), alarm)
  tellUnknown(root.section("auth"), Object.keys(keys.auth), alarm)
}

const readSections = (
  root: Section,
  complain: Complain,
  alarm: Complain,
  file: string
): Omit<FileSettings, "warnings" | "lostRules" | "permission" | "hooks"> => {
  const auth = root.section("auth")
  const remote = root.section("remote")
  return {
    choices: readChoices(root),
    ...readProviders(root.section("providers"), complain),
    fsDelegation: root.section("acp").read("fs_delegation", keys.acp.fs_delegation),
    remoteCeiling: remote.read("execution_mode_ceiling", keys.remote.execution_mode_ceiling),
    remoteGrace: remote.read("grace_seconds", keys.remote.grace_seconds),
    relay: readRelay(root.section("relay")),
    authRequired: auth.read("required", keys.auth.required) ?? false,
    agent: readAgentSections(root, complain, alarm),
    mcpServers: readServers(root.section("mcp_servers"), complain, file),
    disabledServers: disabledServers(root, complain),
    useLeader: root.section("cli").read("use_leader", keys.cli.use_leader)
  }
}

/** Fails with a sentence for the person who wrote the file when it is not TOML. `file` is its path, for the warnings. */
export const parseConfigFile = (text: string, file: string): Result.Result<FileSettings, string> =>
  Toml.parse(text).pipe(
    Result.mapError(({ message }) => `${file} ${describeTomlProblem(message, text)}`),
    Result.map((document) => {
      const warnings: Array<string> = []
      const place = placeIn(file, text)
      const complain: Complain = (path, problem) => void warnings.push(`${place(path)}: ${path} ${problem}`)
      const lostRules: Array<string> = []
      const alarm: Complain = (path, problem) => {
        complain(path, problem)
        lostRules.push(...warnings.slice(-1))
      }
      const root = rootSection(document, complain)
      tellUnknownSections(root, complain, alarm)
      const settings = readSections(root, complain, alarm, file)
      tellUnknownKeys(root, complain, alarm)
      const alarming = rootSection(document, alarm)
      const permission = readPermission(alarming.section("permission"), complain, alarm)
      const hooks = readHooks(alarming.section("hooks"), file, complain, alarm)
      const more = warnings.length - mostWarnings
      return {
        ...settings,
        permission,
        hooks,
        lostRules: lostRules.slice(0, mostWarnings),
        warnings: more > 0 ? [...warnings.slice(0, mostWarnings), `${file}: ${more} more values are ignored`] : warnings
      }
    })
  )
