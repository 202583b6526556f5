/** Signing in on the command line, as a person in a terminal and as a script. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ended, folder, run, start } from "../support/Program.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import { at } from "../support/Schema.ts"
import * as Terminal from "../support/Terminal.ts"

const { down, enter, interrupt } = Terminal.keys
const key = "sk-test-0123456789-abcdef"
const list = {
  object: "list",
  data: [
    { id: "small", object: "model" },
    { id: "large", object: "model" }
  ]
}

/** Runs it with a key on standard input. */
const withKey = (args: ReadonlyArray<string>, home: string, env: Record<string, string> = {}) =>
  Effect.scoped(
    Effect.gen(function* () {
      const child = yield* start(args, { env: { SUPERCHARGE_HOME: home, ...env } })
      child.stdin.end(`${key}\n`)
      return yield* ended(child)
    })
  )

const modeOf = (path: string): number => statSync(path).mode & 0o777

describe("super-pi login", () => {
  it.live(
    "in a terminal asks for provider, key and model, tries them, and keeps them without a trace of the key",
    () =>
      Effect.gen(function* () {
        const server = yield* ProviderServer.start
        server.offer(list)
        const home = join(yield* folder, "home")
        mkdirSync(home)
        writeFileSync(join(home, "config.toml"), "# mine\n[ui]\npermission_mode = 'ask' # as ever\n", { mode: 0o644 })
        // As an editor runs it, which appends the arguments of the method to those that it starts the agent with (AUT-04).
        const terminal = yield* Terminal.open(["acp", "login"], { home })
        yield* terminal.shows("Which provider?")
        yield* terminal.shows("Another server")
        // Up from the first is the last.
        yield* terminal.type("\u001b[A" + enter)
        yield* terminal.shows("Its address")
        yield* terminal.type(`nonsense${enter}`)
        yield* terminal.shows("must be http:// or https://")
        yield* terminal.type(`\u0015${server.origin}/v1${enter}`)
        yield* terminal.shows("A short name")
        yield* terminal.type(`\u0015work${enter}`)
        yield* terminal.shows("Its API key")
        yield* terminal.type(`${key}${enter}`)
        yield* terminal.shows("Which model")
        server.answer({ status: 401, message: "no such key" }, { pieces: [{ text: "OK" }] })
        yield* terminal.type(down + enter)
        yield* terminal.shows("Trying work/large")
        yield* terminal.shows("does not accept the key")
        yield* terminal.shows("Give the key again")
        yield* terminal.type(enter)
        yield* terminal.shows("The API key")
        yield* terminal.type(`${key}${enter}`)
        yield* terminal.shows("work is ready")
        assert.strictEqual(yield* terminal.ended, 0, terminal.text())
        assert.notInclude(terminal.raw(), key)
        assert.notInclude(terminal.raw(), key.slice(0, 12))
        const config = readFileSync(join(home, "config.toml"), "utf8")
        assert.strictEqual(
          config,
          "# mine\n[ui]\npermission_mode = 'ask' # as ever\n\n" +
            `[models]\ndefault = "work/large"\n\n[providers.work]\nkind = "openai-compatible"\nbase_url = "${server.origin}/v1"\n`
        )
        assert.strictEqual(modeOf(join(home, "config.toml")), 0o600)
        assert.strictEqual(modeOf(join(home, "credentials.json")), 0o600)
        const status = yield* run(["auth", "status", "--json"], { env: { SUPERCHARGE_HOME: home } })
        assert.strictEqual(status.end, 0)
        assert.strictEqual(at(JSON.parse(status.stdout), "ready"), true)
        assert.strictEqual(at(JSON.parse(status.stdout), "defaultModel"), "work/large")
        assert.notInclude(status.stdout, key)
        const bearer = server.seen().map(({ headers }) => headers.authorization)
        assert.deepStrictEqual(bearer, [`Bearer ${key}`, `Bearer ${key}`])
      }),
    30_000
  )

  it.live(
    "asks for the key again where the list of models wants another one, and tells a script so",
    () =>
      Effect.gen(function* () {
        const server = yield* ProviderServer.start
        server.offer(list, key)
        const args = ["login", "--provider", "work", "--base-url", `${server.origin}/v1`]
        const home = join(yield* folder, "home")
        const refused = yield* run(args, { env: { SUPERCHARGE_HOME: home } })
        assert.strictEqual(refused.end, 1)
        assert.match(refused.stderr, /refuses the request \(401\): it wants another key.*--key-stdin/)
        const terminal = yield* Terminal.open([...args, "--no-test"], { home })
        yield* terminal.shows("Its API key")
        yield* terminal.type(`sk-wrong${enter}`)
        yield* terminal.shows("It does not accept the key")
        yield* terminal.type(enter)
        yield* terminal.shows("The API key")
        yield* terminal.type(`${key}${enter}`)
        yield* terminal.shows("Which model")
        yield* terminal.type(enter)
        yield* terminal.shows("work is ready")
        assert.strictEqual(yield* terminal.ended, 0, terminal.text())
      }),
    30_000
  )

  it.live("changes nothing when somebody leaves in the middle, and says so by its exit code", () =>
    Effect.gen(function* () {
      const terminal = yield* Terminal.open(["agent", "--always-approve", "stdio", "login"])
      yield* terminal.shows("Which provider?")
      yield* terminal.type(enter)
      yield* terminal.shows("The API key of Anthropic")
      yield* terminal.type(interrupt)
      assert.strictEqual(yield* terminal.ended, 130)
      assert.isFalse(existsSync(join(terminal.home, "credentials.json")))
      assert.isFalse(existsSync(join(terminal.home, "config.toml")))
    })
  )

  it.live("by a script tries the key with one call, and keeps only what works", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const home = join(yield* folder, "home")
      const args = [
        "login",
        "--provider",
        "anthropic",
        "--base-url",
        server.origin,
        "--key-stdin",
        "--model",
        "claude-haiku-5-5"
      ]
      server.answer({ status: 401, message: `invalid x-api-key ${key}` }, { pieces: [{ text: "OK" }] })
      const refused = yield* withKey(args, home)
      assert.strictEqual(refused.end, 1)
      assert.match(refused.stderr, /does not accept the key.*Nothing was changed/)
      assert.notInclude(refused.stderr + refused.stdout, key)
      assert.isFalse(existsSync(join(home, "credentials.json")))
      assert.isFalse(existsSync(join(home, "config.toml")))
      const accepted = yield* withKey(args, home, { ANTHROPIC_API_KEY: "sk-other" })
      assert.strictEqual(accepted.end, 0, accepted.stderr)
      assert.match(accepted.stderr, /ANTHROPIC_API_KEY is set here and wins/)
      assert.notInclude(accepted.stderr + accepted.stdout, key)
      const [, request] = server.seen()
      assert.strictEqual(request?.headers["x-api-key"], key)
      assert.include(request?.text, `"model":"claude-haiku-5-5"`)
      assert.lengthOf(server.seen(), 2)
      const config = readFileSync(join(home, "config.toml"), "utf8")
      assert.include(config, 'default = "anthropic/claude-haiku-5-5"')
      assert.notInclude(config, key)

      const out = yield* run(["logout"], { env: { SUPERCHARGE_HOME: home } })
      assert.strictEqual(out.end, 0)
      assert.include(readFileSync(join(home, "credentials.json"), "utf8"), key)
      const forgotten = yield* run(["logout", "--provider", "anthropic"], { env: { SUPERCHARGE_HOME: home } })
      assert.strictEqual(forgotten.end, 0)
      assert.notInclude(readFileSync(join(home, "credentials.json"), "utf8"), key)
    })
  )

  it.live("without a terminal says which flags it needs", () =>
    Effect.gen(function* () {
      for (const [args, said] of [
        [["login"], /--provider.*--key-stdin/],
        [["login", "--provider", "openai"], /--key-stdin/],
        [["login", "--provider", "openai", "--key-stdin"], /no key on standard input/]
      ] as const) {
        const { end, stderr, stdout } = yield* run(args)
        assert.strictEqual(end, 2)
        assert.match(stderr, said)
        assert.strictEqual(stdout, "")
      }
    })
  )
})

describe("super-pi models", () => {
  it.live("fits the terminal, and is one object a line for scripts", () =>
    Effect.gen(function* () {
      const env = { OPENAI_API_KEY: key }
      const terminal = yield* Terminal.open(["models"], { env })
      assert.strictEqual(yield* terminal.ended, 0)
      const lines = terminal.text().trimEnd().split("\n")
      assert.match(lines[0] ?? "", /^MODEL +NAME +CONTEXT/)
      for (const line of lines) assert.isAtMost(line.length, 100)
      const { stdout } = yield* run(["models", "--json"], { env })
      const [first, second] = stdout.split("\n").map((line): unknown => JSON.parse(line || "null"))
      assert.strictEqual(at(first as never, "id"), "openai/gpt-6.2-sol")
      assert.strictEqual(at(first as never, "default"), true)
      assert.strictEqual(at(first as never, "outputLimit"), 128_000)
      assert.strictEqual(at(second as never, "default"), false)
    })
  )
})
