/** The web of a test: real servers on this machine, and names that the test resolves. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Settings, type WebFetchSettings } from "../../src/services/Settings.ts"
import { Web } from "../../src/services/Web.ts"
import type { Resolver } from "../../src/services/web/Resolver.ts"

export const local: WebFetchSettings = { allowLocal: true }

const loopback = [{ address: "127.0.0.1", family: 4 }]

export const web = (
  webFetch: WebFetchSettings = local,
  options: { readonly environment?: Record<string, string>; readonly resolve?: Resolver } = {}
) => {
  const { environment = {}, ...seams } = options
  return Layer.provide(Web.layer(environment, seams), Settings.layerValues({ webFetch }))
}

export const get = (url: URL) => Web.use((service) => service.fetch(url))
export const refusal = (url: URL) => Effect.map(Effect.flip(get(url)), ({ message }) => message)

/** Every name means this machine; what was asked for is kept. */
export const everyName = () => {
  const names: Array<string> = []
  const resolve: Resolver = (name) => Effect.sync(() => (names.push(name), loopback))
  return { names, resolve }
}
