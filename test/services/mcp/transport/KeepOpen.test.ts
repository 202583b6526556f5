import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { keepOpen } from "../../../../src/services/mcp/transport/KeepOpen.ts"
import { McpFailed } from "../../../../src/services/mcp/transport/McpTransport.ts"

/** When `once` was begun, in seconds, within the time. */
const begun = (once: Effect.Effect<unknown, McpFailed>, within: Duration.Input) =>
  Effect.gen(function* () {
    const times: Array<number> = []
    const noted = Effect.andThen(
      Effect.map(Clock.currentTimeMillis, (now) => times.push(now / 1_000)),
      once
    )
    const fiber = yield* Effect.forkChild(keepOpen(noted), { startImmediately: true })
    yield* TestClock.adjust(within)
    const hasEnded = fiber.pollUnsafe() !== undefined
    yield* Fiber.interrupt(fiber)
    return { hasEnded, times }
  })

describe("a stream that is kept open", () => {
  for (const [name, failure] of [
    ["a method that there is not", new McpFailed({ message: "no", code: -32601 })],
    ["any other error of the protocol", new McpFailed({ message: "no", code: -32000 })],
    ["what is final", new McpFailed({ message: "no", reason: "final" })],
    ["a transport that there is not", new McpFailed({ message: "no", reason: "mismatch" })]
  ] as const) {
    it.effect(`is refused once by ${name}, and not asked for again`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* begun(Effect.fail(failure), "1 hour"), { hasEnded: true, times: [0] })
      })
    )
  }

  it.effect("is asked for ever more rarely when it ends at once", () =>
    Effect.gen(function* () {
      const { hasEnded, times } = yield* begun(Effect.void, "5 minutes")
      assert.isFalse(hasEnded)
      assert.deepStrictEqual(times, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
    })
  )

  it.effect("is opened again soon when it had held", () =>
    Effect.gen(function* () {
      const { times } = yield* begun(Effect.sleep("10 seconds"), "1 minute")
      assert.deepStrictEqual(times, [0, 11, 22, 33, 44, 55])
    })
  )

  it.effect("is left alone after five failures in a row that say nothing", () =>
    Effect.gen(function* () {
      const { hasEnded, times } = yield* begun(Effect.fail(new McpFailed({ message: "HTTP status 500" })), "1 hour")
      assert.isTrue(hasEnded)
      assert.deepStrictEqual(times, [0, 1, 3, 7, 15])
    })
  )
})
