/** A model of an agent under test behind the real provider code, whose requests a test sees. */
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as ProviderServer from "./ProviderServer.ts"

/** Key of the provider, which must not show up anywhere. */
export const modelKey = "sk-of-the-local-model-0123456789"

/** Configures the only model of the agent with that home; it may run already. */
export const useLocalModel = Effect.fnUntraced(function* (home: string) {
  const server = yield* ProviderServer.start
  const lines = [
    "[models]",
    'default = "local/qwen"',
    "[providers.local]",
    'kind = "openai-compatible"',
    `base_url = "${server.origin}/v1"`,
    `api_key = "${modelKey}"`,
    'models = ["qwen"]'
  ]
  writeFileSync(join(home, "config.toml"), lines.join("\n"))
  return server
})
