/** Opening, listing and leaving sessions: conformance §7 and §14. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { HarnessId } from "../../../../src/domain/Harness.ts"
import { MessageId, SessionId } from "../../../../src/domain/Ids.ts"
import { makeFakeAgent, snapshot } from "../../../support/FakeAgent.ts"
import { at } from "../../../support/Schema.ts"
import { makeOpenWire } from "../../../support/Wire.ts"

const place = { cwd: "/w", additionalDirectories: [], mcpServers: [] }
const state = {
  modes: {
    currentModeId: "ask",
    availableModes: snapshot.modes.map(({ id, name, description }) => ({ id, name, description }))
  },
  configOptions: [
    {
      type: "select",
      id: "model",
      name: "Model",
      category: "model",
      currentValue: "a/one",
      options: [
        { value: "a/one", name: "One" },
        { value: "a/two", name: "Two", description: "Larger" }
      ]
    }
  ]
}

describe("opening a session", () => {
  it.effect("SES-05: answers with the state, and announces after that", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent((editor) => ({
        announce: (id) => editor.emit(id, { _tag: "ModeChanged", mode: "ask" })
      }))
      const wire = yield* makeOpenWire(fake.agent)
      const { result } = yield* wire.request("session/new", { cwd: "/w", mcpServers: [] })
      assert.deepStrictEqual(result, { sessionId: "s-1", ...state })
      assert.deepStrictEqual((yield* wire.next)["params"], {
        sessionId: "s-1",
        update: { sessionUpdate: "current_mode_update", currentModeId: "ask" }
      })
      assert.deepStrictEqual(
        fake.intents.map(({ name, args }) => [name, args]),
        [
          ["newSession", [place, {}]],
          ["announce", ["s-1"]]
        ]
      )
    })
  )

  it.effect("takes the wishes from _meta, whatever else is there", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      const wire = yield* makeOpenWire(fake.agent)
      const _meta = {
        harness: "super-pi-planner",
        modelId: "a/two",
        reasoningEffort: "high",
        yoloMode: true,
        rules: "be brief",
        systemPromptOverride: "You are a poet.",
        other: [1]
      }
      yield* wire.request("session/new", { cwd: "/w", mcpServers: [], _meta })
      yield* wire.request("session/load", {
        sessionId: "s-1",
        cwd: "/w",
        mcpServers: [],
        _meta: { modelId: 5, rules: "r" }
      })
      yield* wire.request("session/resume", {
        sessionId: "s-1",
        cwd: "/w",
        _meta: { yoloMode: "yes", systemPromptOverride: " \n" }
      })
      yield* wire.request("session/new", { cwd: "/w", mcpServers: [], _meta: { autoMode: true } })
      yield* wire.request("session/new", { cwd: "/w", mcpServers: [], _meta: { autoMode: true, yoloMode: true } })
      const instructions = (mode: string, ...texts: ReadonlyArray<string>) => ({
        mode,
        content: texts.map((text) => ({ type: "text", text }))
      })
      for (const meta of [
        { rules: "be brief", systemPrompt: instructions("append", "be kind", "be green") },
        { systemPrompt: { mode: "append", content: "be kind" } },
        { systemPrompt: instructions("replace", "be kind") }
      ]) {
        yield* wire.request("session/new", { cwd: "/w", mcpServers: [], _meta: meta })
      }
      yield* wire.request("session/load", {
        sessionId: "s-1",
        cwd: "/w",
        mcpServers: [],
        _meta: { rules: "r", systemPrompt: instructions("override", "You are a poet.") }
      })
      yield* wire.request("session/resume", {
        sessionId: "s-1",
        cwd: "/w",
        _meta: { systemPrompt: instructions("append", "be kind") }
      })
      const wishes = fake.intents
        .filter(({ name }) => name.endsWith("Session"))
        .map(({ args }) => args.findLast((arg) => arg !== undefined))
      assert.deepStrictEqual(wishes, [
        {
          harness: "super-pi-planner",
          model: "a/two",
          effort: "high",
          mode: "always-approve",
          rules: "be brief",
          systemPrompt: "You are a poet."
        },
        // Extra rules count at the beginning of a session alone.
        {},
        {},
        { preferredMode: "auto" },
        { mode: "always-approve" },
        { rules: "be brief", appended: "be kind\n\nbe green" },
        { appended: "be kind" },
        {},
        { systemPrompt: "You are a poet." },
        { appended: "be kind" }
      ])
    })
  )

  it.effect("SES-06, SES-07: load tells the history before its answer, and nothing after it", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent((editor) => ({
        loadSession: (id) =>
          Effect.as(editor.emit(id, { _tag: "TextDelta", messageId: MessageId.make("m"), text: "Before" }), snapshot)
      }))
      const wire = yield* makeOpenWire(fake.agent)
      const { result } = yield* wire.request("session/load", { sessionId: "s-1", cwd: "/w", mcpServers: [] })
      assert.deepStrictEqual(result, state)
      assert.deepStrictEqual(
        wire.seen.slice(1).map(({ method }) => method),
        ["session/update", undefined]
      )
      assert.deepStrictEqual(fake.intents, [{ name: "loadSession", args: ["s-1", place, {}, undefined] }])
    })
  )

  it.effect("SES-10, SES-23: resume and fork answer with the state, and announce", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      const wire = yield* makeOpenWire(fake.agent)
      const params = { sessionId: "s-1", cwd: "/w", additionalDirectories: ["/x"] }
      assert.deepStrictEqual((yield* wire.request("session/resume", params))["result"], state)
      assert.deepStrictEqual((yield* wire.request("_superpi/session/fork", params))["result"], {
        sessionId: "s-2",
        ...state
      })
      yield* wire.request("logout")
      const where = { ...place, additionalDirectories: ["/x"] }
      assert.deepStrictEqual(
        fake.intents.slice(0, -1).map(({ name, args }) => [name, ...args]),
        [
          ["resumeSession", "s-1", where, {}],
          ["announce", "s-1"],
          ["forkSession", "s-1", where],
          ["announce", "s-2"]
        ]
      )
    })
  )

  it.effect("MCP-01, MCP-02: stdio, http and sse servers arrive, with their secrets wrapped", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      const wire = yield* makeOpenWire(fake.agent)
      yield* wire.request("session/new", {
        cwd: "/w",
        mcpServers: [
          { name: "one", command: "run", args: ["-v"], env: [{ name: "KEY", value: "secret-1" }] },
          {
            name: "two",
            type: "http",
            url: "http://127.0.0.1:1",
            headers: [{ name: "Authorization", value: "secret-2" }]
          },
          { name: "three", type: "sse", url: "http://127.0.0.1:2/sse", headers: [] }
        ]
      })
      const [given] = fake.intents[0]?.args ?? []
      assert.deepStrictEqual(JSON.parse(JSON.stringify(given)).mcpServers, [
        { _tag: "Stdio", name: "one", command: "run", args: ["-v"], env: [{ name: "KEY", value: "<redacted>" }] },
        {
          _tag: "Http",
          name: "two",
          url: "http://127.0.0.1:1",
          headers: [{ name: "Authorization", value: "<redacted>" }]
        },
        { _tag: "Sse", name: "three", url: "http://127.0.0.1:2/sse", headers: [] }
      ])
    })
  )

  it.effect("MCP-05: a kind of server that is not advertised is refused, and no session is made", () =>
    Effect.gen(function* () {
      const describe = Effect.succeed({
        authMethods: [],
        harnesses: [],
        defaultHarness: "none",
        image: false,
        mcpHttp: false
      })
      const remote = (type: string) => ({
        cwd: "/w",
        mcpServers: [
          { name: "m", command: "c", args: [], env: [] },
          { type, name: "n", url: "u", headers: [] }
        ]
      })
      for (const type of ["sse", "http"]) {
        const fake = makeFakeAgent(() => ({ describe }))
        const wire = yield* makeOpenWire(fake.agent)
        const { error } = yield* wire.request("session/new", remote(type))
        assert.deepStrictEqual(at(error, "code"), -32602)
        assert.deepStrictEqual(
          at(error, "message"),
          `mcpServers[1].type: ${type} servers are not supported here; use stdio`
        )
        assert.deepStrictEqual(fake.intents, [])
      }
    })
  )
})

describe("keeping sessions", () => {
  it.effect("SES-15: lists with the filter and the cursor, as it was told", () =>
    Effect.gen(function* () {
      const record = {
        id: SessionId.make("s-9"),
        cwd: "/w",
        harness: HarnessId.make("super-pi-code"),
        createdAt: "2026-01-01T00:00:00Z",
        updatedAt: "2026-01-02T00:00:00Z"
      }
      const fake = makeFakeAgent(() => ({
        listSessions: () => Effect.succeed({ sessions: [{ ...record, title: "T" }, record], nextCursor: "n" })
      }))
      const wire = yield* makeOpenWire(fake.agent)
      const { result } = yield* wire.request("session/list", { cwd: "/w", cursor: "" })
      assert.deepStrictEqual(result, {
        sessions: [
          { sessionId: "s-9", cwd: "/w", updatedAt: "2026-01-02T00:00:00Z", title: "T" },
          { sessionId: "s-9", cwd: "/w", updatedAt: "2026-01-02T00:00:00Z" }
        ],
        nextCursor: "n"
      })
      yield* wire.request("session/list", { cwd: null, cursor: null })
      yield* wire.request("session/list")
      assert.deepStrictEqual(
        fake.intents.map(({ args }) => args),
        [[{ cwd: "/w", cursor: "" }], [{}], [{}]]
      )
    })
  )

  it.effect("closes, deletes, sets modes and options", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      const wire = yield* makeOpenWire(fake.agent)
      const sessionId = "s-1"
      assert.deepStrictEqual((yield* wire.request("session/close", { sessionId }))["result"], {})
      assert.deepStrictEqual((yield* wire.request("session/delete", { sessionId }))["result"], {})
      assert.deepStrictEqual((yield* wire.request("session/set_mode", { sessionId, modeId: "plan" }))["result"], {})
      const set = yield* wire.request("session/set_config_option", { sessionId, configId: "model", value: "a/two" })
      assert.deepStrictEqual(set["result"], { configOptions: state.configOptions })
      assert.deepStrictEqual(
        fake.intents.map(({ name, args }) => [name, ...args]),
        [
          ["closeSession", "s-1"],
          ["deleteSession", "s-1"],
          ["setMode", "s-1", "plan"],
          ["setOption", "s-1", "model", "a/two"]
        ]
      )
    })
  )

  it.effect(
    "takes the request by which a model was chosen in earlier revisions, with an effort if the model has it",
    () =>
      Effect.gen(function* () {
        const fake = makeFakeAgent()
        const wire = yield* makeOpenWire(fake.agent)
        const params = { sessionId: "s-1", modelId: "a/two" }
        assert.deepStrictEqual((yield* wire.request("session/set_model", params))["result"], {})
        yield* wire.request("session/set_model", { ...params, _meta: { reasoningEffort: "high" } })
        const { error } = yield* wire.request("session/set_model", { sessionId: "s-1" })
        assert.deepStrictEqual([at(error, "code"), at(error, "data", "field")], [-32602, "modelId"])
        assert.deepStrictEqual(
          fake.intents.map(({ name, args }) => [name, ...args]),
          [
            ["setOption", "s-1", "model", "a/two"],
            ["setOption", "s-1", "model", "a/two"],
            ["setOption", "s-1", "reasoning_effort", "high"]
          ]
        )
      })
  )

  it.effect("CFG-03: a boolean is refused, since no option is one", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      const wire = yield* makeOpenWire(fake.agent)
      const params = { sessionId: "s-1", configId: "model", type: "boolean", value: true }
      const { error } = yield* wire.request("session/set_config_option", params)
      assert.strictEqual(at(error, "code"), -32602)
      assert.deepStrictEqual(fake.intents, [])
    })
  )
})
