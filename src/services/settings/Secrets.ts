/** The secrets among the settings as plain texts, for whoever has to keep them out of something. */
import * as Redacted from "effect/Redacted"
import type { SettingsValue } from "../Settings.ts"

export const secretsOf = ({ gatewayToken, providers, relay }: SettingsValue): ReadonlyArray<string> =>
  [gatewayToken, relay.token, ...providers.map(({ apiKey }) => apiKey)].flatMap((secret) =>
    secret === undefined ? [] : [Redacted.value(secret)]
  )
