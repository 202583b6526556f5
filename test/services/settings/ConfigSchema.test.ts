/** The JSON Schema that editors complete the file by. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import * as Toml from "effect/encoding/Toml"
import * as FileSystem from "effect/FileSystem"
import { parseConfigFile } from "../../../src/services/settings/ConfigFile.ts"
import { jsonSchema, keyPaths } from "../../../src/services/settings/ConfigSchema.ts"

const file = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(path)).pipe(Effect.provide(NodeFileSystem.layer))

const validator = () => new Ajv2020({ allErrors: true, strict: false }).compile(jsonSchema())

describe("the JSON Schema of the configuration", () => {
  it.effect("is the one that is shipped: node scripts/config-schema.ts writes it anew", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* file("docs/config.schema.json"), `${JSON.stringify(jsonSchema(), null, 2)}\n`)
    })
  )

  it.effect("takes every example of the page", () =>
    Effect.gen(function* () {
      const validate = validator()
      const text = yield* file("docs/configuration.md")
      const examples = [...text.matchAll(/```toml\n(.*?)```/gs)].map(([, example = ""]) => example)
      assert.isAbove(examples.length, 0)
      for (const example of examples) {
        const document: unknown = yield* Effect.fromResult(Toml.parse(example))
        assert.isTrue(validate(document), JSON.stringify(validate.errors))
      }
    })
  )

  it("describes every key, with what holds without it", () => {
    const text = JSON.stringify(jsonSchema())
    for (const [path, { about, without }] of keyPaths()) {
      assert.include(text, JSON.stringify(about), path)
      if (without !== undefined) assert.include(text, `"default":${JSON.stringify(without)}`, path)
    }
  })

  it.effect.each([
    '[sandbox]\nprofile = "tight"',
    "[toolset.bash]\ntimeout_secs = 0",
    '[providers.local]\nkind = "other"',
    "[providers.local]\nmodels = [{ name = 'no id' }]",
    '[[hooks.PreToolUse]]\ncommand = ["a"]',
    '[mcp_servers.files]\nargs = "x"'
  ])("refuses what the reader complains of: %s", (text) =>
    Effect.gen(function* () {
      const { warnings } = yield* Effect.fromResult(parseConfigFile(text, "config.toml"))
      assert.isAbove(warnings.length, 0)
      assert.isFalse(validator()(yield* Effect.fromResult(Toml.parse(text))))
    })
  )
})
