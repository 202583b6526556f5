/** A sign-in in a browser, with a service on this machine that checks what RFC 7636 wants to be checked. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { createHash } from "node:crypto"
import { createServer } from "node:http"
import { connect } from "node:net"
import { type BrowserService, signIn } from "../../../src/services/auth/BrowserSignIn.ts"
import { direct } from "../../../src/services/models/GetJson.ts"

const key = "sk-or-0123456789"

/** Gives the key for `code` to whoever knows the verifier of the challenge. */
const service = Effect.acquireRelease(
  Effect.callback<{ readonly urls: BrowserService; challenge: string; readonly close: () => void }>((resume) => {
    const state = { challenge: "" }
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const { code, code_challenge_method, code_verifier } = JSON.parse(Buffer.concat(chunks).toString())
        const hash = createHash("sha256").update(String(code_verifier)).digest("base64url")
        const isGood = code === "the-code" && code_challenge_method === "S256" && hash === state.challenge
        response.writeHead(isGood ? 200 : 403, { "content-type": "application/json" })
        response.end(JSON.stringify(isGood ? { key } : { error: { message: "no" } }))
      })
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const origin = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
      const urls = { authorizeUrl: `${origin}/auth`, exchangeUrl: `${origin}/keys` }
      resume(Effect.succeed(Object.assign(state, { urls, close: () => server.close() })))
    })
  }),
  ({ close }) => Effect.sync(close)
)

/** What a browser would do. */
const visit = (url: string) =>
  Effect.tryPromise((signal) =>
    direct(url, { method: "GET", headers: {}, body: null, redirect: "manual", signal })
  ).pipe(Effect.map(({ status }) => status))

/** Begins to sign in, and what the person is shown. */
const begin = Effect.gen(function* () {
  const at = yield* service
  const shown = yield* Deferred.make<URL>()
  const fiber = yield* Effect.forkChild(
    signIn(at.urls, direct, (url) => Effect.asVoid(Deferred.succeed(shown, new URL(url))))
  )
  const { searchParams } = yield* Deferred.await(shown)
  at.challenge = searchParams.get("code_challenge") ?? ""
  assert.strictEqual(searchParams.get("code_challenge_method"), "S256")
  const back = searchParams.get("callback_url") ?? ""
  assert.match(back, /^http:\/\/localhost:\d+\/[\w-]{22}$/)
  return { fiber, back: back.replace("localhost", "127.0.0.1") }
})

describe("a sign-in in the browser", () => {
  it.live("gives the key that belongs to the code that comes back, and listens no longer", () =>
    Effect.gen(function* () {
      const { back, fiber } = yield* begin
      for (const wrong of [new URL("/?code=the-code", back).href, `${back}?error=denied`, `${back}x?code=the-code`]) {
        assert.strictEqual(yield* visit(wrong), 404)
      }
      assert.strictEqual(yield* visit(`${back}?code=the-code`), 200)
      assert.strictEqual(Redacted.value(yield* Fiber.join(fiber)), key)
      assert.strictEqual((yield* Effect.exit(visit(back)))._tag, "Failure")
    })
  )

  it.live("leaves no connection open that has no whole request", () =>
    Effect.gen(function* () {
      const { back, fiber } = yield* begin
      const closed = yield* Deferred.make<void>()
      const socket = connect(Number(new URL(back).port), "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\nx: "))
      socket.on("error", () => {})
      socket.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
      yield* visit(`${back}?code=the-code`)
      yield* Fiber.join(fiber)
      yield* Deferred.await(closed)
    })
  )

  it.live("says so when the code is not taken", () =>
    Effect.gen(function* () {
      const { back, fiber } = yield* begin
      yield* visit(`${back}?code=another`)
      assert.match((yield* Effect.flip(Fiber.join(fiber))).message, /refuses the request \(403\)/)
    })
  )

  it.effect("does not wait for ever", () =>
    Effect.gen(function* () {
      const { fiber } = yield* begin
      yield* TestClock.adjust("10 minutes")
      assert.match((yield* Effect.flip(Fiber.join(fiber))).message, /Nobody signed in within/)
    })
  )
})
