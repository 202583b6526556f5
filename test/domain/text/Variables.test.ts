import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { expand, variablesIn } from "../../../src/domain/text/Variables.ts"

const environment: Readonly<Record<string, string>> = { TOKEN: "t-1", EMPTY: "", NESTED: "${TOKEN}" }
const valueOf = (name: string) => environment[name]

describe("variables in settings", () => {
  for (const [text, expected, missing] of [
    ["plain $TOKEN $(TOKEN)", "plain $TOKEN $(TOKEN)", []],
    ["Bearer ${TOKEN}", "Bearer t-1", []],
    ["${env:TOKEN}", "t-1", []],
    ["${TOKEN:-other}${TOKEN}", "t-1t-1", []],
    ["${NOT_SET:-https://example.org:8080/a}", "https://example.org:8080/a", []],
    ["${NOT_SET:-}", "", []],
    ["[${EMPTY}]", "[]", []],
    ["${EMPTY:-full}", "full", []],
    ["${NESTED}", "${TOKEN}", []],
    ["${NOT_SET}/${TOKEN}/${OTHER}", "${NOT_SET}/t-1/${OTHER}", ["NOT_SET", "OTHER"]],
    ["${input:token} ${1} ${}", "${input:token} ${1} ${}", []]
  ] as const) {
    it(`${text} becomes ${expected}`, () => {
      const expansion = expand(text, valueOf)
      assert.strictEqual(expansion.text, expected)
      assert.deepStrictEqual(expansion.missing, [...missing])
    })
  }

  it("says what was read, once for each place, and no default", () => {
    assert.deepStrictEqual(expand("${TOKEN:-x} ${env:EMPTY} ${NOT_SET:-y}", valueOf).read, [
      { name: "TOKEN", value: "t-1" },
      { name: "EMPTY", value: "" }
    ])
    assert.deepStrictEqual(variablesIn("${A} ${env:B:-x} ${A} $C"), ["A", "B"])
  })

  it.prop("a text without a reference stays as it is", [Schema.String], ([text]) => {
    const plain = text.replaceAll("${", "$ {")
    assert.deepStrictEqual(expand(plain, valueOf), { text: plain, read: [], missing: [] })
  })
})
