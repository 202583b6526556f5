/** The options that a session offers, as a function of what was chosen and what can be chosen. */
import * as Result from "effect/Result"
import type { ConfigChoice, ConfigOption } from "../../domain/session/Config.ts"
import { ExecutionMode, offered } from "../../domain/permission/ExecutionMode.ts"
import { choiceOf, type FoundAgent } from "../../domain/CustomAgent.ts"
import { EFFORT_OPTION, MODE_OPTION, MODEL_OPTION } from "../../domain/session/Config.ts"
import { InvalidInput } from "../../domain/Failure.ts"
import type { ModelInfo } from "../../domain/Model.ts"
import type { Entry } from "../../domain/session/Session.ts"
import { inShort, providerTitle } from "../models/Description.ts"
import { splitId } from "../models/ModelList.ts"

export interface Choice {
  /** An execution mode, or the name of an agent. */
  readonly mode: string
  readonly model: string
  readonly effort: string | undefined
}

/** A mode or an agent as a client lists it. */
export interface ModeChoice {
  readonly id: string
  readonly name: string
  readonly description: string
}

const DEFAULT_EFFORT = "medium"

/** The effort that is in force: the chosen one if the model has it, else the model's default. */
export const effortFor = (model: ModelInfo | undefined, chosen: string | undefined): string | undefined => {
  const efforts = model?.efforts ?? []
  if (chosen !== undefined && efforts.includes(chosen)) return chosen
  return efforts.includes(DEFAULT_EFFORT) ? DEFAULT_EFFORT : efforts[0]
}

const effortName = (effort: string): string =>
  effort === "xhigh" ? "X-High" : effort.charAt(0).toUpperCase() + effort.slice(1)

const groupOf = (id: string): NonNullable<ConfigChoice["group"]> => {
  const provider = splitId(id)?.provider ?? id
  return { id: provider, name: providerTitle(provider) }
}

const GONE = "Not in the list of its provider now"

/** Grouped by provider, the one of the default first. A model that was chosen earlier and is gone stays visible. */
const modelOption = (models: ReadonlyArray<ModelInfo>, model: string): ConfigOption => {
  const choices = models.map((info): ConfigChoice => ({
    value: info.id,
    name: info.name,
    description: inShort(info),
    group: groupOf(info.id)
  }))
  if (!models.some(({ id }) => id === model)) {
    choices.push({ value: model, name: model, description: GONE, group: groupOf(model) })
  }
  const order = [...new Set(choices.map(({ group }) => group?.id))]
  return {
    id: MODEL_OPTION,
    name: "Model",
    category: "model",
    currentValue: model,
    options: order.flatMap((provider) => choices.filter(({ group }) => group?.id === provider))
  }
}

const effortOptions = (model: ModelInfo | undefined, chosen: string | undefined): ReadonlyArray<ConfigOption> => {
  const current = effortFor(model, chosen)
  if (model === undefined || current === undefined) return []
  return [
    {
      id: EFFORT_OPTION,
      name: "Reasoning effort",
      category: "thought_level",
      currentValue: current,
      options: model.efforts.map((effort) => ({ value: effort, name: effortName(effort) }))
    }
  ]
}

/** The modes under a ceiling, and the agents, which work in the mode that was chosen before them. */
export const modesOf = (ceiling: ExecutionMode, agents: ReadonlyArray<FoundAgent>): ReadonlyArray<ModeChoice> => [
  ...offered(ceiling),
  ...agents.map(({ description, name }) => ({ id: name, name, description }))
]

const modeOption = (mode: string, ceiling: ExecutionMode, agents: ReadonlyArray<FoundAgent>): ConfigOption => ({
  id: MODE_OPTION,
  name: "Mode",
  category: "mode",
  currentValue: mode,
  options: modesOf(ceiling, agents).map(({ id, ...choice }) => ({ value: id, ...choice }))
})

/** Most important first (CFG-01). */
export const optionsOf = (
  choice: Choice,
  models: ReadonlyArray<ModelInfo>,
  ceiling: ExecutionMode,
  agents: ReadonlyArray<FoundAgent> = []
): ReadonlyArray<ConfigOption> => [
  modelOption(models, choice.model),
  ...effortOptions(
    models.find(({ id }) => id === choice.model),
    choice.effort
  ),
  modeOption(choice.mode, ceiling, agents)
]

/** Choices that a log keeps. */
export type Configured = Extract<Entry, { readonly _tag: "Configured" }>

const list = (names: ReadonlyArray<string>): string => names.join(", ")

const entryOf = (id: string, value: string, agents: ReadonlyArray<FoundAgent>): Configured => {
  if (id === MODEL_OPTION) return { _tag: "Configured", model: value }
  if (id === EFFORT_OPTION) return { _tag: "Configured", effort: value }
  const mode = ExecutionMode.literals.find((known) => known === value)
  if (mode !== undefined) return { _tag: "Configured", mode, agent: null }
  const agent = agents.find(({ name }) => name === value)
  return { _tag: "Configured", ...(agent === undefined ? {} : { agent: choiceOf(agent) }) }
}

/** One choice among what `options` offers, as the entry that keeps it. Fails for the field `option` or `value`. */
export const choose = (
  options: ReadonlyArray<ConfigOption>,
  id: string,
  value: string,
  agents: ReadonlyArray<FoundAgent> = []
): Result.Result<Configured, InvalidInput> => {
  const option = options.find((known) => known.id === id)
  if (option === undefined) {
    const message = `There is no option "${id}"; the options are: ${list(options.map((known) => known.id))}`
    return Result.fail(new InvalidInput({ field: "option", message }))
  }
  if (!option.options.some((choice) => choice.value === value)) {
    const message = `"${value}" is no choice of ${option.name} here; choose one of: ${list(option.options.map((choice) => choice.value))}`
    return Result.fail(new InvalidInput({ field: "value", message }))
  }
  return Result.succeed(entryOf(id, value, agents))
}
