/** What a project may choose for the sessions in it, once the person trusts it. */
import * as Duration from "effect/Duration"
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

const keys: { readonly [K in keyof Choices]-?: ReadonlyArray<string> } = {
  defaultModel: ["models", "default"],
  defaultEffort: ["models", "default_reasoning_effort"],
  harness: ["agent", "harness"],
  mode: ["ui", "permission_mode"],
  commandTimeout: ["toolset", "bash", "timeout_secs"],
  respectGitignore: ["tools", "respect_gitignore"]
}

/** Whether a key of the configuration is a choice. */
export const isChoice = (path: ReadonlyArray<string>): boolean =>
  Object.values(keys).some((known) => known.join(".") === path.join("."))

/** Each choice that was made: its key, and its value as a person reads it. */
export const choicesMade = (choices: Choices): ReadonlyArray<readonly [key: string, value: string]> => {
  const { commandTimeout, ...others } = choices
  const told = {
    ...others,
    ...(commandTimeout !== undefined && { commandTimeout: Duration.toSeconds(commandTimeout) })
  }
  return Object.entries(keys).flatMap(([name, path]) => {
    const value = Object.entries(told).find(([chosen]) => chosen === name)?.[1]
    return value === undefined ? [] : [[path.join("."), String(value)] as const]
  })
}

/** The settings as they hold in a project: what environment and flags say stands above its choices. */
export const inProject = (value: SettingsValue, choices: Choices): SettingsValue => ({
  ...value,
  ...choices,
  ...value.fixed
})
