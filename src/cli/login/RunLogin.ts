/** Signs in to a provider: finds out who, with which key and which model, tries it, and only then writes it down. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { ModelInfo } from "../../domain/Model.ts"
import { type BrowserService, signIn } from "../../services/auth/BrowserSignIn.ts"
import { keep } from "../../services/auth/ProviderKeys.ts"
import { tryModel } from "../../services/auth/TryModel.ts"
import { catalogue } from "../../services/models/Catalogue.ts"
import * as LocalServers from "../../services/models/LocalServers.ts"
import { listModels, splitId } from "../../services/models/ModelList.ts"
import { askEndpoint } from "../../services/models/OfferedModels.ts"
import * as ProviderHttp from "../../services/models/provider/ProviderHttp.ts"
import { type ModelSettings, type ProviderSettings, Settings, type SettingsValue } from "../../services/Settings.ts"
import { explained, failed } from "../Explained.ts"
import { inputText } from "../InputText.ts"
import { plainText } from "../terminal/Plain.ts"
import { misused } from "../UsageError.ts"
import {
  type Candidate,
  candidateOf,
  configured,
  fromServer,
  keyPages,
  sourceOf,
  titleOf,
  withKey
} from "./Candidate.ts"
import { here } from "./Here.ts"
import * as Questions from "./Questions.ts"

export interface LoginFlags {
  readonly provider: Option.Option<string>
  readonly keyStdin: boolean
  readonly model: Option.Option<string>
  readonly baseUrl: Option.Option<string>
  readonly noTest: boolean
}

/** Whether somebody can answer. With `--key-stdin` standard input is no terminal. */
const isAnswered = (): boolean => process.stdin.isTTY && process.stdout.isTTY

const LONGEST_KEY = 10_000

/** The only line of standard input. */
const keyOfInput = Effect.gen(function* () {
  const key = (yield* inputText).trim()
  if (key === "") return yield* misused('there is no key on standard input: write printf %s "$KEY" | super-pi login …')
  if (key.length > LONGEST_KEY || !/^[\x21-\x7e]+$/.test(key)) {
    return yield* misused("what standard input has is no key: it must be one word of letters, digits and signs")
  }
  return Redacted.make(key)
})

/** The name of a server in the middle of its address, for the person to change. */
const proposalOf = (address: string): string => {
  const host = URL.parse(address)?.hostname ?? ""
  return /^(127\.|localhost$|\[)/.test(host) ? "local" : (host.split(".").at(-2) ?? "server")
}

const chooseProvider = Effect.fnUntraced(function* (flags: LoginFlags, home: string, { providers }: SettingsValue) {
  const file = yield* configured(home)
  const named = (name: string, address: Option.Option<string>) =>
    Effect.mapError(Effect.fromResult(candidateOf({ name, address, file, usable: providers })), failed)
  if (Option.isSome(flags.provider)) return yield* named(flags.provider.value, flags.baseUrl)
  if (!isAnswered()) {
    return yield* misused(
      "nobody can be asked here: name the provider with --provider, and give the key by --key-stdin"
    )
  }
  yield* Console.log("Looking for servers on this machine …")
  const found = yield* LocalServers.find
  const own = file
    .map(({ name }) => name)
    .filter((name) => !keyPages.has(name) && !found.some((one) => one.name === name))
  const choice = yield* Questions.askProvider(found, own)
  switch (choice._tag) {
    case "Named":
      return yield* named(choice.name, flags.baseUrl)
    case "Local":
      return fromServer(choice.server)
    case "Other": {
      const address = yield* Questions.askAddress
      return yield* named(yield* Questions.askName(proposalOf(address)), Option.some(address))
    }
  }
})

/** Requests on the road of those to providers, through a proxy where there is one. */
const http = Effect.flatMap(Scope.Scope, (scope) => Scope.provide(ProviderHttp.make, scope))

const keyOfBrowser = Effect.fnUntraced(function* (service: BrowserService) {
  const { send } = yield* http
  const show = (url: string) =>
    Console.log(`Open this page in a browser of this machine, and sign in there:\n\n${url}\n`)
  return yield* explained(signIn(service, send, show))
})

/** The key to store; undefined where none is needed, or where the one that is there is to be used. */
const chooseKey = Effect.fnUntraced(function* (flags: LoginFlags, { browser, needsKey, provider }: Candidate) {
  if (flags.keyStdin) return yield* keyOfInput
  if (needsKey === false) return undefined
  const hasKey = provider.apiKey !== undefined
  if (!isAnswered()) {
    if (hasKey || needsKey === undefined) return undefined
    return yield* misused(
      `${titleOf(provider)} needs a key: write printf %s "$KEY" | super-pi login --provider ${provider.name} --key-stdin`
    )
  }
  if (hasKey && (yield* Questions.askReuse(sourceOf(provider)))) return undefined
  if (browser !== undefined && (yield* Questions.askBrowser(titleOf(provider)))) return yield* keyOfBrowser(browser)
  const page = keyPages.get(provider.name) ?? keyPages.get(provider.kind)
  if (page !== undefined && (provider.baseUrl === undefined || browser !== undefined)) {
    yield* Console.log(`Keys are made at ${page}`)
  }
  return yield* Questions.askKey(
    needsKey === true
      ? `The API key of ${titleOf(provider)}, which is not shown`
      : "Its API key; leave it empty if it wants none",
    needsKey !== true
  )
})

/** What an endpoint without a catalogue says of itself, or why it says nothing. */
const ask = Effect.fnUntraced(function* (provider: ProviderSettings) {
  const { baseUrl, kind } = provider
  if (kind !== "openai-compatible" || baseUrl === undefined) {
    return { models: [], problem: undefined, isRefused: false }
  }
  const { send } = yield* http
  return yield* Effect.match(askEndpoint(send, { ...provider, baseUrl }), {
    onSuccess: (models) => ({ models, problem: undefined, isRefused: false }),
    onFailure: ({ isRefused = false, message }) => ({ models: [], problem: `${baseUrl} ${message}`, isRefused })
  })
})

interface ModelChoice {
  readonly provider: ProviderSettings
  /** The provider's own name of it. */
  readonly model: string
  /** What has to be named in the file, since nobody else lists it. */
  readonly named: ReadonlyArray<string>
}

const choiceOf = (provider: ProviderSettings, listed: ReadonlyArray<ModelInfo>, model: string): ModelChoice => {
  const isListed = listed.some(({ id }) => id === `${provider.name}/${model}`)
  const known: ReadonlyArray<ModelSettings> = isListed ? provider.models : [{ id: model }, ...provider.models]
  return { provider: { ...provider, models: known }, model, named: isListed ? [] : [model] }
}

/** Without a list, what a script has to do. */
const withoutList = ({ keyStdin }: LoginFlags, isRefused: boolean): string => {
  if (!isRefused) return "start its server, or name a model with --model"
  return keyStdin ? "the key is wrong, so give another one" : "it wants another key, so give one with --key-stdin"
}

/** Undefined where the person wants to give the key again first. */
const chooseModel = Effect.fnUntraced(function* (
  flags: LoginFlags,
  provider: ProviderSettings,
  { defaultModel, ...value }: SettingsValue
) {
  const { isRefused, models, problem } = yield* ask(provider)
  const listed = listModels({ ...value, providers: [provider] }, catalogue, () => models)
  const ownName = (id: string) => (id.startsWith(`${provider.name}/`) ? id.slice(provider.name.length + 1) : id)
  if (Option.isSome(flags.model)) return choiceOf(provider, listed, ownName(flags.model.value))
  if (isAnswered()) {
    if (problem !== undefined) yield* Console.log(problem)
    if (isRefused && (yield* Questions.askRefused(provider.apiKey !== undefined))) return undefined
    const id = yield* listed.length === 0 ? Questions.askModelName : Questions.askModel(listed)
    return choiceOf(provider, listed, ownName(id))
  }
  const present = splitId(defaultModel ?? "")
  const usual = present?.provider === provider.name ? defaultModel : listed[0]?.id
  if (usual !== undefined) return choiceOf(provider, listed, ownName(usual))
  const reason = problem ?? `${titleOf(provider)} has no model yet`
  return yield* failed(`${reason}: ${withoutList(flags, isRefused)}`)
})

/** Shown while somebody waits, and nothing for scripts. */
const progress = (line: string) => (isAnswered() ? Console.log(line) : Effect.void)

/** Where the key or the model is wrong, a person may give another one. */
const settle = (flags: LoginFlags, candidate: Candidate, value: SettingsValue) =>
  Effect.gen(function* () {
    let key = yield* chooseKey(flags, candidate)
    const provided = () => (key === undefined ? candidate.provider : withKey(candidate.provider, key))
    const askKey = Questions.askKey("The API key, which is not shown", candidate.needsKey !== true)
    const choose = Effect.fnUntraced(function* (model: Option.Option<string>) {
      for (;;) {
        const chosen = yield* chooseModel({ ...flags, model }, provided(), value)
        if (chosen !== undefined) return chosen
        key = yield* askKey
      }
    })
    let choice = yield* choose(flags.model)
    while (!flags.noTest) {
      yield* progress(`Trying ${choice.provider.name}/${choice.model} …`)
      const tried = yield* Effect.result(tryModel(choice.provider, choice.model))
      if (tried._tag === "Success") return { key, choice }
      // A server may say anything.
      const message = plainText(tried.failure.message)
      if (!isAnswered()) return yield* failed(`${message}. Nothing was changed; --no-test keeps it without trying`)
      yield* Console.log(`That did not work: ${message}`)
      const again = yield* Questions.askAgain(candidate.needsKey !== false)
      if (again === "keep") break
      if (again === "leave") return yield* failed("Nothing was changed")
      if (again === "key") key = yield* askKey
      choice = yield* choose(again === "model" ? Option.none() : Option.some(choice.model))
    }
    return { key, choice }
  })

/** A variable of the environment wins over what was stored. */
const shadowOf = ({ keySource, name }: ProviderSettings, key: unknown): ReadonlyArray<string> =>
  key !== undefined && keySource?.kind === "variable"
    ? [`${keySource.name} is set here and wins over the stored key of ${name} wherever it is set`]
    : []

export const run = Effect.fnUntraced(
  function* (flags: LoginFlags) {
    const { current, home } = yield* Settings
    const value = yield* current
    const candidate = yield* chooseProvider(flags, home, value)
    const { choice, key } = yield* settle(flags, candidate, value)
    const id = `${choice.provider.name}/${choice.model}`
    // Who only stores one more key keeps the model of new sessions.
    const hasDefault = listModels(value, catalogue)[0]?.id === value.defaultModel
    const keepsDefault = !isAnswered() && Option.isNone(flags.model) && hasDefault && value.defaultModel !== undefined
    yield* explained(
      keep(home, {
        provider: choice.provider,
        key,
        section: {
          ...candidate.section,
          ...(choice.named.length === 0 ? {} : { models: choice.provider.models.map((model) => model.id) })
        },
        defaultModel: keepsDefault ? undefined : id
      })
    )
    const title = titleOf(choice.provider)
    if (key !== undefined)
      yield* Console.log(`The key of ${title} is in ${home}/credentials.json, which only you can read`)
    for (const line of shadowOf(candidate.provider, key)) yield* Console.error(`note: ${line}`)
    yield* Console.log(
      keepsDefault
        ? `${title} is ready; new sessions go on with ${value.defaultModel}`
        : `${title} is ready; new sessions use ${id}, which ${home}/config.toml says`
    )
  },
  Effect.scoped,
  here
)
