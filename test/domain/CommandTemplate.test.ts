import { assert, describe, it } from "@effect/vitest"
import { expand, wordsOf } from "../../src/domain/CommandTemplate.ts"

describe("words", () => {
  const cases: ReadonlyArray<readonly [input: string, words: ReadonlyArray<string>]> = [
    ["", []],
    ["  a  b\nc ", ["a", "b", "c"]],
    [`"a b" 'c d' e`, ["a b", "c d", "e"]],
    [`x="a b"c`, ["x=a bc"]],
    ["don't stop", ["don't", "stop"]],
    [String.raw`a\ b \"c`, ["a b", '"c']],
    [`'a\\b' "a\\"b"`, ["a\\b", 'a"b']],
    [`""`, [""]],
    ["'open end", ["open end"]]
  ]
  for (const [input, words] of cases) {
    it(`of ${JSON.stringify(input)}`, () => assert.deepStrictEqual(wordsOf(input), words))
  }
})

describe("a template", () => {
  const cases: ReadonlyArray<readonly [template: string, input: string, text: string]> = [
    ["Fix $ARGUMENTS now", "a 'b c'", "Fix a 'b c' now"],
    ["$1 then $2, not $3.", "a 'b c'", "a then b c, not ."],
    ["$2 $1 $10", "a b", "b a "],
    ["$100 and $0 and $ARGUMENTSX", "a", "$100 and $0 and $ARGUMENTSX\n\nArguments: a"],
    [String.raw`\$1 is $1`, "a", "$1 is a"],
    ["Look around.\n", "", "Look around."],
    ["Look around.\n", "there", "Look around.\n\nArguments: there"],
    ["$1", "$ARGUMENTS $1", "$ARGUMENTS"],
    ["!`rm -rf /` @file", "", "!`rm -rf /` @file"]
  ]
  for (const [template, input, text] of cases) {
    it(`${JSON.stringify(template)} with ${JSON.stringify(input)}`, () => {
      assert.strictEqual(expand(template, input).trimEnd(), text.trimEnd())
    })
  }
})
