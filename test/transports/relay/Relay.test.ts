import { assert, describe, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { request } from "node:http"
import { authority } from "../../../src/transports/http/Listener.ts"
import * as Relay from "../../../src/transports/relay/Relay.ts"
import { connect, type Socket } from "./sockets.ts"

const token = "a-token-of-the-room-1"
const bearer = (value: string) => ({ authorization: `Bearer ${value}` })

const start = Effect.fnUntraced(function* (options: Partial<Relay.RelayOptions> = {}) {
  const address = yield* Relay.serve({ host: "127.0.0.1", port: 0, ...options })
  const url = `ws://${authority(address)}`
  const agent = (name = "first", value = token) =>
    connect(`${url}/agent`, { ...bearer(value), "super-pi-instance": name })
  const client = (value = token) => connect(`${url}/ws`, bearer(value))
  /** A client and the link that it was given. */
  const pair = Effect.gen(function* () {
    const link = yield* agent()
    const joined = yield* client()
    assert.strictEqual(yield* link.pinged, "super-pi paired")
    return { agent: link, client: joined }
  })
  return { url, http: `http://${authority(address)}`, agent, client, pair }
})

const get = (url: string) =>
  Effect.callback<{ readonly status: number | undefined; readonly body: string }>((resume) => {
    request(url, (response) => {
      let body = ""
      response.setEncoding("utf8").on("data", (text) => (body += text))
      response.on("end", () => resume(Effect.succeed({ status: response.statusCode, body })))
    }).end()
  })

/** Lets time pass in steps, with room for what comes over sockets, until something has happened. */
const within = <A>(happens: Effect.Effect<A>, step: Duration.Input): Effect.Effect<A> => {
  const pass = Effect.andThen(TestClock.withLive(Effect.sleep("5 millis")), TestClock.adjust(step))
  return Effect.raceFirst(happens, Effect.andThen(Effect.forever(pass), Effect.never))
}

describe("the relay", () => {
  it.live("passes messages on both ways, and says that it gives each client a link", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      const { agent, client } = yield* relay.pair
      assert.strictEqual(agent.headers["super-pi-relay"], "pairs")
      yield* client.send("to the agent")
      assert.strictEqual(yield* agent.next, "to the agent")
      yield* agent.send("to the client")
      assert.strictEqual(yield* client.next, "to the client")
    })
  )

  it.live("takes what a client says before an agent is there, in order", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      const client = yield* relay.client()
      for (const text of ["1", "2", "3"]) yield* client.send(text)
      const agent = yield* relay.agent()
      assert.deepStrictEqual([yield* agent.next, yield* agent.next, yield* agent.next], ["1", "2", "3"])
    })
  )

  it.live("gives several clients links of their own", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      const pairs: Array<{ readonly agent: Socket; readonly client: Socket }> = []
      for (let count = 0; count < 5; count++) pairs.push(yield* relay.pair)
      for (const [index, { client }] of pairs.entries()) yield* client.send(`client ${index}`)
      for (const [index, { agent, client }] of pairs.entries()) {
        assert.strictEqual(yield* agent.next, `client ${index}`)
        yield* agent.send(`agent ${index}`)
        assert.strictEqual(yield* client.next, `agent ${index}`)
      }
    })
  )

  it.live("lets a client in by header, by either query and by subprotocol, at both paths", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      const secret = `super-pi.secret.${Buffer.from(token).toString("base64url")}`
      for (const [path, protocols] of [
        [`/ws?token=${token}`, []],
        [`/acp?server-key=${token}`, []],
        ["/ws", ["acp", secret]]
      ] as const) {
        const agent = yield* relay.agent()
        const client = yield* connect(`${relay.url}${path}`, {}, protocols)
        assert.strictEqual(client.raw.protocol, protocols.length === 0 ? "" : "acp")
        yield* client.send(path)
        assert.strictEqual(yield* agent.next, path)
      }
      // A header that is wrong is not saved by a query that is right.
      const refused = yield* Effect.flip(connect(`${relay.url}/ws?token=${token}`, bearer("short")))
      assert.strictEqual(refused.status, 401)
    })
  )

  it.live("refuses an agent of another process while one is connected, and lets it in after that", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      const { agent } = yield* relay.pair
      yield* relay.agent()
      const refused = yield* Effect.flip(relay.agent("second"))
      assert.deepStrictEqual([refused.status, refused.body], [409, "Another agent is connected with this token"])
      yield* relay.agent("second", "a-token-of-another-room")
      yield* agent.close
      assert.strictEqual((yield* Effect.flip(relay.agent("second"))).status, 409)
    })
  )

  it.live("frees the room with the last link of its agent", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      const { agent, client } = yield* relay.pair
      agent.raw.terminate()
      assert.deepStrictEqual(yield* client.ended, {
        code: 1001,
        reason: "The agent is gone: connect again, and load the session"
      })
      yield* relay.agent("second")
    })
  )

  it.live("tells each side how the other one ended, in its own words", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      const first = yield* relay.pair
      first.agent.raw.close(4321, "The agent says why")
      assert.deepStrictEqual(yield* first.client.ended, { code: 4321, reason: "The agent says why" })
      const second = yield* relay.pair
      yield* second.client.close
      assert.deepStrictEqual(yield* second.agent.ended, { code: 1000, reason: "The client has left" })
      const third = yield* relay.pair
      third.client.raw.terminate()
      assert.deepStrictEqual(yield* third.agent.ended, { code: 1000, reason: "The client has left" })
    })
  )

  it.live("delivers what was sent right before the end", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      const { agent, client } = yield* relay.pair
      const texts = Array.from({ length: 500 }, (_, index) => `${index} ${"x".repeat(1_000)}`)
      for (const text of texts) client.raw.send(text)
      client.raw.close()
      for (const text of texts) assert.strictEqual(yield* agent.next, text)
      assert.strictEqual((yield* agent.ended).code, 1000)
    })
  )

  it.live("ends the wait for an agent with 1013", () =>
    Effect.gen(function* () {
      const relay = yield* start({ limits: { patience: "50 millis" } })
      const client = yield* relay.client()
      assert.deepStrictEqual(yield* client.ended, { code: 1013, reason: "No agent is connected with this token" })
    })
  )

  it.effect("says that the agent is there when only a link is missing", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      yield* relay.pair
      const client = yield* relay.client()
      // Its request shows that it waits.
      yield* client.send("x")
      yield* within(client.ended, "1 second")
      assert.deepStrictEqual(yield* client.ended, { code: 1013, reason: "The agent has no link for a further client" })
    })
  )

  it.effect("frees the room of an agent that is not heard any more, though its connection stands", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      const silent = yield* connect(`${relay.url}/agent`, { ...bearer(token), "super-pi-instance": "first" }, [], false)
      yield* silent.pinged.pipe(Effect.raceFirst(TestClock.adjust("15 seconds").pipe(Effect.andThen(Effect.never))))
      yield* TestClock.adjust("44 seconds")
      assert.strictEqual((yield* Effect.flip(relay.agent("second"))).status, 409)
      yield* within(silent.ended, "15 seconds")
      yield* relay.agent("second")
    })
  )

  it.effect("ends a client that has not read for 60 seconds, and tells its agent", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      const { agent, client } = yield* relay.pair
      client.raw.pause()
      for (let count = 0; count < 200; count++) agent.raw.send(Buffer.alloc(256 * 1024))
      const ended = yield* within(agent.ended, "10 seconds")
      assert.deepStrictEqual(ended, { code: 1008, reason: "The other side reads too slowly" })
    })
  )

  it.live("refuses weak tokens, and an address that goes on with them", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      const missing = yield* Effect.flip(connect(`${relay.url}/ws`))
      assert.deepStrictEqual([missing.status, missing.body], [401, "Invalid or missing authorization token"])
      const short = yield* Effect.flip(relay.agent("first", "short"))
      assert.match(short.body, /^Invalid or missing authorization token: it has 5 characters, and 16 are the least$/)
      const refusals: Array<number> = []
      for (let count = 0; count < 30; count++) {
        refusals.push((yield* Effect.flip(connect(`${relay.url}/ws?token=x${count}`))).status)
      }
      assert.strictEqual(refusals[0], 401)
      assert.deepStrictEqual(new Set(refusals.slice(10)), new Set([429]))
      const waiting = yield* Effect.flip(relay.client())
      assert.strictEqual(waiting.status, 429)
      assert.isAbove(Number(waiting.headers["retry-after"]), 0)
    })
  )

  it.live("counts tokens that no agent has as wrong ones", () =>
    Effect.gen(function* () {
      const relay = yield* start({ limits: { patience: 0 } })
      const statuses: Array<number> = []
      for (let count = 0; count < 30; count++) {
        const outcome = yield* Effect.exit(relay.client(`a-guess-of-many-${count}`))
        if (outcome._tag === "Failure") statuses.push(429)
        else statuses.push((yield* outcome.value.ended).code)
      }
      assert.strictEqual(statuses[0], 1013)
      assert.strictEqual(statuses.at(-1), 429)
    })
  )

  it.live("answers /health, and says what belongs where", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      assert.deepStrictEqual(yield* get(`${relay.http}/health`), { status: 200, body: '{"ok":true}' })
      assert.strictEqual((yield* get(`${relay.http}/ws`)).status, 426)
      assert.strictEqual((yield* get(`${relay.http}/agent`)).status, 426)
      assert.strictEqual((yield* get(`${relay.http}/`)).status, 404)
      const lost = yield* Effect.flip(connect(`${relay.url}/elsewhere`, bearer(token)))
      assert.deepStrictEqual([lost.status, lost.body], [404, "Agents connect to /agent, clients to /ws or /acp"])
    })
  )

  it.live("ends who sends a message of more than 32 MiB, and tells the other side", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      const { agent, client } = yield* relay.pair
      client.raw.send(Buffer.alloc(32 * 1024 * 1024 + 1))
      assert.strictEqual((yield* client.ended).code, 1009)
      assert.strictEqual((yield* agent.ended).code, 1000)
      const next = yield* relay.pair
      const large = Buffer.alloc(32 * 1024 * 1024, "x")
      next.client.raw.send(large)
      assert.isTrue(large.equals(Buffer.from((yield* next.agent.next) as Buffer)))
    })
  )

  it.live("holds little for a client that does not read: the agent waits in its place", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      const { agent, client } = yield* relay.pair
      client.raw.pause()
      const piece = Buffer.alloc(256 * 1024, "x")
      let written = 0
      for (let count = 0; count < 400; count++) agent.raw.send(piece, () => written++)
      for (let seen = -1; seen !== written;) {
        seen = written
        yield* Effect.sleep("200 millis")
      }
      // Of 100 MiB most wait at the sender; what left it is in the buffers of the system and of the relay.
      assert.isBelow(written, 100)
      client.raw.resume()
      for (let count = 0; count < 400; count++) assert.strictEqual((yield* client.next).length, piece.length)
    })
  )

  it.live("reads little of a client that waits for its agent", () =>
    Effect.gen(function* () {
      const relay = yield* start()
      const client = yield* relay.client()
      const pieces = 400
      let written = 0
      for (let count = 0; count < pieces; count++) client.raw.send(Buffer.alloc(256 * 1024, "x"), () => written++)
      yield* Effect.sleep("300 millis")
      assert.isBelow(written, 100)
      const agent = yield* relay.agent()
      for (let count = 0; count < pieces; count++) assert.strictEqual((yield* agent.next).length, 256 * 1024)
    })
  )

  const Sent = Schema.Struct({
    toAgent: Schema.Boolean,
    pair: Schema.Literals([0, 1, 2]),
    data: Schema.Union([Schema.String, Schema.Uint8Array])
  })

  it.live.prop(
    "delivers every message unchanged, once and in order, whatever else is said at the same time",
    [Schema.Array(Sent)],
    ([sent]) =>
      Effect.scoped(
        Effect.gen(function* () {
          const relay = yield* start()
          const pairs = [yield* relay.pair, yield* relay.pair, yield* relay.pair] as const
          for (const { data, pair, toAgent } of sent) {
            const { agent, client } = pairs[pair]
            ;(toAgent ? client : agent).raw.send(data)
          }
          for (const [index, { agent, client }] of pairs.entries()) {
            for (const toAgent of [true, false]) {
              const expected = sent.filter((one) => one.pair === index && one.toAgent === toAgent)
              for (const { data } of expected) {
                const got = yield* (toAgent ? agent : client).next
                assert.strictEqual(typeof got, typeof data === "string" ? "string" : "object")
                assert.deepStrictEqual(Buffer.from(got), Buffer.from(data))
              }
              // What comes last shows that nothing came twice.
              ;(toAgent ? client : agent).raw.send("the end")
              assert.strictEqual(yield* (toAgent ? agent : client).next, "the end")
            }
          }
        })
      ),
    { arbitrary: { runs: 50 } }
  )

  it.live("ends every WebSocket with its scope", () =>
    Effect.gen(function* () {
      const ended = yield* Effect.scoped(
        Effect.gen(function* () {
          const relay = yield* start()
          return yield* relay.pair
        })
      ).pipe(Effect.flatMap(({ agent, client }) => Effect.all([agent.ended, client.ended])))
      for (const { code } of ended) assert.include([1001, 1006], code)
    })
  )
})
