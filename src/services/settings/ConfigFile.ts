/** Reads the text of `config.toml`. Loaded only when there is such a file. */
import * as Toml from "effect/encoding/Toml"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ExecutionMode } from "../../domain/permission/ExecutionMode.ts"
import type { FsDelegation, RelaySettings } from "../Settings.ts"
import { readAgentSections, withoutProfile } from "./AgentSections.ts"
import { type Complain, configKey, readItem, rootSection, type Section, tellUnknown } from "./ConfigKey.ts"
import type { FileProvider, FileSettings } from "./FileSettings.ts"
import { readHooks } from "./HookSection.ts"
import { readServers } from "./McpSection.ts"
import { readPermission, ruleLists } from "./PermissionSection.ts"
import { readProvider } from "./ProviderSection.ts"
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

/** Model ids are `provider/model`, and `scripted/…` is taken. */
const providerName = /^(?!scripted$)[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

const delegations: ReadonlyArray<FsDelegation> = ["unsaved_only", "never", "always"]

const oneOf = (values: ReadonlyArray<string>) => `one of ${values.map((value) => `"${value}"`).join(", ")}`

const defaultModelKey = configKey(
  Schema.Trim.check(Schema.isPattern(/^[^\s/]+\/\S+$/)),
  'provider/model, such as "anthropic/claude-sonnet-5"'
)
const fsDelegationKey = configKey(Schema.Literals(delegations), oneOf(delegations))
// What a person wrote to protect the agent must not stop protecting it because of a spelling mistake.
const requiredKey = configKey(
  Schema.Boolean,
  "true or false without quotes",
  "signing in is required until this is corrected"
)
const ceilingKey = configKey(
  ExecutionMode,
  oneOf(ExecutionMode.literals),
  'the ceiling is "ask" until this is corrected'
)

const useLeaderKey = configKey(Schema.Boolean, "true or false without quotes", "each editor has an agent of its own")

const graceKey = configKey(Schema.Natural, "a whole number of seconds", "turns go on until they end")
const relayUrlKey = configKey(
  Schema.String.check(Schema.isPattern(/^wss?:\/\/[^\s/]+/)),
  'the address of a relay, such as "wss://relay.example.org/agent"',
  "there is no relay until this is corrected"
)
const relayTokenKey = configKey(
  Schema.RedactedFromValue(Schema.NonEmptyString),
  "the token of the relay in double quotes",
  "it is ignored"
)
const relayOriginKey = configKey(
  Schema.String.check(Schema.isPattern(/^https?:\/\/[^\s/]+$/)),
  'an origin, such as "https://example.org"',
  "it is ignored"
)

const readRelay = (section: Section): RelaySettings => {
  const url = section.read("url", relayUrlKey)
  const token = section.read("token", relayTokenKey)
  const origin = section.read("origin", relayOriginKey)
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
    if (!providerName.test(name)) {
      complain(table.path, "is no name for a provider: use letters, digits, _ . or -, and not scripted; it is left out")
      continue
    }
    const provider = readProvider(name, table, complain)
    if (provider === undefined) brokenProviders.push(name)
    else providers.push(provider)
  }
  return { providers, brokenProviders }
}

const disabledKey = configKey(Schema.NonEmptyString, "the name of a server in double quotes")

const disabledServers = (root: Section, complain: Complain): ReadonlyArray<string> =>
  root.items("disabled_mcp_servers").flatMap((item) => readItem(item, disabledKey, complain) ?? [])

/** A key that was to guard the agent and is misspelt guards nothing, so that `alarm` takes those. */
const tellUnknownKeys = (root: Section, complain: Complain, alarm: Complain): void => {
  tellUnknown(root.section("models"), ["default"], complain, "misspelt")
  tellUnknown(root.section("cli"), ["use_leader"], complain, "misspelt")
  tellUnknown(root.section("acp"), ["fs_delegation"], complain)
  tellUnknown(root.section("relay"), ["url", "token", "origin"], complain)
  tellUnknown(root.section("remote"), ["execution_mode_ceiling", "grace_seconds"], alarm)
  tellUnknown(root.section("auth"), ["required"], alarm)
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
    defaultModel: root.section("models").read("default", defaultModelKey),
    ...readProviders(root.section("providers"), complain),
    fsDelegation: root.section("acp").read("fs_delegation", fsDelegationKey),
    remoteCeiling:
      remote.read("execution_mode_ceiling", ceilingKey) ?? (remote.has("execution_mode_ceiling") ? "ask" : undefined),
    remoteGrace: remote.read("grace_seconds", graceKey),
    relay: readRelay(root.section("relay")),
    authRequired: auth.read("required", requiredKey) ?? auth.has("required"),
    agent: readAgentSections(root, complain, alarm),
    mcpServers: readServers(root.section("mcp_servers"), complain, file),
    disabledServers: disabledServers(root, complain),
    useLeader: root.section("cli").read("use_leader", useLeaderKey)
  }
}

/** Fails with a sentence for the person who wrote the file when it is not TOML. `file` is its path, for the warnings. */
export const parseConfigFile = (text: string, file: string): Result.Result<FileSettings, string> =>
  Toml.parse(text).pipe(
    Result.mapError(({ message }) => `${file} ${describeTomlProblem(message, text)}`),
    Result.map((document) => {
      const warnings: Array<string> = []
      const complain: Complain = (path, problem) => void warnings.push(`${file}: ${path} ${problem}`)
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
