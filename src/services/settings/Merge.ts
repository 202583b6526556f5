/** Lays environment and flags over the file: the later one wins. */
import * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"
import type { Flags, ProviderSettings, SettingsValue } from "../Settings.ts"
import type { Choices } from "./Choices.ts"
import { type Environment, providerVariables } from "./Environment.ts"
import type { FileProvider, FileSettings } from "./FileSettings.ts"

/** No file, no environment, no flags. */
export const defaultSettings: SettingsValue = {
  providers: [],
  fsDelegation: "unsaved_only",
  permission: { allow: [], ask: [], deny: [] },
  remoteCeiling: "accept-edits",
  relay: {},
  authRequired: false,
  useLeader: false,
  alwaysApprove: false,
  processLimit: 512,
  hooks: [],
  mcpServers: [],
  plugins: [],
  disabledServers: [],
  mcpOutputLimit: 20_000,
  rememberApprovals: true,
  respectGitignore: true,
  webFetch: { allowLocal: false },
  folderTrust: true,
  fixed: {},
  warnings: [],
  lostRules: []
}

/** What the environment holds for the names that `api_key_env` gives. */
export type NamedKeys = ReadonlyMap<string, Redacted.Redacted<string> | undefined>

/** What `super-pi login` stored, by provider. */
export type StoredKeys = ReadonlyMap<string, Redacted.Redacted<string>>

export const noStoredKeys: StoredKeys = new Map()

export interface Sources {
  readonly file: FileSettings
  /** Its path, for the warnings. */
  readonly path: string
  readonly environment: Environment
  readonly namedKeys: NamedKeys
  readonly storedKeys: StoredKeys
  readonly flags: Flags
}

type Merged = ProviderSettings | { readonly problem: string }

const keyRemedy = (provider: FileProvider): string => {
  if (provider.apiKeyEnv !== undefined) return "the environment variable that api_key_env names is not set: export it"
  const usual = providerVariables.find(({ name }) => name === provider.name)
  const others = `set api_key_env or api_key${usual === undefined ? "" : `, or export ${usual.apiKey}`}`
  return `it needs a key: run super-pi login --provider ${provider.name}, ${others}`
}

type KeySource = NonNullable<ProviderSettings["keySource"]>

const storedAs = (name: string): KeySource => ({ kind: "login", name })

const mergeProvider = (provider: FileProvider, { environment, namedKeys, storedKeys }: Sources): Merged => {
  const usual = environment.providers.find(({ name }) => name === provider.name)
  const baseUrl = usual?.baseUrl ?? provider.baseUrl
  if (provider.kind === "openai-compatible" && baseUrl === undefined) {
    return { problem: 'it needs a base_url, such as base_url = "http://127.0.0.1:8080/v1"' }
  }
  // A variable that is named says which key is meant: no other one may be taken instead, it may be billed elsewhere.
  const fromEnvironment = provider.apiKeyEnv === undefined ? usual?.apiKey : namedKeys.get(provider.apiKeyEnv)
  const stored = storedKeys.get(provider.name)
  const apiKey = fromEnvironment ?? stored ?? provider.apiKey
  if (apiKey === undefined && (provider.apiKeyEnv !== undefined || baseUrl === undefined)) {
    return { problem: keyRemedy(provider) }
  }
  const variable = provider.apiKeyEnv ?? usual?.variable
  const kept: KeySource =
    stored === undefined ? { kind: "file", name: `providers.${provider.name}.api_key` } : storedAs(provider.name)
  const keySource: KeySource =
    fromEnvironment === undefined || variable === undefined ? kept : { kind: "variable", name: variable }
  return {
    name: provider.name,
    kind: provider.kind,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(apiKey === undefined ? {} : { apiKey, keySource }),
    models: provider.models
  }
}

export const mergeSettings = (sources: Sources): SettingsValue => {
  const { environment, file, flags, path } = sources
  const broken = new Set([...file.brokenProviders, ...environment.brokenProviders])
  const providers: Array<ProviderSettings> = []
  const warnings = [...file.warnings, ...environment.warnings]
  for (const provider of file.providers) {
    if (broken.has(provider.name)) continue
    const merged = mergeProvider(provider, sources)
    if ("problem" in merged) {
      warnings.push(`${path}: providers.${provider.name} is left out: ${merged.problem}`)
    } else {
      providers.push(merged)
    }
  }
  const named = new Set([...file.providers.map(({ name }) => name), ...broken])
  for (const { apiKey: exported, baseUrl, kind, name, variable } of environment.providers) {
    const apiKey = exported ?? sources.storedKeys.get(name)
    if (apiKey === undefined || named.has(name)) continue
    const keySource: KeySource = exported === undefined ? storedAs(name) : { kind: "variable", name: variable }
    providers.push({ name, kind, apiKey, keySource, ...(baseUrl === undefined ? {} : { baseUrl }), models: [] })
  }
  const model = flags.model ?? environment.model
  const fixed: Choices = {
    ...(model === undefined ? {} : { defaultModel: model }),
    ...(flags.effort === undefined ? {} : { defaultEffort: flags.effort }),
    ...(flags.harness === undefined ? {} : { harness: flags.harness }),
    ...(flags.mode === undefined ? {} : { mode: flags.mode })
  }
  const { gatewayToken } = environment
  const { agent, disabledServers, hooks, mcpServers, permission } = file
  const sandboxProfile = flags.sandbox ?? environment.sandbox ?? agent.sandboxProfile
  const allowedDomains = agent.allowedDomains
  return {
    respectGitignore: defaultSettings.respectGitignore,
    ...file.choices,
    ...fixed,
    fixed,
    providers,
    fsDelegation: file.fsDelegation ?? defaultSettings.fsDelegation,
    permission: {
      allow: [...permission.allow, ...(flags.allow ?? [])],
      ask: [...permission.ask, ...(flags.ask ?? [])],
      deny: [...permission.deny, ...(flags.deny ?? [])]
    },
    // The flag speaks for whoever starts the process, but a ceiling that was written down holds for everyone.
    remoteCeiling: file.remoteCeiling ?? (flags.alwaysApprove ? "always-approve" : defaultSettings.remoteCeiling),
    ...(file.remoteGrace === undefined ? {} : { remoteGrace: Duration.seconds(file.remoteGrace) }),
    relay: { ...file.relay, ...environment.relay },
    authRequired: file.authRequired,
    useLeader: file.useLeader ?? defaultSettings.useLeader,
    ...(gatewayToken === undefined ? {} : { gatewayToken }),
    alwaysApprove: flags.alwaysApprove,
    ...(flags.agentProfile === undefined ? {} : { agentProfile: flags.agentProfile }),
    ...(sandboxProfile === undefined ? {} : { sandboxProfile }),
    processLimit: agent.processLimit ?? defaultSettings.processLimit,
    hooks,
    mcpServers: mcpServers.filter(({ spec }) => !disabledServers.includes(spec.name)),
    plugins: [],
    disabledServers,
    mcpOutputLimit: agent.mcpOutputLimit ?? defaultSettings.mcpOutputLimit,
    rememberApprovals: agent.rememberApprovals ?? defaultSettings.rememberApprovals,
    webFetch: {
      ...(allowedDomains === undefined ? {} : { allowedDomains }),
      allowLocal: agent.allowLocal ?? defaultSettings.webFetch.allowLocal
    },
    ...(flags.maxRequests === undefined ? {} : { maxRequests: flags.maxRequests }),
    // A run that was told to trust asks nobody.
    folderTrust: flags.trust !== true && (agent.folderTrust ?? defaultSettings.folderTrust),
    warnings,
    lostRules: file.lostRules
  }
}

/** Beside what the person wrote down; a server of theirs counts instead of a plugin's of the same name. */
export const withPlugins = (
  value: SettingsValue,
  {
    lost,
    plugins,
    warnings
  }: { readonly [K in "lost" | "warnings"]: ReadonlyArray<string> } & Pick<SettingsValue, "plugins">
): SettingsValue => {
  const taken = new Set([...value.disabledServers, ...value.mcpServers.map(({ spec }) => spec.name)])
  const servers = plugins.flatMap(({ mcpServers }) => mcpServers)
  return {
    ...value,
    plugins,
    hooks: [...value.hooks, ...plugins.flatMap(({ hooks }) => hooks)],
    mcpServers: [...value.mcpServers, ...servers.filter(({ spec }) => !taken.has(spec.name) && taken.add(spec.name))],
    warnings: [...value.warnings, ...warnings],
    lostRules: [...value.lostRules, ...lost]
  }
}
