import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { createServer as createTcpServer, type Socket } from "node:net"
import { WebSocketServer } from "ws"
import { authority } from "../../../src/transports/http/Listener.ts"
import { dial, type DialOptions } from "../../../src/transports/relay/Dial.ts"
import * as Relay from "../../../src/transports/relay/Relay.ts"
import { startProxy } from "../../support/proxy.ts"
import { certificate } from "./certificate.ts"
import { connect } from "./sockets.ts"

const token = "a-token-of-the-room-1"

const optionsOf = (url: string, more: Partial<DialOptions> = {}): DialOptions => ({
  address: new URL(url),
  token: Redacted.make(token),
  origin: undefined,
  instance: "instance",
  version: "1.2.3",
  variables: {},
  ...more
})

/** A relay of another make: it takes everybody, or answers with a status. */
const foreign = (status?: number, body = "") =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly seen: Array<IncomingHttpHeaders>; readonly close: () => void }>(
      (resume) => {
        const seen: Array<IncomingHttpHeaders> = []
        const sockets = new WebSocketServer({ noServer: true, autoPong: false })
        const server = createServer()
        server.on("upgrade", (request, socket, head) => {
          seen.push(request.headers)
          if (status === undefined) return sockets.handleUpgrade(request, socket, head, (one) => one.send("at once"))
          socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`)
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = address !== null && typeof address === "object" ? address.port : 0
          const close = () => {
            for (const one of sockets.clients) one.terminate()
            server.closeAllConnections()
            server.close()
          }
          resume(Effect.succeed({ url: `ws://127.0.0.1:${port}/agent?key=query-secret`, seen, close }))
        })
      }
    ),
    ({ close }) => Effect.sync(close)
  )

/** Takes connections and says nothing. */
const silent = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void; readonly connected: Effect.Effect<void> }>(
    (resume) => {
      const sockets: Array<Socket> = []
      const connected = Deferred.makeUnsafe<void>()
      const server = createTcpServer((socket) => {
        sockets.push(socket)
        socket.on("error", () => {})
        socket.once("data", () => Deferred.doneUnsafe(connected, Effect.void))
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(
          Effect.succeed({
            port: address !== null && typeof address === "object" ? address.port : 0,
            connected: Deferred.await(connected),
            close: () => {
              for (const socket of sockets) socket.destroy()
              server.close()
            }
          })
        )
      })
    }
  ),
  ({ close }) => Effect.sync(close)
)

const texts = (link: Effect.Success<ReturnType<typeof dial>>, count: number) =>
  Effect.map(Stream.runCollect(Stream.take(link.frames.incoming, count)), (frames) =>
    frames.map((frame) => (frame._tag === "Text" ? frame.text : frame._tag))
  )

describe("dial", () => {
  it.live("shows who it is, and misses nothing that the relay says at once", () =>
    Effect.gen(function* () {
      const relay = yield* foreign()
      const link = yield* dial(optionsOf(relay.url, { origin: "https://example.org" }))
      assert.isFalse(link.pairs)
      assert.deepStrictEqual(yield* texts(link, 1), ["at once"])
      yield* link.paired
      const [headers] = relay.seen
      assert.deepInclude(headers, {
        authorization: `Bearer ${token}`,
        origin: "https://example.org",
        "user-agent": "super-pi/1.2.3",
        "x-client-version": "1.2.3",
        "super-pi-instance": "instance"
      })
      assert.isUndefined(headers?.["sec-websocket-extensions"])
    })
  )

  it.live("knows a relay that pairs, and when it has", () =>
    Effect.gen(function* () {
      const address = yield* Relay.serve({ host: "127.0.0.1", port: 0 })
      const url = `ws://${authority(address)}`
      const link = yield* dial(optionsOf(`${url}/agent`))
      assert.isTrue(link.pairs)
      const client = yield* connect(`${url}/ws?token=${token}`)
      yield* link.paired
      yield* client.send('{"a":1}')
      // What comes as bytes is text all the same.
      yield* client.send(Buffer.from('{"b":"ü"}'))
      assert.deepStrictEqual(yield* texts(link, 2), ['{"a":1}', '{"b":"ü"}'])
      yield* link.frames.send(["x", "y"])
      assert.deepStrictEqual([yield* client.next, yield* client.next], ["x", "y"])
      yield* client.close
      yield* link.frames.closed
    })
  )

  for (const [status, body, problem, message] of [
    [401, "Invalid token", "unauthorized", "The relay answered 401: Invalid token"],
    [409, "Another agent is\r\n connected", "refused", "The relay answered 409: Another agent is connected"],
    [502, "<html>bad gateway</html>", "refused", "The relay answered 502"],
    [500, "x".repeat(10_000), "refused", `The relay answered 500: ${"x".repeat(512)}`]
  ] as const) {
    it.live(`tells what a relay answers in place of a link: ${status}`, () =>
      Effect.gen(function* () {
        const relay = yield* foreign(status, body)
        const failed = yield* Effect.flip(dial(optionsOf(relay.url)))
        assert.deepStrictEqual([failed.problem, failed.message], [problem, message])
      })
    )
  }

  it.live("says why a relay cannot be reached, and never with what", () =>
    Effect.gen(function* () {
      const failed = yield* Effect.flip(dial(optionsOf("ws://127.0.0.1:1/agent?key=query-secret")))
      assert.strictEqual(failed.problem, "unreachable")
      assert.match(failed.message, /^The relay cannot be reached: connect ECONNREFUSED/)
      assert.notMatch(failed.message, /query-secret|a-token/)
    })
  )

  it.effect("gives up a relay that does not answer within 30 seconds", () =>
    Effect.gen(function* () {
      const server = yield* silent
      const dialling = yield* Effect.forkChild(Effect.flip(dial(optionsOf(`ws://127.0.0.1:${server.port}`))))
      yield* server.connected
      yield* TestClock.adjust("29 seconds")
      assert.isUndefined(dialling.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const failed = yield* Fiber.join(dialling)
      assert.strictEqual(failed.message, "The relay did not answer within 30 seconds")
    })
  )

  it.effect("counts a link as lost when nothing was heard for 60 seconds, though the connection stands", () =>
    Effect.gen(function* () {
      const relay = yield* foreign()
      const link = yield* dial(optionsOf(relay.url))
      assert.deepStrictEqual(yield* texts(link, 1), ["at once"])
      const closing = yield* Effect.forkChild(link.frames.closed, { startImmediately: true })
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(closing.pollUnsafe())
      yield* TestClock.adjust("16 seconds")
      yield* Fiber.join(closing)
    })
  )

  it.live("closes the link with its scope", () =>
    Effect.gen(function* () {
      const address = yield* Relay.serve({ host: "127.0.0.1", port: 0 })
      const url = `ws://${authority(address)}`
      const scope = yield* Scope.make()
      const link = yield* Scope.provide(dial(optionsOf(`${url}/agent`)), scope)
      const client = yield* connect(`${url}/ws?token=${token}`)
      yield* link.paired
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* client.ended).code, 1001)
    })
  )
})

describe("dial through a proxy", () => {
  for (const scheme of ["ws", "wss"] as const) {
    it.live(`reaches a relay by ${scheme}`, () =>
      Effect.gen(function* () {
        const tls = scheme === "wss" ? { tls: yield* certificate } : {}
        const address = yield* Relay.serve({ host: "127.0.0.1", port: 0, ...tls })
        const proxy = yield* startProxy()
        const variables = {
          [scheme === "wss" ? "HTTPS_PROXY" : "HTTP_PROXY"]: `http://me:pass%20word@127.0.0.1:${proxy.port}`
        }
        const url = `${scheme}://localhost:${address.port}`
        const link = yield* dial(optionsOf(`${url}/agent`, { variables }))
        assert.isTrue(link.pairs)
        const credentials = `Basic ${Buffer.from("me:pass word").toString("base64")}`
        assert.deepStrictEqual(proxy.asked, [{ authority: `localhost:${address.port}`, credentials }])
        assert.strictEqual(proxy.others(), 0)
        const direct = yield* dial(optionsOf(`${url}/agent`, { variables: { ...variables, NO_PROXY: "localhost" } }))
        assert.isTrue(direct.pairs)
        assert.strictEqual(proxy.asked.length, 1)
      })
    )
  }

  it.live("says what a proxy answers in place of a connection", () =>
    Effect.gen(function* () {
      const proxy = yield* startProxy(407)
      const variables = { HTTP_PROXY: `http://me:password@127.0.0.1:${proxy.port}` }
      const failed = yield* Effect.flip(dial(optionsOf("ws://relay.example.org/agent", { variables })))
      assert.match(failed.message, /^The proxy 127\.0\.0\.1:\d+ refused the connection with 407: put name and password/)
      assert.notMatch(failed.message, /password@/)
    })
  )

  it.live("says when the proxy cannot be reached or is none", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.flip(
        dial(optionsOf("ws://relay.example.org/agent", { variables: { HTTP_PROXY: "http://127.0.0.1:1" } }))
      )
      assert.match(gone.message, /^The proxy 127\.0\.0\.1:1 cannot be reached: /)
      const odd = yield* Effect.flip(
        dial(optionsOf("ws://relay.example.org/agent", { variables: { HTTP_PROXY: "socks5://127.0.0.1:1" } }))
      )
      assert.match(odd.message, /^The proxy of the environment is no address/)
    })
  )
})
