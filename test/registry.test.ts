/** The entry for the public registry of agents, by the rules that it publishes for its entries and their icons. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./support/Sources.ts"

const Address = Schema.String.check(Schema.isPattern(/^https:\/\/\S+$/))
const Package = Schema.Struct({
  package: Schema.NonEmptyString,
  cmd: Schema.optionalKey(Schema.NonEmptyString),
  args: Schema.optionalKey(Schema.Array(Schema.String)),
  env: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
})

/** Of what the registry takes, the part that this agent uses; nothing else may be in it. */
const Entry = Schema.Struct({
  id: Schema.String.check(Schema.isPattern(/^[a-z][a-z0-9-]*$/)),
  name: Schema.NonEmptyString,
  version: Schema.String.check(Schema.isPattern(/^\d+\.\d+\.\d+$/)),
  description: Schema.NonEmptyString,
  repository: Schema.optionalKey(Address),
  website: Schema.optionalKey(Address),
  authors: Schema.Array(Schema.String),
  license: Schema.NonEmptyString,
  license_url: Address,
  distribution: Schema.Struct({ npx: Package })
})

const text = (path: string): string => readFileSync(join(root, path), "utf8")

describe("the registry entry", () => {
  it.effect("is what the registry takes, for this version of the package", () =>
    Effect.gen(function* () {
      const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Entry), { onExcessProperty: "error" })
      const entry = yield* decode(text("docs/registry/agent.json"))
      const { license, name, version, bin, files } = JSON.parse(text("package.json"))
      assert.deepStrictEqual([entry.id, entry.version, entry.license], [name, version, license])
      // Pinned, and started by the command that has the package's own name.
      assert.deepStrictEqual(entry.distribution.npx, { package: `${name}@${version}`, args: ["acp"] })
      assert.property(bin, name)
      assert.include(files, "docs")
    })
  )

  it("has an icon of 16 by 16 in the colour of the text", () => {
    const icon = text("docs/registry/icon.svg")
    assert.match(icon, /<svg [^>]*width="16" height="16" viewBox="0 0 16 16"/)
    const colours = [...icon.matchAll(/(?:fill|stroke)="([^"]*)"/g)].map(([, colour]) => colour)
    assert.deepStrictEqual(new Set(colours), new Set(["currentColor"]))
    assert.notMatch(icon, /style=|<style|<image|#[0-9a-fA-F]{3}/)
  })
})
