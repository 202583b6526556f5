/** Models and options of a session over stdio: the built program, real dialects of providers, and the official client. */
import type { SessionConfigOption } from "@agentclientprotocol/sdk"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { suite, type Test } from "../support/Harness.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import { at } from "../support/Schema.ts"
import { stdio } from "../support/Transports.ts"

const { alone } = suite(1, stdio)

const optionOf = (options: ReadonlyArray<SessionConfigOption>, id: string) => options.find((option) => option.id === id)

/** Values by group; one group without a name where there are none. */
const groupsOf = (
  options: ReadonlyArray<SessionConfigOption>,
  id: string
): ReadonlyArray<readonly [string, string]> => {
  const option = optionOf(options, id)
  if (option?.type !== "select") return []
  return option.options.flatMap((entry): ReadonlyArray<readonly [string, string]> =>
    "value" in entry
      ? [["", entry.value]]
      : entry.options.map(({ value }): readonly [string, string] => [`${entry.group}=${entry.name}`, value])
  )
}

/** Two providers at one address, each with a dialect of its own. */
const configure = (test: Test, { origin }: ProviderServer.ProviderServer, providers = ["local", "anthropic"]) => {
  const sections: { readonly [name: string]: string } = {
    local: `kind = "openai-compatible"\nbase_url = "${origin}/v1"\nmodels = [{ id = "thinker", efforts = ["low", "xhigh"] }, "plain"]\n`,
    anthropic: `base_url = "${origin}/v1"\napi_key = "sk-ant-0123456789"\n`
  }
  const text = providers.map((name) => `[providers.${name}]\n${sections[name]}`).join("\n")
  writeFileSync(join(test.home, "config.toml"), text)
}

const HAIKU = "anthropic/claude-haiku-5-5"

alone(
  "CFG-01, CFG-03, CFG-04, CFG-06, TRN-11 models in groups, efforts of the chosen one, a choice in mid-turn, kept and priced",
  { scripted: false },
  Effect.fnUntraced(function* (test) {
    const { client } = test
    const server = yield* ProviderServer.start
    configure(test, server)
    const session = yield* test.open()
    const models = groupsOf(session.options, "model")
    assert.deepStrictEqual(models.slice(0, 3), [
      ["local=local", "local/thinker"],
      ["local=local", "local/plain"],
      ["anthropic=Anthropic", "anthropic/claude-sonnet-5-5"]
    ])
    assert.deepStrictEqual(groupsOf(session.options, "reasoning_effort"), [
      ["", "low"],
      ["", "xhigh"]
    ])
    const set = (configId: string, value: string) =>
      Effect.map(
        client.request("session/set_config_option", { sessionId: session.id, configId, value }),
        ({ configOptions }) => configOptions
      )

    const plain = yield* set("model", "local/plain")
    assert.deepStrictEqual(
      plain.map(({ id }) => id),
      ["model", "mode"]
    )
    assert.deepStrictEqual((yield* session.told("config_option_update")).configOptions, plain)

    // The first answer asks for a command; while its question is open, another model of another provider is chosen.
    server.answer(
      { pieces: [{ call: { id: "c1", name: "bash", args: `{"command":"touch here"}` } }], finish: "calls" },
      { pieces: [{ text: "Done" }] }
    )
    const turn = yield* session.prompt()
    const question = yield* session.asked("session/request_permission")
    const chosen = yield* set("model", HAIKU)
    assert.deepStrictEqual(
      groupsOf(chosen, "reasoning_effort").map(([, value]) => value),
      ["none", "low", "medium", "high", "xhigh", "max"]
    )
    yield* set("reasoning_effort", "high")
    yield* question.answer({ outcome: { outcome: "selected", optionId: "allow-once" } })
    assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
    const [first, second] = server.seen()
    assert.deepStrictEqual([first?.dialect, second?.dialect], ["openai-compatible", "anthropic"])
    assert.include(first?.text, `"model":"plain"`)
    assert.include(second?.text, `"model":"claude-haiku-5-5"`)
    assert.include(second?.text, `"effort":"high"`)
    assert.include(second?.text, `"cache_control":{"type":"ephemeral"}`)
    const usages = turn.updates().flatMap((update) => (update.sessionUpdate === "usage_update" ? [update] : []))
    assert.deepStrictEqual(
      usages.map(({ size, used }) => [size, used]),
      [
        [128_000, 1050],
        [1_000_000, 1050]
      ]
    )
    // 800 tokens in, 200 out of the cache, 50 out, at the prices of the second model alone.
    assert.isUndefined(usages[0]?.cost)
    assert.strictEqual(usages[1]?.cost?.currency, "USD")
    assert.closeTo(usages[1]?.cost?.amount ?? 0, (800 * 0.1 + 200 * 0.01 + 50 * 0.5) / 1_000_000, 1e-9)

    const again = yield* test.restart({})
    const place = { sessionId: session.id, cwd: test.folder, mcpServers: [] }
    const loaded = yield* again.client.request("session/load", place)
    const kept = loaded.configOptions ?? []
    assert.strictEqual(optionOf(kept, "model")?.currentValue, HAIKU)
    assert.strictEqual(optionOf(kept, "reasoning_effort")?.currentValue, "high")

    // The provider is gone: the default takes over, in the answer and in words.
    configure(test, server, ["local"])
    const { configOptions = [] } = yield* again.client.request("session/load", place)
    assert.strictEqual(optionOf(configOptions ?? [], "model")?.currentValue, "local/thinker")
    const next = again.session(session.id)
    server.answer({ pieces: [{ text: "Here" }] })
    const last = yield* next.run()
    const thoughts = last
      .updates()
      .map((update) =>
        update.sessionUpdate === "agent_thought_chunk" && update.content.type === "text" ? update.content.text : ""
      )
    assert.match(thoughts.join(""), /claude-haiku-5-5 is not offered any more.*uses local\/thinker instead/)
    assert.include(server.seen().at(-1)?.text, `"model":"thinker"`)
  })
)

alone(
  "TRN-01 OpenAI is given a key by which it finds the conversation in its cache, the same for each request of a session",
  { scripted: false },
  Effect.fnUntraced(function* (test) {
    const server = yield* ProviderServer.start
    server.answer({ pieces: [{ text: "ok" }] })
    const config = `[providers.openai]\nbase_url = "${server.origin}/v1"\napi_key = "sk-0123456789"\n`
    writeFileSync(join(test.home, "config.toml"), config)
    const session = yield* test.open()
    const other = yield* test.open()
    yield* session.run()
    yield* session.run()
    yield* other.run()
    const keys = server.seen().map(({ text }) => at(JSON.parse(text), "prompt_cache_key"))
    assert.deepStrictEqual(keys, [session.id, session.id, other.id])
  })
)

alone(
  "AUT-02, AUT-04 a terminal method with what to append, and a command line for clients of before",
  {
    scripted: false,
    initialized: false
  },
  Effect.fnUntraced(function* (test) {
    const { authMethods = [] } = yield* test.client.initialize({
      auth: { terminal: true },
      _meta: { "terminal-auth": true }
    })
    const login = authMethods.find((method) => "type" in method && method.type === "terminal")
    assert.deepInclude(login, { id: "login", args: ["login"] })
    const command = at(JSON.parse(JSON.stringify(login)), "_meta", "terminal-auth")
    assert.match(String(at(command ?? null, "command")), /node$/)
    assert.match(JSON.stringify(at(command ?? null, "args")), /bin\/super-pi","login"\]$/)
    const { error } = yield* test.client.raw("authenticate", { methodId: "login" })
    assert.strictEqual(error?.code, -32602)
    assert.match(error?.message ?? "", /terminal/)
  })
)
