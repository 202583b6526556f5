import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { models } from "../../../src/cli/doctor/Providers.ts"
import type { ModelsShape } from "../../../src/services/Models.ts"
import type { ProviderSettings } from "../../../src/services/Settings.ts"
import { defaultSettings } from "../../../src/services/settings/Merge.ts"

const endpoint: ProviderSettings = {
  name: "work",
  kind: "openai-compatible",
  baseUrl: "https://models.example.org/v1",
  models: []
}

describe("the models that the doctor finds", () => {
  it.effect("are not asked for with --offline where an endpoint would have to be", () =>
    Effect.gen(function* () {
      let asked = 0
      const known: ModelsShape = {
        list: Effect.sync(() => {
          asked += 1
          return []
        }),
        resolve: () => Effect.die("no model is used")
      }
      const look = (offline: boolean) => models({ ...defaultSettings, providers: [endpoint] }, known, "file", offline)
      const [offline] = yield* look(true)
      assert.deepInclude(offline, { health: "note", check: "models" })
      assert.strictEqual(asked, 0)
      const [online] = yield* look(false)
      assert.deepInclude(online, { health: "broken", check: "models" })
      assert.strictEqual(asked, 1)
    })
  )
})
