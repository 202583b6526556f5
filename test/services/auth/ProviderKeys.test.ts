/** What a sign-in writes, and what is left of it after signing out. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import { execFileSync } from "node:child_process"
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

  it.effect("follows a link also where there is no file yet", () =>
    Effect.gen(function* () {
      const { fs, home } = yield* place
      yield* fs.makeDirectory(`${home}/there`, { recursive: true })
      yield* fs.symlink("there/real.toml", `${home}/config.toml`)
      yield* changeConfig(home, (text) => setKey(text, ["models", "default"], "a/b"))
      assert.strictEqual(yield* fs.readLink(`${home}/config.toml`), "there/real.toml")
      assert.strictEqual(yield* fs.readFileString(`${home}/there/real.toml`), '[models]\ndefault = "a/b"\n')
    }).pipe(Effect.provide(platform))
  )

  it.effect("keeps every byte of the file that it does not mean", () =>
    Effect.gen(function* () {
      const { fs, home } = yield* place
      const path = `${home}/config.toml`
      const bytes = (text: string, encoding: BufferEncoding = "utf8") => new Uint8Array(Buffer.from(text, encoding))
      const setDefault = changeConfig(home, (text) => setKey(text, ["models", "default"], "c/d"))
      yield* fs.makeDirectory(home)
      yield* fs.writeFile(path, bytes('\uFEFF# é\r\n[models]\r\ndefault = "a/b" # x\r\n'))
      yield* setDefault
      const after = bytes('\uFEFF# é\r\n[models]\r\ndefault = "c/d" # x\r\n')
      assert.deepStrictEqual(new Uint8Array(yield* fs.readFile(path)), after)
      const foreign = bytes('# caf\xe9\n[models]\ndefault = "a/b"\n', "latin1")
      yield* fs.writeFile(path, foreign)
      const { message } = yield* Effect.flip(setDefault)
      assert.strictEqual(message, `${path} is not UTF-8, as TOML has to be; save it as that first`)
      assert.deepStrictEqual(new Uint8Array(yield* fs.readFile(path)), foreign)
    }).pipe(Effect.provide(platform))
  )

  it.live("stores no key in a pipe, nor where it would not be read", () =>
    Effect.gen(function* () {
      const { fs, home } = yield* place
      const path = `${home}/credentials.json`
      yield* fs.makeDirectory(home)
      execFileSync("sh", ["-c", 'mkfifo "$0"', path])
      assert.match((yield* Effect.flip(keep(home, signedIn()))).message, /is no list of keys and was left as it is/)
      assert.match((yield* Effect.flip(forget(home, "openai"))).message, /is no list of keys/)
      yield* fs.remove(path)
      const large = JSON.stringify({ version: 1, keys: { other: "x".repeat(1024 * 1024 - 40) } })
      yield* fs.writeFileString(path, large)
      assert.match((yield* Effect.flip(keep(home, signedIn()))).message, /would have more than 1048576 bytes/)
      assert.strictEqual(yield* fs.readFileString(path), large)
    }).pipe(Effect.provide(platform))
  )

  it.live("waits for no pipe, and makes no file that would not be read", () =>
    Effect.gen(function* () {
      const { fs, home } = yield* place
      const path = `${home}/config.toml`
      const setDefault = changeConfig(home, (text) => setKey(text, ["models", "default"], "c/d"))
      yield* fs.makeDirectory(home)
      execFileSync("sh", ["-c", 'mkfifo "$0"', path])
      assert.strictEqual((yield* Effect.flip(setDefault)).message, `${path} is a FIFO; make it a plain file`)
      yield* fs.remove(path)
      const large = `# ${"x".repeat(1024 * 1024 - 10)}\n`
      yield* fs.writeFileString(path, large)
      assert.match(
        (yield* Effect.flip(setDefault)).message,
        /would have \d+ bytes, more than 1048576; shorten it first$/
      )
      assert.strictEqual(yield* fs.readFileString(path), large)
    }).pipe(Effect.provide(platform))
  )
})
