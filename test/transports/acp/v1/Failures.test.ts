/** How failures and what this agent does not know reach the client: conformance §1 and §4. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import {
  AuthRequired,
  Busy,
  type Failure,
  InvalidInput,
  SessionNotFound,
  StoreFailed
} from "../../../../src/domain/Failure.ts"
import { makeFakeAgent } from "../../../support/FakeAgent.ts"
import { at } from "../../../support/Schema.ts"
import { makeOpenWire } from "../../../support/Wire.ts"

type Json = Schema.Json

describe("failures", () => {
  const failures: ReadonlyArray<readonly [Failure, Json]> = [
    [
      new AuthRequired({ message: "Sign in with: super-pi login" }),
      { code: -32000, message: "Sign in with: super-pi login" }
    ],
    [
      new SessionNotFound({ sessionId: "s-7" }),
      {
        code: -32002,
        message: "Session s-7 does not exist: load one that session/list names, or start one with session/new",
        data: { sessionId: "s-7" }
      }
    ],
    [
      new InvalidInput({ field: "cwd", message: "is no directory;\n  make it first" }),
      {
        code: -32602,
        message: "cwd: is no directory; make it first",
        data: { field: "cwd" }
      }
    ],
    [
      new StoreFailed({ reason: "conflict", message: "Another process wrote this session" }),
      { code: -32603, message: "Another process wrote this session", data: { reason: "conflict" } }
    ]
  ]
  for (const [failure, error] of failures) {
    it.effect(`${failure._tag} has its code, in one line that says what to do`, () =>
      Effect.gen(function* () {
        const fail = () => (failure._tag === "Busy" ? Effect.die(failure) : Effect.fail(failure))
        const wire = yield* makeOpenWire(makeFakeAgent(() => ({ newSession: fail })).agent)
        const answer = yield* wire.request("session/new", { cwd: "/w", mcpServers: [] })
        assert.deepStrictEqual(answer["error"], error)
      })
    )
  }

  for (const [method, params, argument, field] of [
    ["session/new", { cwd: "/w", mcpServers: [] }, "model", "_meta.modelId"],
    ["session/load", { sessionId: "s", cwd: "/w", mcpServers: [] }, "mode", "_meta.yoloMode"],
    ["session/resume", { sessionId: "s", cwd: "/w" }, "harness", "_meta.harness"],
    ["session/resume", { sessionId: "s", cwd: "/w" }, "cwd", "cwd"],
    ["session/set_mode", { sessionId: "s", modeId: "x" }, "value", "modeId"],
    ["session/set_config_option", { sessionId: "s", configId: "x", value: "y" }, "option", "configId"],
    ["session/set_config_option", { sessionId: "s", configId: "x", value: "y" }, "value", "value"]
  ] as const) {
    it.effect(`InvalidInput for ${argument} names ${field} of ${method}`, () =>
      Effect.gen(function* () {
        const fail = () => Effect.fail(new InvalidInput({ field: argument, message: "is wrong" }))
        const intents = { newSession: fail, loadSession: fail, resumeSession: fail, setMode: fail, setOption: fail }
        const wire = yield* makeOpenWire(makeFakeAgent(() => intents).agent)
        const { error } = yield* wire.request(method, params)
        assert.deepStrictEqual(error, { code: -32602, message: `${field}: is wrong`, data: { field } })
      })
    )
  }

  it.effect("Busy has its code", () =>
    Effect.gen(function* () {
      const busy = Effect.fail(new Busy({ message: "64 prompts already wait" }))
      const wire = yield* makeOpenWire(makeFakeAgent(() => ({ prompt: () => busy })).agent)
      const answer = yield* wire.request("session/prompt", { sessionId: "s", prompt: [{ type: "text", text: "" }] })
      assert.deepStrictEqual(answer["error"], { code: -32600, message: "64 prompts already wait" })
    })
  )

  it.effect("a defect shows nothing of itself, and the connection lives on", () =>
    Effect.gen(function* () {
      const wire = yield* makeOpenWire(makeFakeAgent(() => ({ newSession: () => Effect.die("sk-secret") })).agent)
      const answer = yield* wire.request("session/new", { cwd: "/w", mcpServers: [] })
      assert.deepStrictEqual(answer["error"], { code: -32603, message: "Internal error" })
      assert.isDefined((yield* wire.request("session/list"))["result"])
    })
  )

  const absent = [
    "session/fork",
    "session/cancel",
    "providers/list",
    "proxy/initialize",
    "auth/status",
    "_x/y",
    "session/update"
  ]
  for (const method of absent) {
    it.effect(`RPC-06, RPC-07: ${method} is no request of this agent`, () =>
      Effect.gen(function* () {
        const fake = makeFakeAgent()
        const wire = yield* makeOpenWire(fake.agent)
        const answer = yield* wire.request(method, { sessionId: "s-1" })
        assert.strictEqual(at(answer["error"], "code"), -32601)
        assert.deepStrictEqual(fake.intents, [])
      })
    )
  }

  it.effect("RPC-05: notifications that are requests or unknown do nothing", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      const wire = yield* makeOpenWire(fake.agent)
      for (const method of ["session/prompt", "logout", "_x/y", "$/z", "initialize"]) yield* wire.notify(method)
      yield* wire.request("session/list")
      assert.deepStrictEqual(
        fake.intents.map(({ name }) => name),
        ["listSessions"]
      )
    })
  )
})
