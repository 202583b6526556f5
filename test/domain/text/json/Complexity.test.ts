import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Effect from "effect/Effect"
import * as Complexity from "../../../../src/domain/text/json/Complexity.ts"
import * as JsonRpc from "../../../../src/domain/wire/JsonRpc.ts"
import * as RequestId from "../../../../src/domain/wire/RequestId.ts"

const { depth, values } = Complexity.most

/** Blanks make a message long enough to be looked at. */
const long = (json: string): string => json + " ".repeat(70_000)

const nested = (levels: number, open = "[", close = "]") => open.repeat(levels) + close.repeat(levels)

describe("problemOf", () => {
  for (const [name, json, problem] of [
    ["as deep as may be", nested(depth), undefined],
    ["one level more", nested(depth + 1), "deep"],
    ["objects", nested(depth + 1, '{"a":', "}"), "deep"],
    ["as many values as may be", `[${"1,".repeat(values - 1)}1]`, undefined],
    ["one more", `[${"1,".repeat(values)}1]`, "values"],
    ["many empty arrays", `[${"[],".repeat(values)}1]`, "values"],
    ["brackets and commas in a text", JSON.stringify(nested(depth + 1) + ",".repeat(values + 1)), undefined],
    ["quotes and backslashes in a text", JSON.stringify('"[\\"[\\\\'.repeat(depth + 1)), undefined],
    ["brackets after a text that ends with a backslash", `["\\\\",${nested(depth + 1)}]`, "deep"],
    ["a text without an end", `"${"[".repeat(depth + 1)}`, undefined]
  ] as const) {
    it(`${name}: ${problem ?? "nothing"}`, () => {
      const found = Complexity.problemOf(long(json))
      if (problem === undefined) assert.isUndefined(found)
      else assert.include(found ?? "", problem)
    })
  }

  it.effect.prop("finds nothing wrong with what a JSON value has, whatever its texts are", [Schema.Json], ([value]) =>
    Effect.sync(() => assert.isUndefined(Complexity.problemOf(long(JSON.stringify([value, "[", { "{,": "\\" }])))))
  )

  it("is answered as a message that is none", () => {
    const message = JsonRpc.parseBounded(long(nested(depth + 1)))
    assert.deepInclude(message, { _tag: "Invalid", id: RequestId.nullId, code: -32600 })
    const request = (id: string) => long(`{"jsonrpc":"2.0","id":${id},"method":"x","params":${nested(depth + 1)}}`)
    for (const id of [`"a"`, "12", "-3"]) {
      const message = JsonRpc.parseBounded(request(id))
      assert.deepStrictEqual([message._tag, "id" in message ? String(message.id) : ""], ["Invalid", id])
    }
    assert.deepInclude(JsonRpc.parseBounded(request("[1]")), { _tag: "Invalid", id: RequestId.nullId })
    assert.deepInclude(JsonRpc.parseBounded(`{"jsonrpc":"2.0","id":1,"method":"x"}`), { _tag: "Request" })
  })
})
