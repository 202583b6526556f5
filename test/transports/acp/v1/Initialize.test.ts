/** What `initialize` says and takes, and signing in: conformance §5 and §6. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import { makeFakeAgent } from "../../../support/FakeAgent.ts"
import { at } from "../../../support/Schema.ts"
import { makeOpenWire, makeWire } from "../../../support/Wire.ts"

type Json = Schema.Json

describe("initialize", () => {
  it.effect("INI-01, INI-10: says what there is, and nothing else", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire(makeFakeAgent().agent, "accept-edits")
      const { result } = yield* wire.request("initialize", { protocolVersion: 1 })
      assert.deepStrictEqual(at(result, "agentCapabilities"), {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
        auth: { logout: {} },
        _meta: {
          superPi: {
            harnesses: ["super-pi-code", "super-pi-assistant", "super-pi-librarian", "super-pi-planner"],
            methods: [
              "_superpi/session/fork",
              "_superpi/session/undo",
              "_superpi/session/diff",
              "_supercharge/agents/list",
              "_supercharge/agents/create"
            ],
            notifications: ["_superpi/session/activity"]
          }
        }
      })
      assert.deepStrictEqual(at(result, "agentInfo"), { name: "super-pi", title: "Super-Pi", version: "1.2.3" })
    })
  )

  it.effect("lists harnesses with their capabilities, under the ceiling of the transport", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire(makeFakeAgent().agent, "accept-edits")
      const { result } = yield* wire.request("initialize", { protocolVersion: 1 })
      const harnesses = at(result, "_meta", "superPi", "harnesses")
      assert.isTrue(Array.isArray(harnesses))
      const [code, , , planner] = Array.isArray(harnesses) ? harnesses : []
      assert.deepStrictEqual(at(code, "default"), true)
      assert.deepStrictEqual(at(code, "capabilities", "modes"), ["plan", "ask", "accept-edits"])
      assert.deepStrictEqual(planner, {
        id: "super-pi-planner",
        title: "Planner",
        description: "Studies a repository and writes a plan; cannot change anything",
        default: false,
        capabilities: {
          tools: ["read", "grep", "glob", "list", "ask_user", "todo"],
          mcp: false,
          unattended: false,
          sandbox: "read-only",
          modes: ["plan"]
        }
      })
    })
  )

  const token = { id: "token", name: "Token", description: "A gateway token" }
  const login = { type: "terminal", id: "login", name: "Log in", description: "In a terminal", args: ["login"] }
  const expected: ReadonlyArray<readonly [terminal: Json, methods: Json]> = [
    [true, [token, login]],
    [false, [token]],
    ["yes", [token]]
  ]
  for (const [terminal, methods] of expected) {
    it.effect(`AUT-02: methods for auth.terminal ${JSON.stringify(terminal)}`, () =>
      Effect.gen(function* () {
        const wire = yield* makeWire(makeFakeAgent().agent)
        const { result } = yield* wire.request("initialize", {
          protocolVersion: 1,
          clientCapabilities: { auth: { terminal } }
        })
        assert.deepStrictEqual(at(result, "authMethods"), methods)
      })
    )
  }

  it.effect("AUT-02: a command line for a client of before, which says that it runs one", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire(makeFakeAgent().agent)
      const { result } = yield* wire.request("initialize", {
        protocolVersion: 1,
        clientCapabilities: { _meta: { "terminal-auth": true } }
      })
      const command = { label: "Log in", command: "/bin/agent", args: ["login"] }
      assert.deepStrictEqual(at(result, "authMethods"), [
        token,
        { id: "login", name: "Log in", description: "In a terminal", _meta: { "terminal-auth": command } }
      ])
    })
  )

  it.effect("INI-08: takes what the client stated for what it can do, and the ceiling of the transport", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      yield* makeOpenWire(
        fake.agent,
        { fs: { readTextFile: true }, session: { notices: {}, configOptions: { boolean: null } } },
        "ask"
      )
      assert.deepStrictEqual(fake.connections[0]?.options, { ceiling: "ask" })
      assert.deepStrictEqual(fake.connections[0]?.editor.capabilities, {
        readTextFile: true,
        terminalAuth: false,
        terminalCommand: false,
        notices: true,
        compaction: false,
        incrementalOutput: false,
        terminals: undefined,
        elicitation: { form: false, url: false }
      })
    })
  )
})

describe("signing in", () => {
  it.effect("AUT-05: the token is wrapped before anyone sees it", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      const wire = yield* makeOpenWire(fake.agent)
      assert.deepStrictEqual(
        (yield* wire.request("authenticate", { methodId: "token", _meta: { token: "t0p" } }))["result"],
        {}
      )
      assert.deepStrictEqual(
        (yield* wire.request("authenticate", { methodId: "token", _meta: { token: 5 } }))["result"],
        {}
      )
      assert.deepStrictEqual((yield* wire.request("logout"))["result"], {})
      const [first, second, third] = fake.intents
      assert.strictEqual(first?.args[0], "token")
      const secret = first?.args[1]
      assert.isTrue(Redacted.isRedacted(secret))
      assert.strictEqual(Redacted.isRedacted(secret) ? Redacted.value(secret) : "", "t0p")
      assert.deepStrictEqual(second?.args, ["token", undefined])
      assert.strictEqual(third?.name, "logout")
    })
  )
})
