/** The provider that somebody signs in to, from its name, its address and what the configuration knows of it. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import { type BrowserService, openRouter } from "../../services/auth/BrowserSignIn.ts"
import type { LocalServer } from "../../services/models/LocalServers.ts"
import { usualPlaces } from "../../services/models/LocalServers.ts"
import { providerTitle } from "../../services/models/Description.ts"
import type { ProviderSettings } from "../../services/Settings.ts"
import { parseBaseUrl } from "../../services/settings/BaseUrl.ts"
import { parseConfigFile } from "../../services/settings/ConfigFile.ts"
import { providerVariables } from "../../services/settings/Environment.ts"
import { lookAt } from "../../services/settings/FileLook.ts"
import type { FileProvider } from "../../services/settings/FileSettings.ts"
import { isProviderName } from "../../services/settings/ProviderSection.ts"

/** Who is signed in to, before there is a key. */
export interface Candidate {
  readonly provider: ProviderSettings
  /** Where the person can sign in in a browser instead of giving a key. */
  readonly browser?: BrowserService
  /** Whether nobody is answered there without a key; undefined where that is for the server to say. */
  readonly needsKey: boolean | undefined
  /** What the configuration has to say of it. */
  readonly section: Readonly<Record<string, string>>
}

/** Where people make keys. */
export const keyPages: ReadonlyMap<string, string> = new Map([
  ["anthropic", "https://console.anthropic.com/settings/keys"],
  ["openai", "https://platform.openai.com/api-keys"],
  ["google", "https://aistudio.google.com/apikey"],
  ["openrouter", "https://openrouter.ai/settings/keys"]
])

/** Well-known services of the OpenAI dialect. */
const hosted: ReadonlyMap<string, { readonly baseUrl: string; readonly browser: BrowserService }> = new Map([
  ["openrouter", { baseUrl: "https://openrouter.ai/api/v1", browser: openRouter }]
])

/** The providers that everybody can have, in the order in which they are offered. */
export const wellKnown: ReadonlyArray<string> = [...providerVariables.map(({ name }) => name), ...hosted.keys()]

/** The providers of the file, also those that lack their key yet. */
export const configured = Effect.fnUntraced(function* (
  home: string
): Effect.fn.Return<ReadonlyArray<FileProvider>, never, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const file = `${home}/config.toml`
  if (lookAt(file)._tag !== "Present") return []
  const text = yield* Effect.orElseSucceed(fs.readFileString(file), () => "")
  return Result.match(parseConfigFile(text, file), { onSuccess: ({ providers }) => providers, onFailure: () => [] })
})

export const nameProblem = (name: string): string | undefined =>
  isProviderName(name) ? undefined : "a provider's name has letters, digits, _ . and -, and is not scripted"

export const addressProblem = (address: string): string | undefined =>
  parseBaseUrl(address) === undefined
    ? "the address must be http:// or https://, without user name, password, query or fragment"
    : undefined

/** A server that was found on this machine. */
export const fromServer = ({ baseUrl, name }: LocalServer): Candidate => ({
  provider: { name, kind: "openai-compatible", baseUrl, models: [] },
  needsKey: false,
  section: { kind: "openai-compatible", base_url: baseUrl }
})

const isUsual = (name: string) => providerVariables.find((variables) => variables.name === name)

/** The key that holds now, as the settings found it. */
const keyOf = (known: ProviderSettings | undefined): Partial<Pick<ProviderSettings, "apiKey" | "keySource">> => ({
  ...(known?.apiKey === undefined ? {} : { apiKey: known.apiKey }),
  ...(known?.keySource === undefined ? {} : { keySource: known.keySource })
})

/** Fails with what to do. */
export const candidateOf = (input: {
  readonly name: string
  readonly address: Option.Option<string>
  readonly file: ReadonlyArray<FileProvider>
  readonly usable: ReadonlyArray<ProviderSettings>
}): Result.Result<Candidate, string> => {
  const { address, file, name, usable } = input
  const given = Option.getOrUndefined(address)
  const problem = nameProblem(name) ?? (given === undefined ? undefined : addressProblem(given))
  if (problem !== undefined) return Result.fail(problem)
  const written = file.find((provider) => provider.name === name)
  const known = usable.find((provider) => provider.name === name)
  const local = usualPlaces.find((place) => place.name === name)
  const service = hosted.get(name)
  const usual = isUsual(name)
  const kind = written?.kind ?? usual?.kind ?? "openai-compatible"
  const said = given === undefined ? undefined : parseBaseUrl(given)
  const usualUrl = service?.baseUrl ?? (local === undefined ? undefined : `${local.origin}/v1`)
  const baseUrl = said ?? known?.baseUrl ?? written?.baseUrl ?? usualUrl
  if (kind === "openai-compatible" && baseUrl === undefined) {
    return Result.fail(
      `${name} is no provider that is known here: give its address with --base-url, or choose ` +
        [...wellKnown, ...usualPlaces.map((place) => place.name)].join(", ")
    )
  }
  const isNew = written === undefined && usual === undefined
  return Result.succeed({
    provider: {
      name,
      kind,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...keyOf(known),
      models: written?.models ?? []
    },
    ...(service === undefined || said !== undefined ? {} : { browser: service.browser }),
    needsKey:
      kind !== "openai-compatible" || service !== undefined
        ? true
        : local === undefined || said !== undefined
          ? undefined
          : false,
    section: {
      ...(isNew ? { kind } : {}),
      ...(said !== undefined || isNew ? { base_url: baseUrl ?? "" } : {})
    }
  })
}

/** Such as `Anthropic`, or `work (anthropic)` where the name says less. */
export const titleOf = ({ kind, name }: ProviderSettings): string => {
  const title = providerTitle(name)
  return title === name && kind !== "openai-compatible" ? `${name} (${providerTitle(kind)})` : title
}

/** Where the key is that holds now, for people. */
export const sourceOf = ({ keySource }: ProviderSettings): string => {
  switch (keySource?.kind) {
    case "variable":
      return `the environment variable ${keySource.name}`
    case "file":
      return `${keySource.name} in config.toml`
    case "login":
      return "credentials.json"
    case undefined:
      return "nowhere"
  }
}

/** The provider with this key. */
export const withKey = (provider: ProviderSettings, apiKey: Redacted.Redacted<string>): ProviderSettings => ({
  ...Struct.omit(provider, ["keySource"]),
  apiKey
})
