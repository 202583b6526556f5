/** What the folder of a session says about itself, and how far the person trusts it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { HookSettings } from "../domain/Hook.ts"
import type { SandboxProfile } from "../domain/sandbox/Profile.ts"
import type { McpServerSettings, PermissionSettings } from "./Settings.ts"
import type { Choices } from "./settings/Choices.ts"

/**
 * What trust covers: for each file of a project, by its path in it, marks of its hooks, servers and allow rules. Nobody else
 * reads the marks.
 */
export type TrustContent = Readonly<Record<string, ReadonlyArray<string>>>

/** The project of a folder, as far as it may speak. */
export interface ProjectValue {
  /** The git root of the folder, else the folder itself; absolute. */
  readonly root: string
  /**
   * `off`: nothing of it needs trust. `trusted` also where trust is switched off. `undecided`: ask, unless nobody is there; also
   * where something changed after the person said yes.
   */
  readonly trust: "trusted" | "declined" | "undecided" | "off"
  /** Deny and ask rules hold always, allow rules only with trust. */
  readonly permission: PermissionSettings
  /** Only with trust, like the servers. Those that were trusted once go on while a change waits for an answer. */
  readonly hooks: ReadonlyArray<HookSettings>
  readonly mcpServers: ReadonlyArray<McpServerSettings>
  /** What it chooses for new sessions and their tools; only with trust. */
  readonly choices: Choices
  /** A project can only ask for more. */
  readonly sandboxProfile?: SandboxProfile
  /** What trust would add, one line for each, and which of it came after the person said yes. Fit to be shown. */
  readonly withheld: ReadonlyArray<string>
  /** What a decision about this value is about. Absent where there is nothing to decide. */
  readonly content?: TrustContent
  /** What was wrong in its files, each naming the field and the remedy. */
  readonly warnings: ReadonlyArray<string>
}

/** What `Projects` promises. */
export interface ProjectsShape {
  /** The project of an absolute folder, read anew when its files changed. */
  readonly of: (cwd: string) => Effect.Effect<ProjectValue>
  /**
   * Keeps the person's answer about what they were shown: the value that `of` gave before the question, since the files may
   * say something else by now. An answer that cannot be written down holds in this process only, which the log tells.
   */
  readonly decide: (shown: Pick<ProjectValue, "root" | "content">, trusted: boolean) => Effect.Effect<void>
}

const nothing: Omit<ProjectValue, "root"> = {
  trust: "off",
  permission: { allow: [], ask: [], deny: [] },
  hooks: [],
  mcpServers: [],
  choices: {},
  withheld: [],
  warnings: []
}

/** Reads the configuration of projects. Nothing else does. */
export class Projects extends Context.Service<Projects, ProjectsShape>()("super-pi/Projects") {
  /** No project says anything: for hosts that read no files of whoever they work for. */
  static readonly layerNone: Layer.Layer<Projects> = Layer.succeed(Projects, {
    of: (root) => Effect.succeed({ ...nothing, root }),
    decide: () => Effect.void
  })

  /** Every folder is a project that says this. A decision holds for all of them, and changes `trust` and `withheld` only. */
  static readonly layerTest = (value: Partial<ProjectValue> = {}): Layer.Layer<Projects> =>
    Layer.sync(Projects, () => {
      let decided: Partial<ProjectValue> = {}
      return {
        of: (root) => Effect.sync(() => ({ ...nothing, root, ...value, ...decided })),
        decide: (_shown, trusted) =>
          Effect.sync(() => {
            decided = trusted ? { trust: "trusted", withheld: [] } : { trust: "declined" }
          })
      }
    })
}
