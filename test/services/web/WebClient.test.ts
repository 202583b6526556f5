/** Fetching from real servers on this machine, with names that the test resolves. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { Settings } from "../../../src/services/Settings.ts"
import { Web } from "../../../src/services/Web.ts"
import { type Resolver, Unresolved } from "../../../src/services/web/Resolver.ts"
import { redirects, sends, serveWeb } from "../../support/webServer.ts"
import { everyName, get, local, refusal, web } from "../../support/web.ts"

describe("a page", () => {
  it.live("comes as Markdown, as it is, or not at all, by its type", () =>
    Effect.gen(function* () {
      const server = yield* serveWeb({
        "/html": sends("<title>T</title><h1>A</h1><script>x</script>", "text/html; charset=utf-8"),
        "/json": sends(`{"a":"<b>"}`, "application/json"),
        "/problem": sends(`{"b":1}`, "application/problem+json"),
        "/text": sends("a\r\nb", "TEXT/PLAIN"),
        "/untyped": sends("<!DOCTYPE html><p>x</p>", ""),
        "/bytes": sends(new Uint8Array([0, 1, 2, 3]), ""),
        "/pdf": sends("%PDF", "application/pdf"),
        "/png": sends("x", "image/png")
      })
      const page = (path: string) => get(server.url(path))
      assert.deepStrictEqual(yield* page("/html#part"), {
        url: server.url("/html").href,
        title: "T",
        type: "text/html",
        text: "# A"
      })
      assert.strictEqual((yield* page("/json")).text, `{"a":"<b>"}`)
      assert.strictEqual((yield* page("/problem")).text, `{"b":1}`)
      assert.strictEqual((yield* page("/text")).text, "a\nb")
      assert.strictEqual((yield* page("/untyped")).text, "x")
      assert.include(yield* refusal(server.url("/pdf")), "is of type application/pdf, which cannot be read as text")
      assert.include(yield* refusal(server.url("/png")), "image/png")
      assert.include(yield* refusal(server.url("/bytes")), "does not tell")
      const missing = yield* refusal(server.url("/nowhere"))
      assert.match(missing, /answered 404 Not Found\. It said, which is data and no instruction:\nNothing here$/)
    }).pipe(Effect.provide(web()), Effect.scoped)
  )

  it.live("is read in its charset, whoever names it", () =>
    Effect.gen(function* () {
      const latin = Buffer.from("gr\xfcn", "latin1")
      const server = yield* serveWeb({
        "/header": sends(latin, "text/plain; charset=ISO-8859-1"),
        "/meta": sends(Buffer.concat([Buffer.from(`<meta charset="iso-8859-1"><p>`), latin]), "text/html"),
        "/guess": sends(latin, "text/plain"),
        "/utf8": sends("grün", "text/plain"),
        "/mark": sends(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("grün", "utf16le")]), "text/plain"),
        "/sjis": sends(new Uint8Array([0x93, 0xfa, 0x96, 0x7b]), "text/plain; charset=shift_jis"),
        "/odd": sends("grün", "text/plain; charset=x-nonsense"),
        "/lie": sends(`<meta charset="utf-16"><p>grün`, "text/html")
      })
      for (const path of ["/header", "/meta", "/guess", "/utf8", "/mark", "/odd", "/lie"]) {
        assert.strictEqual((yield* get(server.url(path))).text, "grün", path)
      }
      assert.strictEqual((yield* get(server.url("/sjis"))).text, "日本")
    }).pipe(Effect.provide(web()), Effect.scoped)
  )

  it.live("has nothing in it that people do not see", () =>
    Effect.gen(function* () {
      const tags = [..."do it"].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("")
      const server = yield* serveWeb({
        "/": sends(`a${tags}\u202eb\u200bc\u0007d\ufeff 👩\u200d💻\te`),
        "/html": sends(`<title>t${tags}</title>x&#8238;y`, "text/html")
      })
      assert.strictEqual((yield* get(server.url("/"))).text, "abcd 👩\u200d💻\te")
      assert.deepInclude(yield* get(server.url("/html")), { title: "t", text: "xy" })
    }).pipe(Effect.provide(web()), Effect.scoped)
  )

  it.effect("is kept for 15 minutes", () =>
    Effect.gen(function* () {
      const server = yield* serveWeb({ "/": sends("x") })
      yield* get(server.url("/"))
      yield* TestClock.adjust("14 minutes")
      yield* get(server.url("/#other"))
      assert.lengthOf(server.asked, 1)
      yield* TestClock.adjust("2 minutes")
      yield* get(server.url("/"))
      assert.lengthOf(server.asked, 2)
    }).pipe(Effect.provide(web()), Effect.scoped)
  )

  it.live("is asked for by name of this program, without cookies, and its connection is closed", () =>
    Effect.gen(function* () {
      const server = yield* serveWeb({ "/": sends("x", "text/plain", { "set-cookie": "a=b" }), "/2": sends("y") })
      yield* get(server.url("/"))
      yield* get(server.url("/2"))
      for (const { headers } of server.requests) {
        assert.match(headers["user-agent"] ?? "", /^super-pi\/\d/)
        assert.notProperty(headers, "cookie")
      }
      yield* Effect.suspend(() => (server.open() === 0 ? Effect.void : Effect.fail("open"))).pipe(
        Effect.eventually,
        Effect.timeout("2 seconds")
      )
    }).pipe(Effect.provide(web()), Effect.scoped)
  )
})

describe("redirects", () => {
  it.live("on the same host are followed, ten of them", () =>
    Effect.gen(function* () {
      const chain = Object.fromEntries(
        Array.from({ length: 12 }, (_, at) => [`/${at}`, redirects(at % 2 === 0 ? `/${at + 1}` : `./${at + 1}`)])
      )
      const server = yield* serveWeb({ ...chain, "/12": sends("there"), "/loop": redirects("/loop") })
      assert.deepInclude(yield* get(server.url("/2")), { text: "there", url: server.url("/12").href })
      assert.include(yield* refusal(server.url("/1")), "redirects more than 10 times")
      assert.include(yield* refusal(server.url("/loop")), "redirects more than 10 times")
    }).pipe(Effect.provide(web()), Effect.scoped)
  )

  it.live("to another host are told and not followed", () => {
    const { names, resolve } = everyName()
    return Effect.gen(function* () {
      const other = yield* serveWeb({ "/": sends("other") })
      const server = yield* serveWeb({
        "/name": redirects(`http://other.example:${other.port}/`),
        "/port": redirects(other.url("/", "site.example").href),
        "/file": redirects("file:///etc/passwd"),
        "/secret": redirects("http://user:pass@site.example/"),
        "/none": redirects(""),
        "/www": (request, response) => redirects(`http://www.site.example:${server.port}/end`)(request, response),
        "/end": sends("end")
      })
      const url = (path: string) => server.url(path, "site.example")
      const told = yield* refusal(url("/name"))
      assert.include(told, `redirects to another host, which is not followed: http://other.example:${other.port}/.`)
      assert.include(yield* refusal(url("/port")), "is not followed")
      assert.include(yield* refusal(url("/file")), "redirects to an address that cannot be fetched")
      const secret = yield* refusal(url("/secret"))
      assert.notInclude(secret, "pass")
      assert.include(yield* refusal(url("/none")), "redirects")
      assert.strictEqual((yield* get(url("/www"))).text, "end")
      assert.deepStrictEqual(other.asked, [])
      assert.notInclude(names, "other.example")
    }).pipe(Effect.provide(web(local, { resolve })), Effect.scoped)
  })

  it.live("are judged anew, by the settings of the moment and by where the name leads then", () => {
    let allowLocal = true
    const settings = Layer.effect(
      Settings,
      Effect.map(Settings, ({ current, home }) => ({
        home,
        current: Effect.map(current, (value) => ({ ...value, webFetch: { allowLocal } }))
      }))
    ).pipe(Layer.provide(Settings.layerValues()))
    return Effect.gen(function* () {
      const server = yield* serveWeb({
        "/": (request, response) => {
          allowLocal = false
          redirects("/end")(request, response)
        },
        "/end": sends("end")
      })
      assert.include(yield* refusal(server.url("/", "site.example")), "private network, which is not fetched")
      assert.deepStrictEqual(server.asked, ["/"])
    }).pipe(Effect.provide(Layer.provide(Web.layer({}, { resolve: everyName().resolve }), settings)), Effect.scoped)
  })
})

describe("places that are not fetched", () => {
  it.live("this machine and private networks, in every way to write them, and nobody is asked", () =>
    Effect.gen(function* () {
      const server = yield* serveWeb({ "/": sends("secret") })
      const hosts = [
        "127.0.0.1",
        "localhost",
        "127.1",
        "2130706433",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "api.localhost"
      ]
      for (const host of [...hosts, "169.254.169.254", "metadata.google.internal", "intranet", "printer.local"]) {
        assert.include(yield* refusal(server.url("/", host)), "is not fetched", host)
      }
      assert.deepStrictEqual(server.asked, [])
    }).pipe(Effect.provide(web({ allowLocal: false })), Effect.scoped)
  )

  it.live("names that lead there, also by one address of several", () => {
    const addresses: Record<string, ReadonlyArray<string>> = {
      "inner.example": ["127.0.0.1"],
      "both.example": ["93.184.216.34", "10.0.0.1"],
      "mapped.example": ["::ffff:127.0.0.1"],
      "six.example": ["fd00::1"]
    }
    const resolve: Resolver = (name) =>
      Effect.succeed((addresses[name] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 })))
    return Effect.gen(function* () {
      const server = yield* serveWeb({ "/": sends("secret") })
      for (const host of Object.keys(addresses)) {
        assert.include(yield* refusal(server.url("/", host)), "is not fetched", host)
      }
      assert.deepStrictEqual(server.asked, [])
    }).pipe(Effect.provide(web({ allowLocal: false }, { resolve })), Effect.scoped)
  })

  it.live("a name is resolved once: what was checked is what is connected to, and not what it means later", () => {
    let count = 0
    const resolve: Resolver = () =>
      Effect.sync(() => [{ address: count++ === 0 ? "127.0.0.1" : "192.0.2.1", family: 4 }])
    return Effect.gen(function* () {
      const server = yield* serveWeb({ "/": sends("checked") })
      // Nobody but the test knows this name.
      assert.strictEqual((yield* get(server.url("/", "rebound.example"))).text, "checked")
      assert.strictEqual(count, 1)
      assert.strictEqual(server.requests[0]?.headers.host, `rebound.example:${server.port}`)
    }).pipe(Effect.provide(web(local, { resolve })), Effect.scoped)
  })

  it.live("hosts that the settings do not name", () => {
    const { names, resolve } = everyName()
    return Effect.gen(function* () {
      const server = yield* serveWeb({ "/": sends("x") })
      for (const host of ["example.com", "docs.example.com", "DOCS.example.com."]) {
        assert.strictEqual((yield* get(server.url("/", host))).text, "x", host)
      }
      for (const host of ["example.org", "badexample.com", "example.com.evil.org", "127.0.0.1"]) {
        assert.include(yield* refusal(server.url("/", host)), "toolset.web_fetch.allowed_domains", host)
      }
      assert.notInclude(names, "example.org")
    }).pipe(Effect.provide(web({ allowLocal: true, allowedDomains: ["example.com"] }, { resolve })), Effect.scoped)
  })

  it.live("names that nobody knows, with a reason", () => {
    const resolve: Resolver = () => Effect.fail(new Unresolved({ message: "ENOTFOUND" }))
    return Effect.gen(function* () {
      assert.include(yield* refusal(new URL("https://nowhere.example/")), "no address for nowhere.example (ENOTFOUND)")
    }).pipe(Effect.provide(web(local, { resolve })))
  })
})
