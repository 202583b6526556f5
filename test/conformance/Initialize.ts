/** Opening a connection: conformance §5. */
import type { ClientCapabilities } from "@agentclientprotocol/sdk"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { calls, says, suite, type Version, yolo } from "../support/Harness.ts"
import { at, problemsOf } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

type Json = Schema.Json

export const everything: ClientCapabilities = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
  auth: { terminal: true },
  elicitation: { form: {}, url: {} }
}

/** Every choice of some capabilities. */
const combinations = (names: ReadonlyArray<keyof ClientCapabilities>): ReadonlyArray<ClientCapabilities> =>
  names.reduce<ReadonlyArray<ClientCapabilities>>(
    (some, name) => [...some, ...some.map((chosen) => ({ ...chosen, [name]: everything[name] }))],
    [{}]
  )

export const initializing = (version: Version, transport: Transport): void => {
  const { alone } = suite(version, transport)

  alone(
    "INI-01, INI-02, INI-07, INI-11, INI-15 MUST answer with its version, its capabilities and its name",
    { initialized: false },
    Effect.fnUntraced(function* (test) {
      const answer = yield* test.client.initialize()
      assert.deepStrictEqual(problemsOf("InitializeResponse", answer), [])
      assert.strictEqual(answer.protocolVersion, 1)
      assert.match(`${answer.agentInfo?.name} ${answer.agentInfo?.version}`, /^super-pi \d+\.\d+\.\d+/)
      assert.isArray(answer.authMethods)
      const capabilities = answer.agentCapabilities
      assert.isTrue(capabilities?.loadSession)
      assert.deepStrictEqual(capabilities?.sessionCapabilities, {
        list: {},
        resume: {},
        close: {},
        delete: {},
        additionalDirectories: {}
      })
      assert.deepStrictEqual(capabilities?.promptCapabilities, { image: true, audio: false, embeddedContext: true })
      assert.deepStrictEqual(capabilities?.mcpCapabilities, { http: true, sse: true })
      assert.deepStrictEqual(capabilities?.auth, { logout: {} })
      assert.deepStrictEqual(Object.keys(capabilities?._meta ?? {}), ["superPi"])
    })
  )

  for (const protocolVersion of [2, 3, 65_535]) {
    alone(
      `INI-03, INI-04 MUST answer version ${protocolVersion} of a later client with its own, in its own shape`,
      { initialized: false },
      Effect.fnUntraced(function* (test) {
        const { result } = yield* test.client.raw("initialize", {
          protocolVersion,
          info: { name: "later", version: "1" },
          capabilities: { session: {}, auth: { terminal: {} } }
        })
        assert.strictEqual(at(result, "protocolVersion"), 1)
        assert.isObject(at(result, "agentCapabilities"))
        assert.isObject(at(result, "agentInfo"))
        yield* test.open()
      })
    )
  }

  alone(
    "INI-06 MUST refuse what is no version with -32602, and still open with one that is",
    { initialized: false },
    Effect.fnUntraced(function* (test) {
      const { client } = test
      for (const protocolVersion of [65_536, -1, 1.5, "1", null, {}, true] satisfies ReadonlyArray<Json>) {
        const { error } = yield* client.raw("initialize", { protocolVersion })
        assert.deepInclude(error, { code: -32602 })
        assert.include(error?.message, "protocolVersion")
      }
      assert.strictEqual((yield* client.raw("initialize", {})).error?.code, -32602)
      assert.strictEqual((yield* client.raw("initialize")).error?.code, -32602)
      assert.strictEqual((yield* client.initialize()).protocolVersion, 1)
    })
  )

  for (const [name, clientCapabilities] of Object.entries({
    none: undefined,
    null: null,
    nulls: { fs: null, terminal: null, session: null, auth: null, elicitation: null },
    "malformed ones": {
      fs: { readTextFile: "yes", writeTextFile: 1 },
      terminal: "true",
      session: { notices: true, configOptions: [] },
      auth: { terminal: "x" },
      elicitation: { form: null, url: null },
      _meta: 5
    }
  }) satisfies ReadonlyArray<[string, Json | undefined]>) {
    alone(
      `INI-08, ELI-01 MUST ask for nothing from a client with ${name}`,
      {
        initialized: false,
        steps: [
          calls(
            ["write", { path: "new.txt", content: "x" }],
            ["read", { path: "new.txt" }],
            ["bash", { command: "true" }]
          ),
          says("Done")
        ]
      },
      Effect.fnUntraced(function* (test) {
        const { client } = test
        const params = clientCapabilities === undefined ? {} : { clientCapabilities }
        const answer = yield* client.raw("initialize", {
          protocolVersion: 1,
          clientInfo: { name: 5 },
          ...params
        })
        assert.isUndefined(answer.error)
        const dead = { name: "dead", command: "/nonexistent/server", args: [], env: [] }
        const session = yield* test.open({ mcpServers: [dead], _meta: yolo })
        assert.strictEqual((yield* session.run()).response.stopReason, "end_turn")
        const methods = client.transcript.entries.flatMap(({ from, message }) =>
          from === "agent" && message.method !== undefined ? [message.method] : []
        )
        assert.deepStrictEqual([...new Set(methods)], ["session/update"])
        const told: ReadonlyArray<string> = session.updates().map(({ sessionUpdate }) => sessionUpdate)
        for (const kind of ["notice", "compaction_update", "plan_update", "subagent_update"])
          assert.notInclude(told, kind)
      })
    )
  }

  alone(
    "INI-10 MUST do what it advertises",
    { initialized: false, steps: [{ ...says("Yes"), again: true }] },
    Effect.fnUntraced(function* (test) {
      const { client, folder } = test
      yield* client.initialize()
      const place = { cwd: folder, mcpServers: [] }
      const session = yield* test.open({ additionalDirectories: [test.home] })
      yield* session.run([
        { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" },
        { type: "resource", resource: { uri: "file:///a.txt", text: "a" } },
        test.text("see")
      ])
      assert.lengthOf((yield* client.request("session/list", { cwd: folder })).sessions, 1)
      yield* client.request("session/close", { sessionId: session.id })
      assert.isObject(yield* client.request("session/resume", { sessionId: session.id, ...place }))
      assert.isObject(yield* client.request("session/load", { sessionId: session.id, ...place }))
      yield* client.request("session/delete", { sessionId: session.id })
      assert.isObject(yield* client.request("logout", {}))
      const extensions = client.transcript.entries.flatMap(({ message }) => {
        const methods = at(message.result, "agentCapabilities", "_meta", "superPi", "methods")
        return Array.isArray(methods) ? methods : []
      })
      for (const method of extensions)
        assert.notStrictEqual((yield* client.raw(String(method), {})).error?.code, -32601)
    })
  )

  alone(
    "INI-13 MAY refuse a second initialize, and lives on",
    {},
    Effect.fnUntraced(function* (test) {
      assert.strictEqual((yield* test.client.raw("initialize", { protocolVersion: 1 })).error?.code, -32600)
      yield* test.open()
    })
  )
}

/** Each combination costs an agent, so these share what they try. */
export const combining = (version: Version, transport: Transport): void => {
  const { alone } = suite(version, transport)
  for (const capabilities of combinations(["fs", "session"])) {
    const names = Object.keys(capabilities).join(", ") || "nothing"
    alone(
      `INI-09 SHOULD work for a client that can do ${names}`,
      { capabilities, steps: [calls(["read", { path: "there.txt" }]), says("Read")] },
      Effect.fnUntraced(function* (test) {
        test.client.always("fs/read_text_file", () => ({ content: "unsaved" }))
        const session = yield* test.open()
        assert.isDefined(session.modes)
        assert.strictEqual((yield* session.run()).response.stopReason, "end_turn")
        const asked = test.client.transcript.entries.some(({ message }) => message.method === "fs/read_text_file")
        assert.strictEqual(asked, capabilities.fs !== undefined)
      })
    )
  }
}
