/** What the configuration of a person chooses for their sessions, and a project for the sessions in it, once trusted. */
import type * as Duration from "effect/Duration"
import type { ExecutionMode } from "../../domain/permission/ExecutionMode.ts"
import type { SettingsValue } from "../Settings.ts"

/** Absent: not chosen. The names are those of the settings. */
export interface Choices {
  /** `provider/model`. */
  readonly defaultModel?: string
  readonly defaultEffort?: string
  readonly harness?: string
  readonly mode?: ExecutionMode
  readonly commandTimeout?: Duration.Duration
  readonly respectGitignore?: boolean
}

/** The settings as they hold in a project: what environment and flags say stands above its choices. */
export const inProject = (value: SettingsValue, choices: Choices): SettingsValue => ({
  ...value,
  ...choices,
  ...value.fixed
})
