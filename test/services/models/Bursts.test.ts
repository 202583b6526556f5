import { assert, describe, it } from "@effect/vitest"
import type * as Response from "effect/ai/Response"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { mergeBurst } from "../../../src/services/models/provider/Bursts.ts"

type Part = Response.StreamPartEncoded

const Generated = Schema.Struct({
  type: Schema.Literals(["text-start", "text-delta", "text-end", "reasoning-delta", "tool-params-delta"]),
  id: Schema.Literals(["1", "2"]),
  delta: Schema.String.check(Schema.isPattern(/^[a-c]{1,3}$/))
})
const part = ({ delta, id, type }: typeof Generated.Type): Part =>
  type === "text-start" || type === "text-end" ? { type, id } : { type, id, delta }

/** One letter a line, with the block that it belongs to: what must not change. */
const spelled = (parts: ReadonlyArray<Part>): ReadonlyArray<string> =>
  parts.flatMap((part) =>
    "delta" in part ? Array.from(part.delta, (letter) => `${part.type} ${part.id} ${letter}`) : [part.type]
  )

describe("bursts", () => {
  it.prop(
    "say the same in the same order",
    [Arbitrary.array(Arbitrary.schema(Generated), { minLength: 1, maxLength: 30 })],
    ([generated]) => {
      const [first, ...rest] = generated.map(part)
      if (first === undefined) return
      assert.deepStrictEqual(spelled(mergeBurst([first, ...rest])), spelled([first, ...rest]))
    }
  )

  it("join the deltas of a block but leave its first one alone", () => {
    const delta = (text: string): Part => ({ type: "text-delta", id: "1", delta: text })
    const merged = mergeBurst([{ type: "text-start", id: "1" }, delta("a"), delta("b"), delta("c")])
    assert.deepStrictEqual(merged, [{ type: "text-start", id: "1" }, delta("a"), delta("bc")])
  })

  it("stop at about two thousand characters", () => {
    const delta = (): Part => ({ type: "text-delta", id: "1", delta: "x".repeat(100) })
    const merged = mergeBurst([delta(), ...Array.from({ length: 99 }, delta)])
    assert.deepStrictEqual(
      merged.map((part) => ("delta" in part ? part.delta.length : 0)),
      [2100, 2100, 2100, 2100, 1600]
    )
  })
})
