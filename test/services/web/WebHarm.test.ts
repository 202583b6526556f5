/** Fetching from servers that mean harm, and by proxies. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { createServer } from "node:https"
import { gzipSync } from "node:zlib"
import type { WebFetchSettings } from "../../../src/services/Settings.ts"
import { type Resolver, Unresolved } from "../../../src/services/web/Resolver.ts"
import { certificate } from "../../support/Certificate.ts"
import { startProxy } from "../../support/proxy.ts"
import { makeSignal } from "../../support/signal.ts"
import { sends, serveWeb } from "../../support/webServer.ts"
import { everyName, get, local, refusal, web } from "../../support/web.ts"

describe("servers that mean harm", () => {
  it.live("with too much: refused by its length, or as soon as it is too much", () =>
    Effect.gen(function* () {
      let sent = 0
      const server = yield* serveWeb({
        "/length": sends(Buffer.alloc(0), "text/plain", { "content-length": "11000000" }),
        "/endless": (_, response) => {
          response.writeHead(200, { "content-type": "text/plain" })
          const chunk = Buffer.alloc(64 * 1024, "x")
          const more = (): void => {
            while (response.writable && !response.destroyed && response.write(chunk)) sent += chunk.length
          }
          response.on("drain", more)
          more()
        },
        "/bomb": sends(gzipSync(Buffer.alloc(200_000_000)), "text/plain", { "content-encoding": "gzip" }),
        "/zipped": sends(gzipSync("small"), "text/plain", { "content-encoding": "gzip" }),
        "/broken": sends("no gzip", "text/plain", { "content-encoding": "gzip" })
      })
      assert.include(yield* refusal(server.url("/length")), "has 11000000 bytes")
      assert.include(yield* refusal(server.url("/endless")), "is larger than 10 MB")
      assert.isBelow(sent, 40_000_000)
      const before = process.memoryUsage().rss
      assert.include(yield* refusal(server.url("/bomb")), "is larger than 10 MB")
      assert.isBelow(process.memoryUsage().rss - before, 150_000_000)
      assert.strictEqual((yield* get(server.url("/zipped"))).text, "small")
      assert.include(yield* refusal(server.url("/broken")), "could not be fetched: ")
    }).pipe(Effect.provide(web()), Effect.scoped)
  )

  it.effect("that are slow: 60 s for all of it, however often something comes", () =>
    Effect.gen(function* () {
      const { changed, until } = makeSignal()
      const server = yield* serveWeb({
        "/silent": () => changed(),
        "/drops": (_, response) => {
          response.writeHead(200, { "content-type": "text/plain" }).write("a")
          changed()
        },
        "/hops": (_, response) => {
          changed()
          response.writeHead(302, { location: "/silent" }).end()
        }
      })
      for (const [path, asked] of [
        ["/silent", 1],
        ["/drops", 2],
        ["/hops", 4]
      ] as const) {
        const fiber = yield* Effect.forkChild(refusal(server.url(path)))
        yield* until(() => server.asked.length === asked)
        yield* TestClock.adjust("59 seconds")
        assert.isUndefined(fiber.pollUnsafe(), path)
        yield* TestClock.adjust("1 second")
        assert.include(yield* Fiber.join(fiber), "was not there within 60 s", path)
      }
    }).pipe(Effect.provide(web()), Effect.scoped)
  )

  it.live("that break off, refuse or answer nonsense, with a reason", () =>
    Effect.gen(function* () {
      const server = yield* serveWeb({
        "/cut": (_, response) => {
          response.writeHead(200, { "content-type": "text/plain", "content-length": "100" }).write("a")
          setImmediate(() => response.destroy())
        },
        "/nonsense": (request) => void request.socket.end("HTTP/9.9 what\r\n\r\n"),
        "/error": (_, response) => void response.writeHead(500, { "content-type": "image/png" }).end("x")
      })
      assert.include(yield* refusal(server.url("/cut")), "could not be fetched: ")
      assert.include(yield* refusal(server.url("/nonsense")), "could not be fetched: ")
      assert.match(yield* refusal(server.url("/error")), /answered 500 Internal Server Error$/)
      assert.include(yield* refusal(new URL("http://127.0.0.1:1/")), "could not be fetched: bad port")
    }).pipe(Effect.provide(web()), Effect.scoped)
  )

  it.live("that are somebody else: a certificate that nobody signed ends it before anything is asked", () =>
    Effect.gen(function* () {
      const { cert, key } = yield* certificate
      let asked = 0
      const port = yield* Effect.acquireRelease(
        Effect.callback<readonly [port: number, close: () => void]>((resume) => {
          const server = createServer({ cert, key }, (_, response) => {
            asked += 1
            response.end("x")
          }).listen(0, "127.0.0.1", () => {
            const address = server.address()
            const close = () => void server.close()
            resume(Effect.succeed([address !== null && typeof address === "object" ? address.port : 0, close]))
          })
        }),
        ([, close]) => Effect.sync(close)
      ).pipe(Effect.map(([port]) => port))
      assert.match(yield* refusal(new URL(`https://localhost:${port}/`)), /could not be fetched: .*certificate/)
      assert.strictEqual(asked, 0)
    }).pipe(Effect.provide(web()), Effect.scoped)
  )

  it.live("an interrupted fetch closes its connection", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      const server = yield* serveWeb({
        "/": (request) => {
          request.socket.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
          Deferred.doneUnsafe(asked, Effect.void)
        }
      })
      const fiber = yield* Effect.forkChild(get(server.url("/")))
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(closed)
    }).pipe(Effect.provide(web()), Effect.scoped)
  )
})

describe("a proxy of the environment", () => {
  it.live("is used, knows names that nobody here does, and does not open private networks", () =>
    Effect.gen(function* () {
      const server = yield* serveWeb({ "/": sends("direct") })
      const proxy = yield* serveWeb({ "/": sends("by proxy") })
      const tunnel = yield* startProxy(403)
      const unknown: Resolver = () => Effect.fail(new Unresolved({ message: "ENOTFOUND" }))
      const layer = (settings: WebFetchSettings, environment: Record<string, string>, resolve = unknown) =>
        web(settings, { environment, resolve })
      const through = { HTTP_PROXY: proxy.url("/").href, https_proxy: `http://127.0.0.1:${tunnel.port}` }
      const strict: WebFetchSettings = { allowLocal: false }
      const text = (url: URL) => Effect.map(get(url), (page) => page.text)

      const far = new URL("http://nowhere.example:8080/")
      assert.strictEqual(yield* Effect.provide(text(far), layer(strict, through)), "by proxy")
      assert.deepStrictEqual(proxy.asked, [far.href])
      const secure = refusal(new URL("https://nowhere.example/"))
      assert.include(yield* Effect.provide(secure, layer(strict, through)), "could not be fetched: ")
      assert.deepStrictEqual(
        tunnel.asked.map(({ authority }) => authority),
        ["nowhere.example:443"]
      )

      const exempt = { ...through, NO_PROXY: "127.0.0.1,direct.example" }
      assert.strictEqual(yield* Effect.provide(text(server.url("/")), layer(local, exempt)), "direct")
      const direct = refusal(server.url("/", "direct.example"))
      assert.include(yield* Effect.provide(direct, layer(local, exempt)), "no address here")

      const inner = refusal(server.url("/", "inner.example"))
      assert.include(yield* Effect.provide(inner, layer(strict, through, everyName().resolve)), "is not fetched")
      assert.include(yield* Effect.provide(refusal(server.url("/")), layer(strict, through)), "is not fetched")
      assert.lengthOf(proxy.asked, 1)
    }).pipe(Effect.scoped)
  )
})
