import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { clip, whole } from "../../../src/domain/text/Clip.ts"

const Limit = Schema.Int.check(Schema.isBetween({ minimum: -1, maximum: 12 }))

describe("clip", () => {
  for (const [text, limit, expected] of [
    ["abc", 3, "abc"],
    ["abcd", 3, "abc"],
    ["ab🎉", 3, "ab"],
    ["ab🎉", 4, "ab🎉"],
    ["🎉🎉", 1, ""],
    ["🎉🎉", 2, "🎉"],
    ["🎉🎉", 3, "🎉"],
    ["", 0, ""],
    ["a", 0, ""],
    ["a", -1, ""]
  ] as const) {
    it(`${JSON.stringify(text)} in ${limit} is ${JSON.stringify(expected)}`, () => {
      assert.strictEqual(clip(text, limit), expected)
    })
  }

  it("leaves a text that is short enough as it is, whatever it is", () => {
    assert.strictEqual(clip("a\ud83c", 2), "a\ud83c")
    assert.strictEqual(whole("a\ud83c"), "a")
  })

  it.prop(
    "gives a beginning that is as long as it may be, and as well formed as the text",
    [Schema.Array(Schema.Literals(["a", "é", "🎉", "𝔘", "\n"])), Limit],
    ([parts, limit]) => {
      const text = parts.join("")
      const clipped = clip(text, limit)
      assert.isTrue(text.startsWith(clipped))
      assert.isTrue(clipped.isWellFormed())
      assert.isAtMost(clipped.length, Math.max(limit, 0))
      assert.isAtLeast(clipped.length, Math.min(text.length, limit - 1))
    }
  )
})
