import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { once } from "node:events"
import * as net from "node:net"
import { WebSocket } from "ws"
import * as Listener from "../../../src/transports/http/Listener.ts"
import { certificate } from "../../support/Certificate.ts"
import { curl } from "../../support/Curl.ts"
import { makeSignal } from "../../support/signal.ts"

const app: Listener.ListenerOptions["app"] = Effect.gen(function* () {
  const request = yield* HttpServerRequest
  switch (new URL(request.url, "http://x").pathname) {
    case "/length":
      return yield* request.text.pipe(
        Effect.map((text) => HttpServerResponse.text(String(text.length))),
        Effect.orElseSucceed(() => HttpServerResponse.empty({ status: 413 }))
      )
    default:
      return HttpServerResponse.text(`${request.method} ${request.url} of ${request.headers["host"] ?? "nobody"}`)
  }
})

/** Lets in who asks for `/echo`, and says everything back. */
const upgrade: Listener.ListenerOptions["upgrade"] = ({ headers, path, query, remoteAddress }) =>
  Effect.sync(() =>
    path === "/echo"
      ? {
          headers: { "X-Seen": `${query.get("a") ?? ""} ${headers["x-mine"] ?? ""} ${remoteAddress}` },
          protocol: "acp",
          serve: (frames) =>
            Stream.runForEach(frames.incoming, (frame) =>
              frames.send([frame._tag === "Text" ? frame.text : frame._tag])
            )
        }
      : { status: 401, body: "Who are you?", headers: { "Retry-After": "7" } }
  )

const listen = (options: Partial<Listener.ListenerOptions> = {}) =>
  Effect.map(Listener.listen({ host: "127.0.0.1", port: 0, app, upgrade, ...options }), Listener.authority)

const secure = Effect.gen(function* () {
  const { cert, files, key } = yield* certificate
  return { place: yield* listen({ tls: { cert, key } }), trust: ["--cacert", files.cert] }
})

const handshake = [
  ["Connection", "Upgrade"],
  ["Upgrade", "websocket"],
  ["Sec-WebSocket-Version", "13"],
  ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="]
].flatMap(([name, value]) => ["-H", `${name}: ${value}`])

const open = (url: string, options: object = {}) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = new WebSocket(url, ["other", "acp"], options)
      socket.on("error", () => {})
      await once(socket, "open")
      return socket
    }),
    (socket) => Effect.sync(() => socket.terminate())
  )

const endOf = (socket: WebSocket) =>
  Effect.promise(async () => {
    const [code, reason] = (await once(socket, "close")) as [number, Buffer]
    return [code, reason.toString()] as const
  })

/** A connection of bytes. It tells what came, and waits for the end. */
const dial = (place: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = net.connect({ host: "127.0.0.1", port: Number(place.split(":").at(-1)) })
      let text = ""
      const closed = new Promise<string>((resolve) => {
        socket.on("close", () => resolve(text))
      })
      socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk))
      socket.on("error", () => {})
      await once(socket, "connect")
      return { socket, text: () => text, closed: Effect.promise(() => closed) }
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

describe("one port", () => {
  for (const [name, args, protocol] of [
    ["HTTP/1.1", [], "http/1.1 200"],
    ["HTTP/2 by prior knowledge", ["--http2-prior-knowledge"], "http/2 200"],
    ["HTTP/1.1 to a client that offers HTTP/2", ["--http2"], "http/1.1 200"],
    [
      "HTTP/1.1 to a client that offers anything else",
      ["-H", "Connection: Upgrade", "-H", "Upgrade: x/1"],
      "http/1.1 200"
    ],
    ["HTTP/1.0", ["--http1.0"], "http/1.1 200"]
  ] as const) {
    it.live(`speaks ${name}`, () =>
      Effect.gen(function* () {
        const place = yield* listen()
        const { body, head } = yield* curl([...args, `http://${place}/some?a=b`])
        assert.include(head, protocol)
        assert.strictEqual(body, `GET /some?a=b of ${place}`)
      })
    )
  }

  for (const [name, args, protocol] of [
    ["HTTP/2", ["--http2"], "http/2 200"],
    ["HTTP/1.1", ["--http1.1"], "http/1.1 200"],
    ["HTTP/1.1 without a word about protocols", ["--no-alpn", "--http1.1"], "http/1.1 200"]
  ] as const) {
    it.live(`speaks ${name} over TLS`, () =>
      Effect.gen(function* () {
        const { place, trust } = yield* secure
        const { body, head } = yield* curl([...args, ...trust, `https://${place}/some`])
        assert.include(head, protocol)
        assert.strictEqual(body, `GET /some of ${place}`)
      })
    )
  }

  it.live("takes a WebSocket over TLS beside them", () =>
    Effect.gen(function* () {
      const { cert, key } = yield* certificate
      const place = yield* listen({ tls: { cert, key } })
      const socket = yield* open(`wss://${place}/echo`, { ca: cert })
      socket.send("x")
      assert.strictEqual(String((yield* Effect.promise(() => once(socket, "message")))[0]), "x")
    })
  )

  for (const start of ["GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "PRI * HTTP/1.1\r\nHost: x\r\n\r\n"]) {
    it.live(`reads a request that comes byte by byte: ${JSON.stringify(start.slice(0, 14))}`, () =>
      Effect.gen(function* () {
        const { closed, socket } = yield* dial(yield* listen())
        socket.setNoDelay()
        for (const byte of start) {
          socket.write(byte)
          yield* Effect.yieldNow
        }
        assert.match(yield* closed, start.startsWith("GET") ? /^HTTP\/1.1 200 OK/ : /^HTTP\/1.1 400/)
      })
    )
  }

  it.live("answers what is no HTTP with 400, and TLS in clear text with an end", () =>
    Effect.gen(function* () {
      const place = yield* listen()
      const { closed, socket } = yield* dial(place)
      socket.write("hello\r\n\r\n")
      assert.match(yield* closed, /^HTTP\/1.1 400/)
      assert.notStrictEqual((yield* curl(["-k", `https://${place}/`])).code, 0)
      assert.strictEqual((yield* curl([`http://${place}/`])).status, 200)
    })
  )
})

describe("a WebSocket", () => {
  it.live("is let in with headers and a protocol of the endpoint's choice", () =>
    Effect.gen(function* () {
      const place = yield* listen()
      const socket = yield* Effect.acquireRelease(
        Effect.sync(() => new WebSocket(`ws://${place}/echo?a=b`, ["other", "acp"], { headers: { "X-Mine": "m" } })),
        (socket) => Effect.sync(() => socket.terminate())
      )
      const opened = once(socket, "open")
      const [response] = (yield* Effect.promise(() => once(socket, "upgrade"))) as [{ headers: object }]
      assert.propertyVal(response.headers, "x-seen", "b m 127.0.0.1")
      yield* Effect.promise(() => opened.then(() => undefined))
      assert.strictEqual(socket.protocol, "acp")
    })
  )

  it.live("is refused before it is one, with a status, headers and a text", () =>
    Effect.gen(function* () {
      const { body, code, head, status } = yield* curl([...handshake, `http://${yield* listen()}/other`])
      assert.deepStrictEqual([code, status, body], [0, 401, "Who are you?"])
      assert.include(head, "retry-after: 7")
      assert.include(head, "content-type: text/plain")
    })
  )

  it.live("is not begun with anything but a proper handshake", () =>
    Effect.gen(function* () {
      const place = yield* listen()
      assert.strictEqual((yield* curl([...handshake, "-X", "POST", `http://${place}/echo`])).status, 405)
      assert.strictEqual((yield* curl([...handshake.slice(0, 4), `http://${place}/echo`])).status, 400)
    })
  )

  it.live("ends with 1009 where a frame is longer than 32 MiB, in one piece or in many", () =>
    Effect.gen(function* () {
      const place = yield* listen()
      for (const pieces of [1, 33]) {
        const socket = yield* open(`ws://${place}/echo`)
        const closed = yield* Effect.forkChild(endOf(socket), { startImmediately: true })
        const piece = "x".repeat((33 / pieces) * 1024 * 1024)
        for (let index = 1; index <= pieces; index++) socket.send(piece, { fin: index === pieces })
        assert.strictEqual((yield* Fiber.join(closed))[0], 1009)
      }
    })
  )

  for (const [name, bytes, code] of [
    ["text that is no UTF-8", [0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28], 1007],
    ["a frame without mask", [0x81, 0x01, 0x78], 1002],
    ["a frame of an unknown kind", [0x83, 0x80, 0, 0, 0, 0], 1002],
    ["a fragment of nothing", [0x80, 0x81, 0, 0, 0, 0, 0x78], 1002]
  ] as const) {
    it.live(`ends with ${code} at ${name}`, () =>
      Effect.gen(function* () {
        const { closed, socket } = yield* dial(yield* listen())
        const lines = ["GET /echo HTTP/1.1", "Host: x", ...handshake.filter((part) => part !== "-H"), "", ""]
        socket.write(lines.join("\r\n"))
        yield* Effect.promise(() => once(socket, "data").then(() => undefined))
        socket.write(Uint8Array.from(bytes))
        const text = yield* closed
        const end = Buffer.from(text.slice(text.indexOf("\r\n\r\n") + 4), "latin1")
        assert.deepStrictEqual([end[0], end.readUInt16BE(2)], [0x88, code])
      })
    )
  }

  it.live("lives on beside one that is cut off in the middle of a frame", () =>
    Effect.gen(function* () {
      const place = yield* listen()
      const steady = yield* open(`ws://${place}/echo`)
      const { closed, socket } = yield* dial(place)
      socket.write(["GET /echo HTTP/1.1", "Host: x", ...handshake.filter((part) => part !== "-H"), "", ""].join("\r\n"))
      yield* Effect.promise(() => once(socket, "data").then(() => undefined))
      socket.write(Uint8Array.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0x78]))
      socket.destroy()
      yield* closed
      steady.send("still here")
      assert.strictEqual(String((yield* Effect.promise(() => once(steady, "message")))[0]), "still here")
    })
  )
})

describe("limits", () => {
  for (const [name, bytes] of [
    ["says nothing", ""],
    ["never comes to the end of its headers", "GET / HTTP/1.1\r\nHost: x\r\nX: "],
    ["never comes to the end of its first word", "PR"]
  ] as const) {
    it.live(`a client that ${name} is not waited for`, () =>
      Effect.gen(function* () {
        const { closed, socket } = yield* dial(yield* listen({ patience: "200 millis" }))
        socket.write(bytes)
        const [time, text] = yield* Effect.timed(closed)
        assert.isBelow(Duration.toMillis(time), 5_000)
        assert.match(text, /^$|^HTTP\/1.1 408/)
      })
    )
  }

  it.live("a TLS handshake that is never made is not waited for", () =>
    Effect.gen(function* () {
      const { cert, key } = yield* certificate
      const { closed } = yield* dial(yield* listen({ tls: { cert, key }, patience: "200 millis" }))
      assert.strictEqual(yield* closed, "")
    })
  )

  it.live("headers of more than 16 KiB are refused with 431, a body of more than the limit is cut", () =>
    Effect.gen(function* () {
      const place = yield* listen({ maxBody: 1000 })
      assert.strictEqual((yield* curl(["-H", `X: ${"x".repeat(17_000)}`, `http://${place}/`])).status, 431)
      for (const version of ["--http1.1", "--http2-prior-knowledge"]) {
        const length = (bytes: number) =>
          curl([version, "--data-binary", "@-", `http://${place}/length`], "x".repeat(bytes))
        assert.strictEqual((yield* length(1000)).body, "1000")
        assert.strictEqual((yield* length(1001)).status, 413)
      }
    })
  )

  it.live("a connection too many is closed at once, told once, and there is room when another has gone", () =>
    Effect.gen(function* () {
      const log: Array<unknown> = []
      const logger = Logger.make(({ message }) => {
        log.push(message)
      })
      const place = yield* Effect.provide(listen({ maxConnections: 2 }), Logger.layer([logger]))
      const kept = yield* open(`ws://${place}/echo`)
      const other = yield* dial(place)
      for (let again = 0; again < 3; again++) assert.strictEqual(yield* (yield* dial(place)).closed, "")
      other.socket.destroy()
      yield* other.closed
      yield* Effect.repeat(curl([`http://${place}/`]), { until: ({ status }) => status === 200 })
      kept.send("still here")
      assert.strictEqual(String((yield* Effect.promise(() => once(kept, "message")))[0]), "still here")
      assert.strictEqual(log.length, 1)
      assert.include(String(log[0]), "2 are open")
    })
  )

  it.live("200 WebSockets at a time work", () =>
    Effect.gen(function* () {
      const place = yield* listen()
      const sockets = yield* Effect.forEach(Array.from({ length: 200 }), () => open(`ws://${place}/echo`), {
        concurrency: 20
      })
      const answers = yield* Effect.forEach(
        sockets,
        (socket, index) =>
          Effect.promise(async () => {
            const answer = once(socket, "message")
            socket.send(`${index}`)
            return String((await answer)[0])
          }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        answers,
        Array.from({ length: 200 }, (_, index) => `${index}`)
      )
    })
  )
})

describe("the end", () => {
  it.live("tells WebSockets, answers what waits with 503, ends streams, and frees the port", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const ended = yield* Deferred.make<void>()
      const { changed, until } = makeSignal()
      let begun = 0
      const begin = Effect.sync(() => {
        begun++
        changed()
      })
      const stream = Stream.make(new TextEncoder().encode("begun")).pipe(
        Stream.concat(Stream.drain(Stream.fromEffect(begin))),
        Stream.concat(Stream.never)
      )
      const watched = Effect.flatMap(HttpServerRequest, ({ url }) =>
        url === "/never" ? Effect.andThen(begin, Effect.never) : Effect.succeed(HttpServerResponse.stream(stream))
      )
      const closing = Effect.asVoid(Deferred.succeed(ended, undefined))
      const place = yield* Scope.provide(listen({ app: watched, closing }), scope)
      const socket = yield* open(`ws://${place}/echo`)
      const closed = yield* Effect.forkChild(endOf(socket), { startImmediately: true })
      yield* dial(place)
      const streams = yield* Effect.forEach([[], ["--http2-prior-knowledge"]], (version) =>
        Effect.forkChild(curl([...version, `http://${place}/stream`]), { startImmediately: true })
      )
      const waiting = yield* Effect.forkChild(curl([`http://${place}/never`]), { startImmediately: true })
      yield* until(() => begun === 3)
      const [time] = yield* Effect.timed(Scope.close(scope, Exit.void))
      assert.isBelow(Duration.toMillis(time), 1_500)
      assert.deepStrictEqual(yield* Fiber.join(closed), [1001, "The server is shutting down"])
      assert.strictEqual((yield* Fiber.join(waiting)).status, 503)
      for (const stream of streams) assert.strictEqual((yield* Fiber.join(stream)).body, "begun")
      assert.isTrue(Deferred.isDoneUnsafe(ended))
      const again = yield* listen({ port: Number(place.split(":")[1]) })
      assert.strictEqual(again, place)
    })
  )

  it.live("comes within seconds, whatever a client does not do", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const place = yield* Scope.provide(listen(), scope)
      const socket = yield* open(`ws://${place}/echo`)
      socket.pause()
      yield* dial(place)
      const [time] = yield* Effect.timed(Scope.close(scope, Exit.void))
      assert.isBelow(Duration.toMillis(time), 3_500)
    })
  )
})

describe("what cannot listen", () => {
  const failure = (options: Partial<Listener.ListenerOptions>) =>
    Effect.map(Effect.flip(listen(options)), ({ message }) => message)

  it.live("says why and what to do", () =>
    Effect.gen(function* () {
      const port = Number((yield* listen()).split(":")[1])
      assert.match(yield* failure({ port }), /^127\.0\.0\.1:\d+ is in use by another program: .*choose another port$/)
      assert.match(yield* failure({ host: "203.0.113.7" }), /no address 203\.0\.113\.7: choose one of its own/)
      assert.match(yield* failure({ host: "no.such.invalid" }), /no\.such\.invalid/)
      const { cert } = yield* certificate
      const { key } = yield* certificate
      assert.match(
        yield* failure({ tls: { cert, key } }),
        /^The TLS certificate and its key must be .* belong together/
      )
      assert.match(yield* failure({ tls: { cert: "", key } }), /^The TLS certificate/)
    })
  )
})
