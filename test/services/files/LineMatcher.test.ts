import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { makeLineMatcher } from "../../../src/services/files/search/LineMatcher.ts"

describe("a line matcher", () => {
  it.effect("gives the places of the lines that match, over any number of lines", () =>
    Effect.gen(function* () {
      const lines = Array.from({ length: 2_500 }, (_, at) => (at % 500 === 0 ? "here" : "there is none"))
      assert.deepStrictEqual(yield* makeLineMatcher(/^here$/)(lines), [0, 500, 1_000, 1_500, 2_000])
    })
  )

  it.live("stops an expression that backtracks without end, and says what to do (F23)", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(makeLineMatcher(/(x+x+)+y/)(["x".repeat(2_000)]))
      assert.include(message, "write a simpler one")
    })
  )
})
