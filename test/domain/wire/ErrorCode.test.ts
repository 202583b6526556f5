import { assert, describe, it } from "@effect/vitest"
import { methodNotFound, shortName } from "../../../src/domain/wire/ErrorCode.ts"

describe("names of methods in errors", () => {
  it("stay one line of whole characters, whatever the name is (RPC-14)", () => {
    assert.strictEqual(methodNotFound("session/new\n").message, "Method not found: session/new ")
    assert.strictEqual(shortName("a\u2028b\u0000c"), "a b c")
    assert.strictEqual(shortName(`${"x".repeat(99)}😀`), `${"x".repeat(99)}…`)
  })
})
