/** `/model`, `/mode` and `/effort`: the same choice as in the client's own menu. */
import * as Effect from "effect/Effect"
import type { ConfigOption } from "../../domain/session/Config.ts"
import type { CommandSession } from "../Commands.ts"
import { EFFORT_OPTION, MODE_OPTION, MODEL_OPTION } from "../../domain/session/Config.ts"

const optionOf = { model: MODEL_OPTION, mode: MODE_OPTION, effort: EFFORT_OPTION } as const
type Choosing = keyof typeof optionOf

/** Choices that a list names; of more, those are named that fit. */
const NAMED = 60

const listed = ({ currentValue, options }: ConfigOption): string =>
  options
    .slice(0, NAMED)
    .map(({ description, name, value }) => {
      const about = [name === value ? [] : name, description ?? []].flat().join(": ")
      return `- ${value === currentValue ? "**" : ""}\`${value}\`${value === currentValue ? "** (now)" : ""}${about === "" ? "" : ` ${about}`}`
    })
    .concat(options.length > NAMED ? [`- and ${options.length - NAMED} more`] : [])
    .join("\n")

/** The choices that a word may mean: the very one, else those of that name, else those that contain it. */
const meantBy = ({ options }: ConfigOption, word: string): ReadonlyArray<string> => {
  const lower = word.toLowerCase()
  const fits = [
    ({ value }: ConfigOption["options"][number]) => value === word,
    ({ name, value }: ConfigOption["options"][number]) =>
      [value, value.slice(value.indexOf("/") + 1), name].some((known) => known.toLowerCase() === lower),
    ({ name, value }: ConfigOption["options"][number]) =>
      value.toLowerCase().includes(lower) || name.toLowerCase().includes(lower)
  ]
  for (const fit of fits) {
    const found = options.filter(fit)
    if (found.length > 0) return found.map(({ value }) => value)
  }
  return []
}

export const chooseBy = Effect.fnUntraced(function* (name: Choosing, input: string, session: CommandSession) {
  const option = (yield* session.options).find(({ id }) => id === optionOf[name])
  if (option === undefined) {
    return name === "effort"
      ? "The chosen model has no levels of reasoning effort. Type `/model` to choose another one."
      : `There is no ${name} to choose in this session.`
  }
  if (input === "") return `${option.name}; type \`/${name}\` and one of:\n\n${listed(option)}`
  const found = meantBy(option, input)
  const [value] = found
  if (value === undefined || found.length > 1) {
    const problem =
      value === undefined
        ? `\`${input}\` is no choice here.`
        : `\`${input}\` may be any of ${found
            .slice(0, 10)
            .map((one) => `\`${one}\``)
            .join(", ")}.`
    return `${problem} ${option.name}; type \`/${name}\` and one of:\n\n${listed(option)}`
  }
  return yield* session.choose(option.id, value).pipe(
    Effect.as(`${option.name}: \`${value}\`.`),
    Effect.catch(({ message }) => Effect.succeed(`${message}.`))
  )
})
