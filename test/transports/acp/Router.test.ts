/** Negotiation and the gate before it: conformance §5 (INI) and RPC-13. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Schema from "effect/Schema"
import { noCapabilities } from "../../../src/domain/Capability.ts"
import { ErrorCode, WireError } from "../../../src/domain/wire/ErrorCode.ts"
import { RequestId } from "../../../src/domain/wire/RequestId.ts"
import * as Router from "../../../src/transports/acp/Router.ts"
import type { Parties, Version } from "../../../src/transports/acp/Version.ts"
import type { Routes } from "../../../src/transports/Routes.ts"
import { makeFakeAgent } from "../../support/FakeAgent.ts"
import { isObject } from "../../support/Schema.ts"
import { makeOpenWire, makeWire } from "../../support/Wire.ts"

type Json = Schema.Json

const codeOf = (answer: Schema.JsonObject): Json | undefined => {
  const error = answer["error"]
  return isObject(error) ? error["code"] : undefined
}

const parties: Parties = {
  client: {
    request: () => Effect.die("not asked"),
    notify: () => Effect.void,
    caughtUp: Effect.void,
    isClosed: () => false
  },
  agent: makeFakeAgent().agent,
  agentVersion: "0",
  options: { ceiling: "always-approve" }
}

const request = { id: RequestId.make("1"), afterReply: () => Effect.void }

/** A version that answers its own number, to itself and to `who`. */
const fakeVersion = (version: number, opening: Effect.Effect<void, WireError> = Effect.void): Version => ({
  version,
  open: () =>
    Effect.as(opening, {
      result: { protocolVersion: version },
      routes: {
        request: (method) => (method === "who" ? () => Effect.succeed(version) : undefined),
        notification: () => undefined
      }
    })
})

const call = (routes: Routes, method: string, params: Json = {}) =>
  routes.request(method)?.(params, request) ??
  Effect.fail(new WireError({ code: ErrorCode.MethodNotFound, message: "-" }))

const refusal = (routes: Routes, method: string, params?: Json) =>
  Effect.flip(Effect.asVoid(call(routes, method, params)))

describe("negotiation of an agent that knows version 1", () => {
  for (const requested of [0, 1, 2, 3, 65_535]) {
    it.effect(`INI-02, INI-03: ${requested} is answered with 1`, () =>
      Effect.gen(function* () {
        const wire = yield* makeWire(makeFakeAgent().agent)
        const { result } = yield* wire.request("initialize", { protocolVersion: requested })
        assert.deepInclude(result, { protocolVersion: 1 })
      })
    )
  }

  it.effect(
    "INI-04: a client of version 2 gets a result of version 1, and what it wrote for version 2 is ignored",
    () =>
      Effect.gen(function* () {
        const fake = makeFakeAgent()
        const wire = yield* makeWire(fake.agent)
        const { result } = yield* wire.request("initialize", {
          protocolVersion: 2,
          info: { name: "editor", version: "1" },
          capabilities: { session: { notices: {} }, auth: { terminal: {} } }
        })
        assert.deepInclude(result, {
          protocolVersion: 1,
          agentInfo: { name: "super-pi", title: "Super-Pi", version: "1.2.3" }
        })
        assert.deepStrictEqual(fake.connections[0]?.editor.capabilities, noCapabilities)
      })
  )

  const bad: ReadonlyArray<Json> = [65_536, -1, 1.5, "1", null, [1], {}]
  for (const protocolVersion of bad) {
    it.effect(`INI-06: ${JSON.stringify(protocolVersion)} is refused, and the client may try again`, () =>
      Effect.gen(function* () {
        const wire = yield* makeWire(makeFakeAgent().agent)
        const refused = yield* wire.request("initialize", { protocolVersion })
        assert.strictEqual(codeOf(refused), -32602)
        assert.include(JSON.stringify(refused), "protocolVersion: expected")
        assert.strictEqual(codeOf(yield* wire.request("session/list")), -32600)
        assert.isDefined((yield* wire.request("initialize", { protocolVersion: 1 }))["result"])
        assert.isDefined((yield* wire.request("session/list"))["result"])
      })
    )
  }

  it.effect("INI-13: a second initialize is refused and changes nothing", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      const wire = yield* makeOpenWire(fake.agent)
      assert.strictEqual(codeOf(yield* wire.request("initialize", { protocolVersion: 1 })), -32600)
      assert.isDefined((yield* wire.request("session/list"))["result"])
      assert.lengthOf(fake.connections, 1)
    })
  )
})

describe("negotiation of an agent that knows versions 1 and 2", () => {
  for (const [requested, chosen] of [
    [1, 1],
    [2, 2],
    [3, 2],
    [65_535, 2]
  ] as const) {
    it.effect(`INI-05: ${requested} is answered with ${chosen}, for the life of the connection`, () =>
      Effect.gen(function* () {
        const routes = yield* Router.make([fakeVersion(1), fakeVersion(2)], parties)
        assert.deepStrictEqual(yield* call(routes, "initialize", { protocolVersion: requested }), {
          protocolVersion: chosen
        })
        assert.strictEqual(yield* call(routes, "who"), chosen)
      })
    )
  }

  it.effect("INI-05: 0 is below both, which the client is told", () =>
    Effect.gen(function* () {
      const routes = yield* Router.make([fakeVersion(1), fakeVersion(2)], parties)
      const error = yield* refusal(routes, "initialize", { protocolVersion: 0 })
      assert.strictEqual(error.code, -32022)
      assert.deepStrictEqual(error.data, { requested: 0, supported: [1, 2] })
    })
  )

  it.effect("INI-05: an agent that knows version 2 only does not open version 1", () =>
    Effect.gen(function* () {
      const routes = yield* Router.make([fakeVersion(2)], parties)
      assert.strictEqual((yield* refusal(routes, "initialize", { protocolVersion: 1 })).code, -32022)
      assert.deepStrictEqual(yield* call(routes, "initialize", { protocolVersion: 3 }), { protocolVersion: 2 })
    })
  )

  it.effect("INI-14: a version that does not open leaves the connection as it was", () =>
    Effect.gen(function* () {
      const failure = new WireError({ code: ErrorCode.InvalidParams, message: "info is missing" })
      const routes = yield* Router.make([fakeVersion(1), fakeVersion(2, Effect.fail(failure))], parties)
      assert.strictEqual(yield* refusal(routes, "initialize", { protocolVersion: 2 }), failure)
      assert.strictEqual((yield* refusal(routes, "who")).code, -32600)
      assert.deepStrictEqual(yield* call(routes, "initialize", { protocolVersion: 1 }), { protocolVersion: 1 })
      assert.strictEqual(yield* call(routes, "who"), 1)
    })
  )
})

describe("the gate before initialize", () => {
  it.effect("RPC-13: requests are refused with the remedy, known or not; then initialize works", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      const wire = yield* makeWire(fake.agent)
      for (const method of ["session/new", "foo/bar", "_x/y"]) {
        const refused = yield* wire.request(method, { cwd: "/w", mcpServers: [] })
        assert.deepStrictEqual(refused["error"], { code: -32600, message: `Send initialize before ${method}` })
      }
      assert.isDefined((yield* wire.request("initialize", { protocolVersion: 1 }))["result"])
      assert.strictEqual(codeOf(yield* wire.request("foo/bar")), -32601)
      assert.deepStrictEqual(fake.intents, [])
    })
  )

  it.effect("RPC-13: notifications are dropped without a word", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      const wire = yield* makeWire(fake.agent)
      yield* wire.notify("session/cancel", { sessionId: "s" })
      yield* wire.request("initialize", { protocolVersion: 1 })
      assert.lengthOf(wire.seen, 1)
      assert.deepStrictEqual(fake.intents, [])
    })
  )

  it.effect("what is sent close behind initialize waits for it", () =>
    Effect.gen(function* () {
      const opened = yield* Deferred.make<void>()
      const routes = yield* Router.make([fakeVersion(1, Deferred.await(opened))], parties)
      const initialize = yield* Effect.forkChild(call(routes, "initialize", { protocolVersion: 1 }), {
        startImmediately: true
      })
      const known = yield* Effect.forkChild(call(routes, "who"), { startImmediately: true })
      const unknown = yield* Effect.forkChild(refusal(routes, "foo"), { startImmediately: true })
      const again = yield* refusal(routes, "initialize", { protocolVersion: 1 })
      assert.strictEqual(again.code, -32600)
      yield* Deferred.succeed(opened, undefined)
      assert.deepStrictEqual(yield* Fiber.join(initialize), { protocolVersion: 1 })
      assert.strictEqual(yield* Fiber.join(known), 1)
      assert.strictEqual((yield* Fiber.join(unknown)).code, -32601)
    })
  )

  it.effect("an initialize that is cancelled lets the next one try", () =>
    Effect.gen(function* () {
      const never = yield* Router.make([fakeVersion(1, Effect.never)], parties)
      const first = yield* Effect.forkChild(call(never, "initialize", { protocolVersion: 1 }), {
        startImmediately: true
      })
      const behind = yield* Effect.forkChild(refusal(never, "who"), { startImmediately: true })
      yield* Fiber.interrupt(first)
      assert.strictEqual((yield* Fiber.join(behind)).code, -32600)
    })
  )
})
