/** Who can be asked, and with which keys. No key is shown, not in part either. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { tokenStore } from "../../composition/Platform.ts"
import { TokenStore } from "../../services/auth/TokenStore.ts"
import { catalogue } from "../../services/models/Catalogue.ts"
import { hasOwnList, listModels } from "../../services/models/ModelList.ts"
import { type ProviderSettings, Settings, type SettingsValue } from "../../services/Settings.ts"
import { table } from "../terminal/Table.ts"
import { sourceOf } from "./Candidate.ts"
import { failed } from "../Explained.ts"
import { here } from "./Here.ts"
import { terminalWidth } from "./Terminal.ts"

const keyText = (provider: ProviderSettings): string => (provider.apiKey === undefined ? "none" : sourceOf(provider))

const modelText = (provider: ProviderSettings, value: SettingsValue): string => {
  const count = listModels({ ...value, providers: [provider] }, catalogue).length
  return hasOwnList(provider) ? "its own list" : String(count)
}

/** Whether the token of the environment is a good one. */
const tokenState = Effect.fnUntraced(function* ({ authRequired, gatewayToken }: SettingsValue) {
  if (!authRequired) return "not needed"
  if (gatewayToken === undefined) return "missing"
  const isGood = yield* TokenStore.use((store) => store.verify(Redacted.make(Redacted.value(gatewayToken)))).pipe(
    Effect.provide(tokenStore),
    Effect.orElseSucceed(() => false)
  )
  return isGood ? "accepted" : "refused"
})

const printTable = Effect.fnUntraced(function* (value: SettingsValue, token: string, first: string | undefined) {
  const { providers } = value
  const columns = [
    { title: "PROVIDER", cells: providers.map(({ name }) => name) },
    { title: "KIND", cells: providers.map(({ kind }) => kind) },
    { title: "KEY FROM", cells: providers.map(keyText), shrink: "end" as const },
    { title: "MODELS", cells: providers.map((provider) => modelText(provider, value)) },
    { title: "ADDRESS", cells: providers.map(({ baseUrl }) => baseUrl ?? "the usual one"), shrink: "end" as const }
  ]
  if (providers.length > 0) yield* Effect.forEach(table(columns, terminalWidth()), (line) => Console.log(line))
  yield* Console.log(`New sessions use ${first ?? "no model: there is none yet"}`)
  if (token !== "not needed") yield* Console.log(`Gateway token: required, and the one of the environment is ${token}`)
})

export const run = Effect.fnUntraced(function* (json: boolean) {
  const value = yield* Settings.use(({ current }) => current)
  const token = yield* tokenState(value)
  const listed = listModels(value, catalogue)
  const isReady = listed.length > 0 || value.providers.some(hasOwnList)
  const first = listed[0]?.id
  if (json) {
    yield* Console.log(
      JSON.stringify({
        ready: isReady && (token === "not needed" || token === "accepted"),
        ...(first === undefined ? {} : { defaultModel: first }),
        gatewayToken: token,
        providers: value.providers.map((provider) => ({
          name: provider.name,
          kind: provider.kind,
          ...(provider.baseUrl === undefined ? {} : { baseUrl: provider.baseUrl }),
          key: provider.keySource ?? null
        }))
      })
    )
  } else {
    yield* printTable(value, token, first)
  }
  if (!isReady) return yield* failed("No provider can be used: run super-pi login")
}, here)
