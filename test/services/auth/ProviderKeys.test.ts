/** What a sign-in writes, and what is left of it after signing out. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import { forget, keep, type SignedIn } from "../../../src/services/auth/ProviderKeys.ts"
import { changeConfig } from "../../../src/services/settings/ConfigWriter.ts"
import { setKey } from "../../../src/services/settings/ConfigEdit.ts"
import { platform } from "../../support/SettingsHome.ts"

const signedIn = (fields: Partial<SignedIn> = {}): SignedIn => ({
  provider: { name: "openai", kind: "openai", models: [] },
  key: Redacted.make("sk-0123456789"),
  section: {},
  defaultModel: undefined,
  ...fields
})

/** A home folder, and its files. */
const place = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const home = `${yield* fs.makeTempDirectoryScoped()}/home`
  const mode = (name: string) => Effect.map(fs.stat(`${home}/${name}`), (info) => info.mode & 0o777)
  return { fs, home, mode, read: (name: string) => fs.readFileString(`${home}/${name}`) }
})

describe("a sign-in", () => {
  it.effect("keeps key and choice in files for their owner alone, and leaves what was there", () =>
    Effect.gen(function* () {
      const { fs, home, mode, read } = yield* place
      yield* fs.makeDirectory(home)
      yield* fs.writeFileString(`${home}/config.toml`, "# mine\n[ui] # as ever\n", { mode: 0o644 })
      yield* keep(home, signedIn())
      assert.strictEqual(yield* read("config.toml"), "# mine\n[ui] # as ever\n")
      yield* keep(
        home,
        signedIn({
          provider: { name: "work", kind: "openai-compatible", models: [] },
          key: Redacted.make("sk-work"),
          section: { kind: "openai-compatible", base_url: "http://127.0.0.1:1/v1", models: ["x"] },
          defaultModel: "work/x"
        })
      )
      assert.strictEqual(
        yield* read("config.toml"),
        '# mine\n[ui] # as ever\n\n[models]\ndefault = "work/x"\n\n[providers.work]\n' +
          'kind = "openai-compatible"\nbase_url = "http://127.0.0.1:1/v1"\nmodels = ["x"]\n'
      )
      assert.deepStrictEqual(JSON.parse(yield* read("credentials.json")), {
        version: 1,
        keys: { openai: "sk-0123456789", work: "sk-work" }
      })
      assert.deepStrictEqual([yield* mode("config.toml"), yield* mode("credentials.json")], [0o600, 0o600])
      assert.deepStrictEqual((yield* fs.readDirectory(home)).toSorted(), ["config.toml", "credentials.json"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("is forgotten wherever its key was written, and nothing else is", () =>
    Effect.gen(function* () {
      const { fs, home, read } = yield* place
      yield* keep(home, signedIn())
      yield* keep(home, signedIn({ provider: { name: "google", kind: "google", models: [] } }))
      const config = "[providers.openai]\n# by hand\napi_key = 'sk-file'\nmodels = ['x']\n"
      yield* fs.writeFileString(`${home}/config.toml`, config)
      assert.deepStrictEqual(yield* forget(home, "openai"), { isStored: true, isWritten: true })
      assert.strictEqual(yield* read("config.toml"), "[providers.openai]\n# by hand\nmodels = ['x']\n")
      assert.deepStrictEqual(JSON.parse(yield* read("credentials.json")).keys, { google: "sk-0123456789" })
      assert.deepStrictEqual(yield* forget(home, "openai"), { isStored: false, isWritten: false })
    }).pipe(Effect.provide(platform))
  )

  it.effect("changes nothing of a file that cannot be understood, and says so without quoting it", () =>
    Effect.gen(function* () {
      const { fs, home, read } = yield* place
      yield* fs.makeDirectory(home)
      for (const [name, broken] of [
        ["config.toml", "[models\nsk-secret"],
        ["credentials.json", '{"keys": "sk-secret"}']
      ] as const) {
        yield* fs.writeFileString(`${home}/${name}`, broken)
        const { message } = yield* Effect.flip(keep(home, signedIn({ defaultModel: "openai/x" })))
        assert.include(message, name)
        assert.notInclude(message, "sk-")
        assert.strictEqual(yield* read(name), broken)
        yield* fs.remove(`${home}/${name}`)
      }
    }).pipe(Effect.provide(platform))
  )

  it.live("of several at once loses none", () =>
    Effect.gen(function* () {
      const { home, read } = yield* place
      const names = Array.from({ length: 12 }, (_, index) => `p${index}`)
      yield* Effect.forEach(
        names,
        (name) => keep(home, signedIn({ provider: { name, kind: "openai", models: [] }, section: { kind: "openai" } })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(Object.keys(JSON.parse(yield* read("credentials.json")).keys).toSorted(), names.toSorted())
      const config = yield* read("config.toml")
      for (const name of names) assert.include(config, `[providers.${name}]`)
    }).pipe(Effect.provide(platform))
  )

  it.effect("follows a link to the file that it means", () =>
    Effect.gen(function* () {
      const { fs, home } = yield* place
      yield* fs.makeDirectory(home)
      yield* fs.writeFileString(`${home}/real.toml`, "# real\n")
      yield* fs.symlink(`${home}/real.toml`, `${home}/config.toml`)
      yield* changeConfig(home, (text) => setKey(text, ["models", "default"], "a/b"))
      assert.strictEqual(yield* fs.readLink(`${home}/config.toml`), `${home}/real.toml`)
      assert.strictEqual(yield* fs.readFileString(`${home}/real.toml`), '# real\n\n[models]\ndefault = "a/b"\n')
    }).pipe(Effect.provide(platform))
  )
})
