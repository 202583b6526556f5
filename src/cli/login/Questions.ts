/** What `login` asks a person in a terminal. */
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { ModelInfo } from "../../domain/Model.ts"
import { inShort, providerTitle } from "../../services/models/Description.ts"
import type { LocalServer } from "../../services/models/LocalServers.ts"
import { addressProblem, nameProblem, wellKnown } from "./Candidate.ts"

export type ProviderChoice =
  | { readonly _tag: "Named"; readonly name: string }
  | { readonly _tag: "Local"; readonly server: LocalServer }
  | { readonly _tag: "Other" }

/** More are searched by typing. */
const SHORT_LIST = 12

const validated = (problem: (text: string) => string | undefined) => (text: string) => {
  const trimmed = text.trim()
  const found = problem(trimmed)
  return found === undefined ? Effect.succeed(trimmed) : Effect.fail(found)
}

export const askProvider = (servers: ReadonlyArray<LocalServer>, own: ReadonlyArray<string>) =>
  Prompt.run(
    Prompt.Select<ProviderChoice>({
      message: "Which provider?",
      choices: [
        ...wellKnown.map((name) => ({ title: providerTitle(name), value: { _tag: "Named", name } as const })),
        ...own.map((name) => ({
          title: name,
          description: "of your config.toml",
          value: { _tag: "Named", name } as const
        })),
        ...servers.map((server) => ({
          title: providerTitle(server.name),
          description: `on this machine, ${server.models.length} models, no key`,
          value: { _tag: "Local", server } as const
        })),
        {
          title: "Another server",
          description: "that speaks the OpenAI dialect, yours or somebody's",
          value: { _tag: "Other" } as const
        }
      ]
    })
  )

export const askAddress = Prompt.run(
  Prompt.String({ message: "Its address, such as http://127.0.0.1:8080/v1", validate: validated(addressProblem) })
)

export const askName = (proposal: string) =>
  Prompt.run(Prompt.String({ message: "A short name for it", default: proposal, validate: validated(nameProblem) }))

/** Nothing of it is shown, not even its length. An empty one is none. */
export const askKey = (message: string, isOptional: boolean) =>
  Prompt.run(
    Prompt.Hidden({
      message,
      validate: validated((key) => {
        if (key === "") return isOptional ? undefined : "paste the key, then press Enter"
        return /^[\x21-\x7e]+$/.test(key) ? undefined : "a key has no spaces and no special characters: paste it again"
      })
    })
  ).pipe(Effect.map((key) => (Redacted.value(key) === "" ? undefined : key)))

export const askReuse = (source: string) =>
  Prompt.run(
    Prompt.Select<boolean>({
      message: `There is a key in ${source}`,
      choices: [
        { title: "Use it", value: true },
        { title: "Give another one", value: false }
      ]
    })
  )

export const askBrowser = (title: string) =>
  Prompt.run(
    Prompt.Select<boolean>({
      message: `How do you want to sign in to ${title}?`,
      choices: [
        { title: "In the browser", value: true },
        { title: "With an API key", value: false }
      ]
    })
  )

const choiceOf = (info: ModelInfo) => ({ title: info.name, description: inShort(info), value: info.id })

/** An id as the list has it. */
export const askModel = (models: ReadonlyArray<ModelInfo>) => {
  const message = "Which model for new sessions?"
  const choices = models.map(choiceOf)
  return Prompt.run(
    models.length > SHORT_LIST
      ? Prompt.AutoComplete<string>({ message: `${message} Type to search`, choices })
      : Prompt.Select<string>({ message, choices })
  )
}

/** Whether another key is to be given before a model is chosen. */
export const askRefused = (hasKey: boolean) =>
  Prompt.run(
    Prompt.Select<boolean>({
      message: hasKey ? "It does not accept the key" : "It wants a key",
      choices: [
        { title: hasKey ? "Give the key again" : "Give one", value: true },
        { title: "Choose a model all the same", value: false }
      ]
    })
  )

export const askModelName = Prompt.run(
  Prompt.String({
    message: "The id of one of its models",
    validate: validated((id) => (/^\S{1,200}$/.test(id) ? undefined : "an id has no spaces"))
  })
)

export type Again = "key" | "model" | "keep" | "leave"

export const askAgain = (isKeyNeeded: boolean) =>
  Prompt.run(
    Prompt.Select<Again>({
      message: "What now?",
      choices: [
        ...(isKeyNeeded ? [{ title: "Give the key again", value: "key" as const }] : []),
        { title: "Choose another model", value: "model" },
        { title: "Keep it all the same", value: "keep" },
        { title: "Leave everything as it was", value: "leave" }
      ]
    })
  )
