/**
 * What a person configured: `config.toml`, then environment, then flags; the later one wins. A provider is listed only
 * when it can be used: it has its key, or its `base_url` needs none.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import type * as Redacted from "effect/Redacted"
import type { HookSettings } from "../domain/Hook.ts"
import type { McpSpec } from "../domain/McpSpec.ts"
import type { ModelPrice } from "../domain/Model.ts"
import type { ExecutionMode } from "../domain/permission/ExecutionMode.ts"
import type { SandboxProfile } from "../domain/sandbox/Profile.ts"
import type { Plugin } from "./Plugins.ts"
import type { Choices } from "./settings/Choices.ts"
import { defaultSettings } from "./settings/Merge.ts"
import { makeSettings } from "./settings/SettingsReader.ts"

/** The dialect that a provider's endpoint speaks. */
export type ProviderKind = "anthropic" | "openai" | "google" | "openai-compatible"

/** A provider that can be used. */
export interface ProviderSettings {
  /** The part before the slash in a model id. */
  readonly name: string
  readonly kind: ProviderKind
  readonly baseUrl?: string
  /** Absent for a local endpoint that wants none. */
  readonly apiKey?: Redacted.Redacted<string>
  /** Where the key was found: the name of the environment variable, its place in the file, or what it was stored under. */
  readonly keySource?: { readonly kind: "variable" | "file" | "login"; readonly name: string }
  /** Models that the file names; merged with the built-in catalogue of known models of that kind. */
  readonly models: ReadonlyArray<ModelSettings>
}

/**
 * A model that the configuration names; `contextWindow` and `outputLimit` are in tokens. What is absent is taken from what
 * is known of the model, else it is 128000 tokens, no images, no efforts and no price.
 */
export interface ModelSettings {
  readonly id: string
  readonly name?: string
  readonly contextWindow?: number
  readonly outputLimit?: number
  readonly image?: boolean
  readonly efforts?: ReadonlyArray<string>
  readonly price?: ModelPrice
}

/** Permission rules by what they do. Deny wins over ask, and ask over allow. */
export interface PermissionSettings {
  /** Rules as written, such as `Bash(git status)`. */
  readonly allow: ReadonlyArray<string>
  readonly ask: ReadonlyArray<string>
  readonly deny: ReadonlyArray<string>
}

/** A relay: its address, and what it wants to see. */
export interface RelaySettings {
  readonly url?: string
  readonly token?: Redacted.Redacted<string>
  /** The `Origin` header of the handshake. */
  readonly origin?: string
}

/** When files are read from the editor: while it has unsaved changes, never, or always. */
export type FsDelegation = "unsaved_only" | "never" | "always"

/** An MCP server of the configuration. Absent times are those of `McpManager`. */
export interface McpServerSettings {
  readonly spec: McpSpec
  readonly startupTimeout?: Duration.Duration
  readonly toolTimeout?: Duration.Duration
  /** Where it is written, such as `/home/ada/.mcp.json: mcpServers.x`. */
  readonly place?: string
  /** By the server's own name of the tool. */
  readonly toolTimeouts: Readonly<Record<string, Duration.Duration>>
}

/** What `web_fetch` may reach. */
export interface WebFetchSettings {
  /** These hosts and their subdomains only; absent: all. */
  readonly allowedDomains?: ReadonlyArray<string>
  /** Addresses of this machine and of private networks too. */
  readonly allowLocal: boolean
}

/** The configuration at one moment. */
export interface SettingsValue {
  /** `provider/model`, from `--model`, `SUPERCHARGE_MODEL` or `[models] default`. */
  readonly defaultModel?: string
  /** The effort of new sessions, where their model has it. */
  readonly defaultEffort?: string
  readonly providers: ReadonlyArray<ProviderSettings>
  readonly fsDelegation: FsDelegation
  readonly permission: PermissionSettings
  /** Highest mode of a transport that is not stdio: `accept-edits` unless the file or `--always-approve` says more. */
  readonly remoteCeiling: ExecutionMode
  /** How long a turn goes on while nobody watches, on a transport that is not stdio. Absent: until it ends. */
  readonly remoteGrace?: Duration.Duration
  /** The relay that the agent is reached through. */
  readonly relay: RelaySettings
  /** Whether a client has to authenticate with a gateway token before it may open sessions. */
  readonly authRequired: boolean
  /** `SUPER_PI_GATEWAY_TOKEN`. */
  readonly gatewayToken?: Redacted.Redacted<string>
  /** Whether editors share one agent over stdio where the command line does not say. */
  readonly useLeader: boolean
  /** `--always-approve`: the mode of new sessions. */
  readonly alwaysApprove: boolean
  /** The mode of new sessions where nothing else says one. */
  readonly mode?: ExecutionMode
  /** The harness of sessions that name none. */
  readonly harness?: string
  /** The absolute path of a file that describes the agent of sessions which name none. */
  readonly agentProfile?: string
  /** How closely commands are confined; absent: `workspace` where that can be enforced. */
  readonly sandboxProfile?: SandboxProfile
  /** Processes that one command may have at a time. */
  readonly processLimit: number
  /** Of a command that names none. */
  readonly commandTimeout?: Duration.Duration
  /** With those of plugins, like the servers. */
  readonly hooks: ReadonlyArray<HookSettings>
  /** Those that are enabled. */
  readonly mcpServers: ReadonlyArray<McpServerSettings>
  /** Those of `--plugin-dir`, then those in `plugins` of the home folder. */
  readonly plugins: ReadonlyArray<Plugin>
  /** Names of servers that are not used, in no project either. */
  readonly disabledServers: ReadonlyArray<string>
  /** Bytes of a result of an MCP tool that the model gets; the rest is kept in a file. */
  readonly mcpOutputLimit: number
  /** Whether questions offer answers that are remembered. */
  readonly rememberApprovals: boolean
  /** Whether searches leave out what `.gitignore` names. */
  readonly respectGitignore: boolean
  readonly webFetch: WebFetchSettings
  /** Whether a project's own hooks, servers and allow rules need the user's trust. */
  readonly folderTrust: boolean
  /** What environment and flags say of that which a trusted project may choose: it cannot change it. */
  readonly fixed: Choices
  /** Requests to the model that one turn may take; absent: the usual bound. */
  readonly maxRequests?: number
  /** What was wrong, each naming the field and the remedy and never a value. Logged once per reading, never fatal. */
  readonly warnings: ReadonlyArray<string>
  /** Those of the warnings that tell of what was to forbid something and does not hold: each session tells them, too. */
  readonly lostRules: ReadonlyArray<string>
}

/** What the command line said. */
export interface Flags {
  readonly model?: string
  readonly effort?: string
  readonly alwaysApprove: boolean
  readonly mode?: ExecutionMode
  readonly sandbox?: SandboxProfile
  readonly harness?: string
  /** Absolute. */
  readonly agentProfile?: string
  /** Permission rules as written, beside those of the file. */
  readonly allow?: ReadonlyArray<string>
  readonly ask?: ReadonlyArray<string>
  readonly deny?: ReadonlyArray<string>
  /** Folders of plugins, absolute. */
  readonly pluginDirs?: ReadonlyArray<string>
  /** Trusts the folders of this run's sessions. */
  readonly trust?: boolean
  /** Requests to the model that one turn may take; absent: the usual bound. */
  readonly maxRequests?: number
}

/** What `Settings` promises. */
export interface SettingsShape {
  /** `SUPERCHARGE_HOME`, else `~/.supercharge`; absolute. */
  readonly home: string
  /** Read anew when the file changed, so that a key added in a terminal is there for the next session. */
  readonly current: Effect.Effect<SettingsValue>
}

/** The configuration. Nothing else reads the configuration file or the environment for it. */
export class Settings extends Context.Service<Settings, SettingsShape>()("super-pi/Settings") {
  /** Reads `config.toml` and `credentials.json` of the home folder, and the environment. Building it touches no file. */
  static layer(flags: Flags): Layer.Layer<Settings, never, FileSystem.FileSystem | Path.Path> {
    return Layer.effect(Settings, makeSettings(flags))
  }

  /** These values, and defaults for the rest. `home` is where sessions and tokens lie; by default nowhere. */
  static layerValues(value: Partial<SettingsValue> & { readonly home?: string } = {}): Layer.Layer<Settings> {
    const { home = "/nonexistent/.supercharge", ...settings } = value
    return Layer.succeed(Settings, { home, current: Effect.succeed({ ...defaultSettings, ...settings }) })
  }
}
