import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import * as Guard from "../../../src/transports/http/Guard.ts"

const secret = "correct horse battery staple"
const bind = { host: "127.0.0.1", port: 2419 }

interface Knock {
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: string
  readonly from?: string
}

const guardOf = (options: Partial<Guard.GuardOptions> = {}) =>
  Effect.map(Guard.make({ secret: Redacted.make(secret), bind, ...options }), (guard) => ({
    guard,
    status: ({ from = "127.0.0.1", headers = {}, query = "" }: Knock) =>
      Effect.map(
        guard.check({
          headers: { host: "127.0.0.1:2419", ...headers },
          query: new URLSearchParams(query),
          remoteAddress: from
        }),
        (refusal) => refusal?.status ?? 200
      )
  }))

const bearer = (value: string) => ({ authorization: `Bearer ${value}` })
const right = `server-key=${encodeURIComponent(secret)}`
const subprotocol = (value: string) => ({
  "sec-websocket-protocol": `acp, ${Guard.secretProtocol}${Buffer.from(value).toString("base64url")}`
})

describe("the secret", () => {
  for (const [name, knock, status] of [
    ["a Bearer header", { headers: bearer(secret) }, 200],
    ["its scheme in any case", { headers: { authorization: `bearer  ${secret}` } }, 200],
    ["the query", { query: right }, 200],
    ["a subprotocol", { headers: subprotocol(secret) }, 200],
    ["nothing", {}, 401],
    ["an empty query", { query: "server-key=" }, 401],
    ["a wrong header", { headers: bearer("wrong") }, 401],
    ["a wrong header beside a right query", { headers: bearer("wrong"), query: right }, 401],
    ["an empty header beside a right query", { headers: { authorization: "Bearer" }, query: right }, 401],
    ["a right header beside a wrong query", { headers: bearer(secret), query: "server-key=wrong" }, 200],
    [
      "a header of another scheme beside a right query",
      { headers: { authorization: "Basic eA==" }, query: right },
      200
    ],
    ["a wrong query beside a right subprotocol", { headers: subprotocol(secret), query: "server-key=wrong" }, 401],
    ["a wrong subprotocol", { headers: subprotocol("wrong") }, 401],
    ["a parameter of another name", { query: right.replace("server-key", "token") }, 401],
    ["the beginning of it", { headers: bearer(secret.slice(0, -1)) }, 401],
    ["more than it", { headers: bearer(`${secret}x`) }, 401]
  ] as const) {
    it.effect(`${status === 200 ? "lets in" : "refuses"} ${name}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* (yield* guardOf()).status(knock), status)
      })
    )
  }

  it.effect("is looked for in the parameters that are named", () =>
    Effect.gen(function* () {
      const { status } = yield* guardOf({ query: ["server-key", "token"] })
      assert.strictEqual(yield* status({ query: right.replace("server-key", "token") }), 200)
    })
  )

  it.effect("missing or wrong: the answer says so in plain words", () =>
    Effect.gen(function* () {
      const { guard } = yield* guardOf()
      const refusal = yield* guard.check({
        headers: { host: "localhost" },
        query: new URLSearchParams(),
        remoteAddress: ""
      })
      assert.deepStrictEqual(refusal, {
        status: 401,
        body: "Invalid or missing authorization token",
        headers: { "WWW-Authenticate": "Bearer" }
      })
    })
  )

  it("is never the subprotocol of the answer", () => {
    assert.strictEqual(Guard.protocolOf(subprotocol(secret)), "acp")
    assert.isUndefined(Guard.protocolOf({ "sec-websocket-protocol": `${Guard.secretProtocol}eA` }))
    assert.isUndefined(Guard.protocolOf({ "sec-websocket-protocol": "graphql-ws" }))
    assert.isUndefined(Guard.protocolOf({}))
  })
})

describe("the page and the name", () => {
  const knock = (headers: Readonly<Record<string, string>>) => ({ headers: { ...bearer(secret), ...headers } })
  const at = (host: string) => ({ bind: { host, port: 2419 } })
  const allowed = { origins: ["https://Agent.example.com/", "vscode-webview://abc", "null"] }
  for (const [name, options, headers, status] of [
    ["loopback by address", {}, {}, 200],
    ["loopback by name, on a port that is forwarded", {}, { host: "localhost:9000" }, 200],
    ["loopback in IPv6", at("::1"), { host: "[::1]:2419" }, 200],
    ["another name for loopback", {}, { host: "rebound.example.com:2419" }, 403],
    ["an address that is not loopback", {}, { host: "192.168.1.7:2419" }, 403],
    ["no name", {}, { host: "" }, 403],
    ["a name with a dot at its end", {}, { host: "localhost.:2419" }, 200],
    ["any address where every address is served", at("0.0.0.0"), { host: "192.168.1.7:2419" }, 200],
    ["a name where every address is served", at("0.0.0.0"), { host: "rebound.example.com" }, 403],
    ["the name that the server listens on", at("devbox.lan"), { host: "devbox.lan:2419" }, 200],
    ["the name of an allowed page", allowed, { host: "agent.example.com" }, 200],
    ["a page of this machine", {}, { origin: "http://localhost:5173" }, 200],
    ["a page of this machine in IPv6", {}, { origin: "http://[::1]:5173" }, 200],
    ["a foreign page", {}, { origin: "https://evil.example" }, 403],
    ["a page whose name begins like one of this machine", {}, { origin: "http://localhost.evil.example" }, 403],
    ["a page whose name looks like an address", {}, { origin: "http://127.0.0.1.evil.example" }, 403],
    ["a page without origin", {}, { origin: "null" }, 403],
    ["an origin that is none", {}, { origin: "::" }, 403],
    ["an empty origin", {}, { origin: "" }, 403],
    ["a page of a scheme of its own", {}, { origin: "vscode-webview://abc" }, 403],
    ["an allowed page", allowed, { origin: "https://agent.example.com" }, 200],
    ["an allowed page of a scheme of its own", allowed, { origin: "vscode-webview://abc" }, 200],
    ["an allowed page without origin", allowed, { origin: "null" }, 200],
    ["the same name as an allowed page, in clear text", allowed, { origin: "http://agent.example.com" }, 403],
    [
      "a page of this machine where all are served",
      at("0.0.0.0"),
      { host: "10.0.0.1", origin: "http://localhost" },
      403
    ],
    ["a page of the server itself", at("0.0.0.0"), { host: "10.0.0.1:80", origin: "http://10.0.0.1" }, 200],
    ["a page beside the server itself", at("10.0.0.1"), { host: "10.0.0.1:2419", origin: "http://10.0.0.1:81" }, 200]
  ] as const) {
    it.effect(`${status === 200 ? "lets in" : "refuses"} ${name}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* (yield* guardOf(options)).status(knock(headers)), status)
      })
    )
  }

  it.effect("come before the secret: a foreign page learns nothing about it, and costs nobody an attempt", () =>
    Effect.gen(function* () {
      const { status } = yield* guardOf()
      for (let attempt = 0; attempt < 50; attempt++) {
        assert.strictEqual(yield* status({ headers: { ...bearer("wrong"), origin: "https://evil.example" } }), 403)
      }
      assert.strictEqual(yield* status({ headers: bearer(secret) }), 200)
    })
  )
})

describe("many wrong secrets", () => {
  const wrong = (from: string) => ({ from, headers: bearer("wrong") })

  it.effect("make an address wait, and it is told how long; time heals", () =>
    Effect.gen(function* () {
      const { guard, status } = yield* guardOf()
      for (let attempt = 0; attempt < 10; attempt++) assert.strictEqual(yield* status(wrong("10.0.0.1")), 401)
      assert.strictEqual(yield* status(wrong("10.0.0.1")), 429)
      assert.strictEqual(yield* status({ from: "10.0.0.1", headers: bearer(secret) }), 429)
      const refusal = yield* guard.check({
        headers: { host: "localhost", ...bearer("wrong") },
        query: new URLSearchParams(),
        remoteAddress: "10.0.0.1"
      })
      assert.deepInclude(refusal, { headers: { "Retry-After": "6" } })
      yield* TestClock.adjust("6 seconds")
      assert.strictEqual(yield* status({ from: "10.0.0.1", headers: bearer(secret) }), 200)
      assert.strictEqual(yield* status(wrong("10.0.0.1")), 401)
      assert.strictEqual(yield* status(wrong("10.0.0.1")), 429)
      yield* TestClock.adjust("2 minutes")
      for (let attempt = 0; attempt < 10; attempt++) assert.strictEqual(yield* status(wrong("10.0.0.1")), 401)
    })
  )

  it.effect("make no other address wait, and a missing secret is no attempt", () =>
    Effect.gen(function* () {
      const { status } = yield* guardOf()
      for (let attempt = 0; attempt < 20; attempt++) yield* status(wrong("10.0.0.1"))
      assert.strictEqual(yield* status(wrong("10.0.0.2")), 401)
      for (let attempt = 0; attempt < 20; attempt++) assert.strictEqual(yield* status({ from: "10.0.0.3" }), 401)
      assert.strictEqual(yield* status({ from: "10.0.0.3", headers: bearer(secret) }), 200)
    })
  )

  for (const [one, other, same] of [
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true],
    ["2001:db8:1:2::1", "2001:db8:1:3::1", false],
    ["2001:db8::1", "2001:db8:0:0:1::", true],
    ["::1", "2001::1", false],
    ["::ffff:10.0.0.1", "10.0.0.1", true],
    ["::ffff:10.0.0.1", "::ffff:10.0.0.2", false]
  ] as const) {
    it.effect(`${one} and ${other} are ${same ? "one network" : "two"}`, () =>
      Effect.gen(function* () {
        const { status } = yield* guardOf()
        for (let attempt = 0; attempt < 10; attempt++) yield* status(wrong(one))
        assert.strictEqual(yield* status(wrong(other)), same ? 429 : 401)
      })
    )
  }
})

describe("pure judgements", () => {
  it("tells weak secrets from strong ones", () => {
    for (const weak of [
      "",
      "   ",
      "secret",
      "123456789012345",
      "aaaaaaaaaaaaaaaaaaaaaaaa",
      "abababababababababababab"
    ]) {
      assert.isString(Guard.weaknessOf(weak), weak)
    }
    for (const strong of ["0f3c9a7be1d2f4856e7a", "correct horse battery", "Gq3xkF9wZp1LmT7v"]) {
      assert.isUndefined(Guard.weaknessOf(strong), strong)
    }
  })

  it("knows what only this machine reaches", () => {
    for (const host of ["localhost", "127.0.0.1", "127.8.8.8", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"]) {
      assert.isTrue(Guard.isLoopback(host), host)
    }
    for (const host of [
      "0.0.0.0",
      "::",
      "10.0.0.1",
      "example.com",
      "127.0.0.1.example.com",
      "localhost.evil",
      "1270.0.0.1",
      ""
    ]) {
      assert.isFalse(Guard.isLoopback(host), host)
    }
  })
})
