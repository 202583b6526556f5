/** What `config.toml` says, before environment and flags are laid over it. */
import type * as Redacted from "effect/Redacted"
import type { ExecutionMode } from "../../domain/permission/ExecutionMode.ts"
import type { HookSettings } from "../../domain/Hook.ts"
import type { AgentSettings } from "./AgentSections.ts"
import type { Choices } from "./Choices.ts"
import type {
  FsDelegation,
  McpServerSettings,
  ModelSettings,
  PermissionSettings,
  ProviderKind,
  RelaySettings
} from "../Settings.ts"

export interface FileProvider {
  readonly name: string
  readonly kind: ProviderKind
  readonly baseUrl: string | undefined
  readonly apiKey: Redacted.Redacted<string> | undefined
  /** The environment variable that holds the key. */
  readonly apiKeyEnv: string | undefined
  readonly models: ReadonlyArray<ModelSettings>
}

export interface FileSettings {
  readonly choices: Choices
  readonly providers: ReadonlyArray<FileProvider>
  /**
   * Providers whose section cannot be followed. They are left out even if the environment has a key for them: a key
   * must not go to another address than the one that was meant.
   */
  readonly brokenProviders: ReadonlyArray<string>
  readonly fsDelegation: FsDelegation | undefined
  readonly permission: PermissionSettings
  readonly remoteCeiling: ExecutionMode | undefined
  /** Seconds. */
  readonly remoteGrace: number | undefined
  readonly relay: RelaySettings
  readonly authRequired: boolean
  readonly useLeader: boolean | undefined
  readonly agent: AgentSettings
  readonly hooks: ReadonlyArray<HookSettings>
  readonly mcpServers: ReadonlyArray<McpServerSettings>
  /** Names of servers that are switched off, wherever they are written. */
  readonly disabledServers: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
  /** Those of the warnings that tell of what was to forbid something and does not hold. */
  readonly lostRules: ReadonlyArray<string>
}

/** No file. */
export const emptyFile: FileSettings = {
  choices: {},
  providers: [],
  brokenProviders: [],
  fsDelegation: undefined,
  permission: { allow: [], ask: [], deny: [] },
  remoteCeiling: undefined,
  remoteGrace: undefined,
  relay: {},
  authRequired: false,
  useLeader: undefined,
  agent: {
    sandboxProfile: undefined,
    processLimit: undefined,
    rememberApprovals: undefined,
    mcpOutputLimit: undefined,
    allowedDomains: undefined,
    allowLocal: undefined,
    folderTrust: undefined
  },
  hooks: [],
  mcpServers: [],
  disabledServers: [],
  warnings: [],
  lostRules: []
}
