import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as ThinkTags from "../../../src/services/models/provider/ThinkTags.ts"

const split = (deltas: ReadonlyArray<string>) => {
  let state = ThinkTags.initial
  const pieces: Array<ThinkTags.Piece> = []
  for (const delta of deltas) {
    const [next, more] = ThinkTags.step(state, delta)
    state = next
    pieces.push(...more)
  }
  pieces.push(...ThinkTags.finish(state))
  const join = (thought: boolean) =>
    pieces
      .filter((piece) => piece.thought === thought)
      .map(({ text }) => text)
      .join("")
  return { pieces, thought: join(true), text: join(false) }
}

/** The same over the whole text, by a pattern. */
const oracle = (whole: string) => {
  const [, thought = "", closed, text = ""] = /^\s*<think>\s*([\s\S]*?)(?:(<\/think>)\s*([\s\S]*))?$/.exec(whole) ?? []
  if (!/^\s*<think>/.test(whole)) return { thought: "", text: whole }
  return closed === undefined ? { thought, text: "" } : { thought, text }
}

const tokens = Schema.Literals([
  "<think>",
  "</think>",
  "<",
  "</",
  "think>",
  ">",
  "a",
  "b c",
  " ",
  "\n",
  "\n\n",
  "<thin",
  "</thinker>"
])
const texts = Arbitrary.map(Arbitrary.array(Arbitrary.schema(tokens), { maxLength: 12 }), (parts) => parts.join(""))
const thinking = Arbitrary.map(texts, (text) => `\n<think>${text}`)
const cuts = Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))), {
  maxLength: 60
})

const chop = (text: string, sizes: ReadonlyArray<number>): ReadonlyArray<string> => {
  const deltas: Array<string> = []
  let at = 0
  for (const size of sizes) {
    deltas.push(text.slice(at, at + size))
    at += size
  }
  return [...deltas, text.slice(at)]
}

describe("thoughts in tags", () => {
  it.prop(
    "are found in any text and any cut, and no piece is empty",
    [texts, cuts],
    ([text, sizes]) => {
      const { pieces, ...found } = split(chop(text, sizes))
      assert.deepStrictEqual(found, oracle(text))
      assert.isTrue(pieces.every((piece) => piece.text !== ""))
    },
    { arbitrary: { runs: 400 } }
  )

  it.prop(
    "are found in any thought and any cut",
    [thinking, cuts],
    ([text, sizes]) => {
      const { thought, text: rest } = split(chop(text, sizes))
      assert.deepStrictEqual({ thought, text: rest }, oracle(text))
    },
    { arbitrary: { runs: 400 } }
  )

  it("stay in the text when the answer does not begin with them", () => {
    assert.strictEqual(split(["Use <think>", " and </think>."]).text, "Use <think> and </think>.")
  })

  it("come as they are produced", () => {
    const [, pieces] = ThinkTags.step(ThinkTags.initial, "<think>one two")
    assert.deepStrictEqual(pieces, [{ thought: true, text: "one two" }])
  })
})
