/** Reads the keys that are choices, in the file of a person as in that of a project. Another one is added here. */
import * as Duration from "effect/Duration"
import { modeOf } from "../../domain/permission/ModeName.ts"
import type { Choices } from "./Choices.ts"
import { type Complain, type ConfigKey, type Section, tellUnknown } from "./ConfigKey.ts"
import * as keys from "./ConfigKeys.ts"

interface Choice<A> {
  readonly path: ReadonlyArray<string>
  readonly key: ConfigKey<A>
}

const choice = <A>(key: ConfigKey<A>, ...path: ReadonlyArray<string>): Choice<A> => ({ path, key })

const choices = {
  defaultModel: choice(keys.models.default, "models", "default"),
  defaultEffort: choice(keys.models.default_reasoning_effort, "models", "default_reasoning_effort"),
  harness: choice(keys.agent.harness, "agent", "harness"),
  mode: choice(keys.ui.permission_mode, "ui", "permission_mode"),
  commandTimeout: choice(keys.bash.timeout_secs, "toolset", "bash", "timeout_secs"),
  respectGitignore: choice(keys.tools.respect_gitignore, "tools", "respect_gitignore")
} satisfies { readonly [K in keyof Choices]-?: Choice<unknown> }

const paths = Object.values(choices).map(({ path }) => path)

/** The sections that hold choices. */
export const choiceSections: ReadonlyArray<string> = [...new Set(paths.flatMap((path) => path.slice(0, 1)))]

/** Whether a key of the configuration is a choice. */
export const isChoice = (path: ReadonlyArray<string>): boolean =>
  paths.some((known) => known.join(".") === path.join("."))

const sectionAt = (root: Section, path: ReadonlyArray<string>): Section =>
  path.reduce((section, name) => section.section(name), root)

export const readChoices = (root: Section): Choices => {
  const read = <A>({ key, path }: Choice<A>) => sectionAt(root, path.slice(0, -1)).read(path.at(-1) ?? "", key)
  const defaultModel = read(choices.defaultModel)
  const defaultEffort = read(choices.defaultEffort)
  const harness = read(choices.harness)
  const mode = read(choices.mode)
  const seconds = read(choices.commandTimeout)
  const respectGitignore = read(choices.respectGitignore)
  return {
    ...(defaultModel === undefined ? {} : { defaultModel }),
    ...(defaultEffort === undefined ? {} : { defaultEffort }),
    ...(harness === undefined ? {} : { harness }),
    ...(mode === undefined ? {} : { mode: modeOf(mode) }),
    ...(seconds === undefined ? {} : { commandTimeout: Duration.seconds(seconds) }),
    ...(respectGitignore === undefined ? {} : { respectGitignore })
  }
}

/** Names what stands beside choices, where nothing else may. */
export const tellBesideChoices = (root: Section, complain: Complain): void => {
  const known = new Map<string, { readonly section: ReadonlyArray<string>; readonly names: Set<string> }>()
  for (const path of paths) {
    for (const [depth, name] of path.entries()) {
      const section = path.slice(0, depth)
      const names = known.get(section.join("."))?.names ?? new Set()
      if (depth > 0) known.set(section.join("."), { section, names: names.add(name) })
    }
  }
  for (const { names, section } of known.values()) tellUnknown(sectionAt(root, section), [...names], complain)
}

/** Each choice that was made: its key, and its value as a person reads it. */
export const choicesMade = (made: Choices): ReadonlyArray<readonly [key: string, value: string]> => {
  const { commandTimeout, ...others } = made
  const told: { readonly [K in keyof Choices]?: string | number | boolean } = {
    ...others,
    ...(commandTimeout === undefined ? {} : { commandTimeout: Duration.toSeconds(commandTimeout) })
  }
  const values = new Map(Object.entries(told))
  return Object.entries(choices).flatMap(([name, { path }]) => {
    const value = values.get(name)
    return value === undefined ? [] : [[path.join("."), String(value)] as const]
  })
}
