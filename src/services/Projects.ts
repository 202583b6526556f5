/** What the folder of a session says about itself, and how far the person trusts it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { HookSettings } from "../domain/Hook.ts"
import type { SandboxProfile } from "../domain/sandbox/Profile.ts"
import type { McpServerSettings, PermissionSettings } from "./Settings.ts"

/** The project of a folder, as far as it may speak. */
export interface ProjectValue {
  /** The git root of the folder, else the folder itself; absolute. */
  readonly root: string
  /** `off`: nothing of it needs trust, or trust is switched off. */
  readonly trust: "trusted" | "declined" | "undecided" | "off"
  /** Deny and ask rules hold always, allow rules only with trust. */
  readonly permission: PermissionSettings
  /** Only with trust, like the servers. */
  readonly hooks: ReadonlyArray<HookSettings>
  readonly mcpServers: ReadonlyArray<McpServerSettings>
  /** A project can only ask for more. */
  readonly sandboxProfile?: SandboxProfile
  /** What trust would add, one line for each. */
  readonly withheld: ReadonlyArray<string>
  /** What was wrong in its files, each naming the field and the remedy. */
  readonly warnings: ReadonlyArray<string>
}

/** What `Projects` promises. */
export interface ProjectsShape {
  /** The project of an absolute folder, read anew when its files changed. */
  readonly of: (cwd: string) => Effect.Effect<ProjectValue>
  /** Keeps the person's answer, for what the project says at this moment. */
  readonly decide: (root: string, trusted: boolean) => Effect.Effect<void>
}

const nothing: Omit<ProjectValue, "root"> = {
  trust: "off",
  permission: { allow: [], ask: [], deny: [] },
  hooks: [],
  mcpServers: [],
  withheld: [],
  warnings: []
}

/** Reads the configuration of projects. Nothing else does. */
export class Projects extends Context.Service<Projects, ProjectsShape>()("super-pi/Projects") {
  /** No project says anything. */
  static readonly layerNone: Layer.Layer<Projects> = Layer.succeed(Projects, {
    of: (root) => Effect.succeed({ ...nothing, root }),
    decide: () => Effect.void
  })
}
