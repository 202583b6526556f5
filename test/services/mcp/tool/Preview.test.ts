import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { previewOf } from "../../../../src/services/mcp/tool/Preview.ts"
import { textOf } from "../../../support/toolbox.ts"

const shown = (input: Readonly<Record<string, Schema.Json>>) => textOf(previewOf(input))

describe("the arguments of a call", () => {
  it("are shown as JSON, without what looks like a secret", () => {
    assert.strictEqual(shown({ a: 1, b: ["x"] }), '{\n  "a": 1,\n  "b": [\n    "x"\n  ]\n}')
    assert.deepStrictEqual(previewOf({}), [])
    for (const [input, secret] of [
      [{ password: "hunter2" }, "hunter2"],
      [{ deep: [{ api_key: "k-1" }] }, "k-1"],
      [{ apiKeys: 1, access_token: "abc" }, "abc"],
      [{ secret: ["one", "two"] }, "two"],
      [{ pin_secret: 4711 }, "4711"],
      [{ note: `use sk-ant-${"abcdefghij".repeat(2)} please` }, "abcdefghij"],
      [{ note: "ghp_abcdefghijklmnopqrstuvwx0123" }, "ghp_"],
      [{ header: "Bearer abcdefgh12345" }, "abcdefgh12345"],
      [{ note: "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln" }, "eyJhbG"],
      [{ pem: "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----" }, "MIIE"]
    ] as const) {
      assert.notInclude(shown(input), secret)
      assert.include(shown(input), "<redacted>")
    }
    assert.include(shown({ path: "/etc/tokens.txt", tokens: 100 }), "/etc/tokens.txt")
  })

  it.prop("are bounded and well formed, whatever they are", [Schema.Record(Schema.String, Schema.Json)], ([input]) => {
    const text = shown(input)
    assert.isBelow(text.length, 10_100)
    assert.isTrue(text.isWellFormed() || !JSON.stringify(input).isWellFormed())
  })

  it("that are long are cut, with how much there is", () => {
    assert.include(shown({ a: "x".repeat(50_000) }), "… (50000 characters)")
    assert.include(
      shown(Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`k${n}`, "v".repeat(20)]))),
      "more characters"
    )
  })
})
