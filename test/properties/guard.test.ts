import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as Attempts from "../../src/transports/http/Attempts.ts"
import * as Guard from "../../src/transports/http/Guard.ts"

const text = Arbitrary.schema(Schema.String)
const pick = <const A extends ReadonlyArray<string>>(values: A) => Arbitrary.schema(Schema.Literals(values))

const secret = "R4nd0m-s3cret-of-the-server"
const encoded = Buffer.from(secret).toString("base64url")

/** What a client may send in each place, with the secret and without. */
const knocks = Arbitrary.all({
  authorization: pick([
    "",
    `Bearer ${secret}`,
    `bearer ${secret} `,
    "Bearer wrong",
    "Bearer",
    `Basic ${encoded}`,
    secret
  ]),
  query: pick(["", `server-key=${secret}`, "server-key=wrong", `token=${secret}`, `server-key=&server-key=${secret}`]),
  protocols: pick(["", "acp", `acp, ${Guard.secretProtocol}${encoded}`, `${Guard.secretProtocol}${encoded}x`, "acp,x"]),
  host: pick(["localhost", "127.0.0.1:2419", "[::1]", "evil.example", "localhost.evil.example", "10.1.2.3", ""]),
  origin: pick(["", "http://localhost:1", "https://evil.example", "null", "https://ok.example", "http://10.1.2.3"]),
  noise: text
})

interface Knock {
  readonly authorization: string
  readonly query: string
  readonly protocols: string
  readonly host: string
  readonly origin: string
  readonly noise: string
}

const headersOf = ({ authorization, host, noise, origin, protocols }: Knock) => ({
  host,
  "x-noise": noise,
  ...(authorization === "" ? {} : { authorization }),
  ...(protocols === "" ? {} : { "sec-websocket-protocol": protocols }),
  ...(origin === "" ? {} : { origin })
})

/** Says again, in another way, what the guard of `127.0.0.1` with the page `https://ok.example` must answer. */
const expected = ({ authorization, host, origin, protocols, query }: Knock): ReadonlyArray<number> => {
  if (!/^(localhost|127\.0\.0\.1|\[::1\]|ok\.example)(:\d+)?$/.test(host)) return [403]
  if (!["", "http://localhost:1", "https://ok.example"].includes(origin)) return [403]
  if (/^bearer/i.test(authorization)) return [authorization.trim().slice(7) === secret ? 200 : 401]
  const given = new URLSearchParams(query).get("server-key")
  if (given !== null) return [given === secret ? 200 : 401]
  return [protocols.split(", ").includes(`${Guard.secretProtocol}${encoded}`) ? 200 : 401]
}

describe("guard", () => {
  it.effect.prop(
    "decides about any combination as the rules say, and never repeats a secret",
    [knocks],
    ([knock]) =>
      Effect.gen(function* () {
        const log: Array<string> = []
        const logger = Logger.map(Logger.formatLogFmt, (line) => {
          log.push(line)
        })
        const guard = yield* Guard.make({
          secret: Redacted.make(secret),
          bind: { host: "127.0.0.1", port: 2419 },
          origins: ["https://ok.example"]
        })
        const headers = headersOf(knock)
        const check = guard.check({ headers, query: new URLSearchParams(knock.query), remoteAddress: "127.0.0.1" })
        const answers = yield* Effect.forEach(Array.from({ length: 12 }), () => check).pipe(
          Effect.provide(Logger.layer([logger])),
          Effect.provideService(References.MinimumLogLevel, "All")
        )
        assert.include(expected(knock), answers[0]?.status ?? 200)
        const told = JSON.stringify([answers, Guard.protocolOf(headers) ?? "", log])
        for (const hidden of [secret, encoded]) assert.notInclude(told, hidden)
      }),
    { arbitrary: { runs: 500 } }
  )

  it.effect.prop(
    "takes any secret in each of its places, and no other text",
    [text, text],
    ([own, other]) =>
      Effect.gen(function* () {
        const guard = yield* Guard.make({ secret: Redacted.make(`x${own}`), bind: { host: "::1", port: 1 } })
        for (const [given, status] of [
          [`x${own}`, undefined],
          [`y${other}`, 401]
        ] as const) {
          const inQuery = new URLSearchParams({ "server-key": given })
          const inProtocol = `acp, ${Guard.secretProtocol}${Buffer.from(given).toString("base64url")}`
          const headers = { host: "localhost" }
          const remoteAddress = "::1"
          const answers = [
            yield* guard.check({ headers, query: inQuery, remoteAddress }),
            yield* guard.check({
              headers: { ...headers, "sec-websocket-protocol": inProtocol },
              query: new URLSearchParams(),
              remoteAddress
            })
          ]
          // A text that is no Unicode cannot be said in either place.
          if (!given.isWellFormed()) continue
          assert.deepStrictEqual(
            answers.map((answer) => answer?.status),
            [status, status]
          )
        }
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect("makes nobody wait longer because the clock was set back", () =>
    Effect.sync(() => {
      const attempts = Attempts.make()
      const hour = 3_600_000
      attempts.fail("10.0.0.1", hour)
      assert.isAtMost(attempts.wait("10.0.0.1", 0), 6_000)
      attempts.fail("10.0.0.1", 0)
      assert.isAtMost(attempts.wait("10.0.0.1", 0), 6_000)
      assert.strictEqual(attempts.wait("10.0.0.1", 6_000), 0)
    })
  )

  it.effect("keeps nothing of a flood from many addresses but the latest", () =>
    Effect.sync(() => {
      const attempts = Attempts.make()
      for (let address = 0; address < 100_000; address++) {
        for (let again = 0; again < 2; again++)
          attempts.fail(`10.${address >> 16}.${(address >> 8) & 255}.${address & 255}`, 0)
      }
      for (let again = 0; again < 10; again++) attempts.fail("10.0.0.1", 0)
      assert.isAbove(attempts.wait("10.0.0.1", 0), 0)
      // Its two failures are forgotten: ten more are as many as anyone has.
      for (let again = 0; again < 9; again++) assert.isFalse(attempts.fail("10.0.0.2", 0))
      assert.isTrue(attempts.fail("10.0.0.2", 0))
    })
  )
})
