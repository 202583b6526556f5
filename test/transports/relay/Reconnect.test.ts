import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { reconnect } from "../../../src/transports/relay/Reconnect.ts"

/** The waits of as many failures in a row. */
const waits = Effect.fnUntraced(function* (failures: number) {
  const step = yield* Schedule.toStep(reconnect)
  const found: Array<number> = []
  for (let at = 0; at < failures; at++) {
    const [, wait] = yield* Effect.orDie(step(0, undefined))
    found.push(Duration.toSeconds(wait))
  }
  return found
})

describe("reconnect", () => {
  it.live("waits 2 seconds, doubling to 60, by a fifth more or less, and never gives up", () =>
    Effect.gen(function* () {
      for (const [at, wait] of (yield* waits(2_000)).entries()) {
        const meant = Math.min(60, 2 * 2 ** at)
        assert.isAtLeast(wait, meant * 0.8 - 1e-6)
        assert.isAtMost(wait, meant * 1.2 + 1e-6)
      }
    })
  )

  it.live("differs from agent to agent", () =>
    Effect.gen(function* () {
      assert.notDeepEqual(yield* waits(5), yield* waits(5))
    })
  )
})
