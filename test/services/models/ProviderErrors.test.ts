/** What becomes of a provider's failures: typed, with status and pause, readable, and without the key. */
import { assert, describe, it } from "@effect/vitest"
import type * as AiError from "effect/ai/AiError"
import * as Arbitrary from "effect/Arbitrary"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { CONTEXT_OVERFLOW } from "../../../src/services/models/provider/ProviderFailure.ts"
import { ask, kinds, openModel, streamOf, textOf, type OpenOptions } from "../../support/provider/OpenModel.ts"
import * as ProviderServer from "../../support/ProviderServer.ts"

const failureOf = Effect.fnUntraced(function* (
  kind: ProviderServer.DialectName,
  reply: ProviderServer.Reply,
  options?: OpenOptions
) {
  const server = yield* ProviderServer.start
  const model = yield* openModel(kind, server, options)
  server.answer(reply)
  return yield* Effect.flip(ask(model, "hi"))
})

const statusOf = ({ reason }: AiError.AiError): number | undefined =>
  "http" in reason ? reason.http?.response?.status : undefined

describe.each(kinds)("failures of kind %s", (kind) => {
  it.effect("401: the key is wrong, and trying again is useless", () =>
    Effect.gen(function* () {
      const error = yield* failureOf(kind, { status: 401, message: "invalid x-api-key" })
      assert.strictEqual(error.reason._tag, "AuthenticationError")
      assert.strictEqual(statusOf(error), 401)
      assert.isFalse(error.isRetryable)
      assert.include(error.message, "invalid x-api-key")
    })
  )

  it.effect("429: the rate limit, with the pause that the provider wishes", () =>
    Effect.gen(function* () {
      const error = yield* failureOf(kind, { status: 429, message: "slow down", headers: { "retry-after": "7" } })
      assert.strictEqual(error.reason._tag, "RateLimitError")
      assert.strictEqual(statusOf(error), 429)
      assert.deepStrictEqual(error.retryAfter, Duration.seconds(7))
      assert.isTrue(error.isRetryable)
    })
  )

  it.effect("429 for want of credit is no rate limit", () =>
    Effect.gen(function* () {
      const error = yield* failureOf(kind, { status: 429, message: "insufficient_quota: add credit" })
      assert.strictEqual(error.reason._tag, "QuotaExhaustedError")
      assert.isFalse(error.isRetryable)
    })
  )

  it.effect("529: overloaded, worth another try", () =>
    Effect.gen(function* () {
      const error = yield* failureOf(kind, { status: 529, message: "Overloaded" })
      assert.strictEqual(error.reason._tag, "InternalProviderError")
      assert.strictEqual(statusOf(error), 529)
      assert.isTrue(error.isRetryable)
    })
  )

  it.effect("400 for a conversation that is too long is told apart", () =>
    Effect.gen(function* () {
      const long = yield* failureOf(kind, { status: 400, message: ProviderServer.dialects[kind].overflow })
      assert.strictEqual(long.reason._tag, "InvalidRequestError")
      assert.strictEqual(long.reason._tag === "InvalidRequestError" && long.reason.constraint, CONTEXT_OVERFLOW)
    })
  )

  it.effect("404 names what to check", () =>
    Effect.gen(function* () {
      const error = yield* failureOf(kind, { status: 404, message: "model: nope" })
      assert.strictEqual(error.reason._tag, "InvalidRequestError")
      assert.include(error.message, "base URL")
      assert.include(error.message, "127.0.0.1")
    })
  )

  it.effect("a redirect is not followed, so that the key stays here, and is said to be one", () =>
    Effect.gen(function* () {
      const elsewhere = yield* ProviderServer.start
      const error = yield* failureOf(kind, {
        status: 307,
        message: "over there",
        headers: { location: `${elsewhere.origin}/v1/messages` }
      })
      assert.strictEqual(error.reason._tag, "NetworkError")
      assert.isFalse(error.isRetryable)
      assert.include(error.message, "HTTP status 307")
      assert.deepStrictEqual(elsewhere.seen(), [])
    })
  )

  it.effect("an answer without end is cut off, whatever it consists of", () =>
    Effect.gen(function* () {
      const text = "x".repeat(1024 * 1024)
      const spoken = yield* failureOf(kind, { pieces: Array.from({ length: 17 }, () => ({ text })) })
      assert.strictEqual(spoken.reason._tag, "InvalidOutputError")
      assert.include(spoken.message, "did not stop: its answer has more than 16777216 characters")
      const refused = yield* failureOf(kind, { status: 200, message: text.repeat(17) })
      assert.include(refused.message, "the answer has more than 16 MiB")
    })
  )

  it.effect("an error under a status of success is told, and is not tried again", () =>
    Effect.gen(function* () {
      const error = yield* failureOf(kind, { status: 200, message: "no credit left" })
      assert.include(error.message, "no credit left")
      assert.isFalse(error.isRetryable)
    })
  )

  it.effect("an error in mid-stream fails after the text that came before it", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      server.answer({ pieces: [{ text: "partly" }], then: "overloaded" })
      const seen: Array<{ readonly type: string; readonly delta?: string }> = []
      const error = yield* streamOf(model, "hi").pipe(
        Stream.runForEach((part) => Effect.sync(() => seen.push(part))),
        Effect.flip
      )
      assert.strictEqual(textOf(seen), "partly")
      assert.strictEqual(error.reason._tag, "InternalProviderError")
      assert.isTrue(error.isRetryable)
      assert.match(error.message, /overloaded/i)
    })
  )

  it.effect.each(["end", "cut"] as const)("a stream that stops early (%s) is a failure, not an end", (then) =>
    Effect.gen(function* () {
      const error = yield* failureOf(kind, { pieces: [{ text: "partly" }], then })
      assert.strictEqual(error.reason._tag, "NetworkError")
      assert.isTrue(error.isRetryable)
    })
  )

  it.effect("a stream without a word is a failure, too", () =>
    Effect.gen(function* () {
      const error = yield* failureOf(kind, { pieces: [], then: "end" })
      assert.strictEqual(error.reason._tag, "NetworkError")
    })
  )

  it.effect("silence ends after the idle time, however long the server holds the line", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      server.answer({ silent: true })
      const fiber = yield* Effect.forkChild(Effect.flip(ask(model, "hi")))
      yield* server.arrived
      yield* TestClock.adjust("9 minutes")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 minutes")
      const error = yield* Fiber.join(fiber)
      assert.strictEqual(error.reason._tag, "NetworkError")
      assert.include(error.message, "10m")
      yield* server.abandoned
    })
  )

  it.effect("bytes start the idle time anew", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      const seen = yield* Queue.unbounded<string>()
      server.answer({ pieces: [{ text: "one" }], then: "hang" })
      const fiber = yield* streamOf(model, "hi").pipe(
        Stream.runForEach((part) => (part.type === "text-delta" ? Queue.offer(seen, part.delta) : Effect.void)),
        Effect.flip,
        Effect.forkChild
      )
      assert.strictEqual(yield* Queue.take(seen), "one")
      yield* TestClock.adjust("9 minutes")
      server.add({ text: "two" })
      assert.strictEqual(yield* Queue.take(seen), "two")
      yield* TestClock.adjust("9 minutes")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 minutes")
      assert.strictEqual((yield* Fiber.join(fiber)).reason._tag, "NetworkError")
    })
  )

  it.effect("a reader that takes its time is not the provider's silence", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server)
      const seen = yield* Queue.unbounded<string>()
      const go = yield* Deferred.make<void>()
      server.answer({ pieces: Array.from({ length: 5000 }, (_, index) => ({ text: `${index} ` })) })
      const fiber = yield* streamOf(model, "hi").pipe(
        Stream.runForEach((part) =>
          part.type === "text-delta" ? Effect.andThen(Queue.offer(seen, part.delta), Deferred.await(go)) : Effect.void
        ),
        Effect.forkChild
      )
      const first = yield* Queue.take(seen)
      yield* TestClock.adjust("1 days")
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(fiber)
      const text = first + (yield* Queue.clear(seen)).join("")
      assert.strictEqual(text, Array.from({ length: 5000 }, (_, index) => `${index} `).join(""))
    })
  )

  it.effect("a server that is not there is a network failure that says where", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const model = yield* openModel(kind, server, { baseUrl: "http://127.0.0.1:1/v1" })
      const error = yield* Effect.flip(ask(model, "hi"))
      assert.strictEqual(error.reason._tag, "NetworkError")
      assert.include(error.message, "127.0.0.1:1")
      assert.isTrue(error.isRetryable)
    })
  )

  const keys = Arbitrary.filter(
    Arbitrary.schema(Schema.String.check(Schema.isPattern(/^[!-~]{12,60}$/))),
    (key) => !/^\d+$/.test(key)
  )
  it.effect.prop(
    "no key in any error, whatever the provider says",
    [keys, Arbitrary.schema(Schema.Literals([400, 401, 403, 404, 429, 500]))],
    ([key, status]) =>
      Effect.gen(function* () {
        const error = yield* failureOf(kind, { status, message: `Incorrect API key provided: ${key}.` }, { key })
        const shown = [error.message, JSON.stringify(error), String(error.stack), JSON.stringify(error.reason)].join(
          "\n"
        )
        assert.notInclude(shown, key)
        assert.notInclude(shown, JSON.stringify(key).slice(1, -1))
        assert.include(shown, "[key]")
      }),
    { arbitrary: { runs: 12 } }
  )
})

describe("keys that are no header", () => {
  it.effect.each(kinds)("are refused before the request, and not shown: %s", (kind) =>
    Effect.gen(function* () {
      const error = yield* failureOf(kind, { status: 500, message: "unused" }, { key: "sk-with a\nnew line-😀" })
      assert.notInclude(`${error.message} ${JSON.stringify(error)}`, "sk-with a")
    })
  )
})
