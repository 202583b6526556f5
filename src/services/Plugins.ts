/** Plugins: folders that bring agents, commands, skills, hooks and MCP servers along. Only folders that the person named count. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { HookSettings } from "../domain/Hook.ts"
import { type McpServerSettings, Settings } from "./Settings.ts"

/** One plugin. Its hooks and servers are among those of the settings. Paths are absolute. */
export interface Plugin {
  readonly name: string
  readonly root: string
  /** Markdown files. */
  readonly agents: ReadonlyArray<string>
  /** Folders. */
  readonly commands: ReadonlyArray<string>
  readonly skills: ReadonlyArray<string>
  readonly hooks: ReadonlyArray<HookSettings>
  readonly mcpServers: ReadonlyArray<McpServerSettings>
}

/** What `Plugins` promises. */
export interface PluginsShape {
  /** The plugins of a session in that folder, in the order in which they count. */
  readonly of: (cwd: string) => Effect.Effect<ReadonlyArray<Plugin>>
}

/** Knows the plugins. */
export class Plugins extends Context.Service<Plugins, PluginsShape>()("super-pi/Plugins") {
  /** Those of the settings, which hold in every folder. */
  static readonly layer: Layer.Layer<Plugins, never, Settings> = Layer.effect(
    Plugins,
    Effect.map(Settings, ({ current }) => ({ of: () => Effect.map(current, ({ plugins }) => plugins) }))
  )
}
