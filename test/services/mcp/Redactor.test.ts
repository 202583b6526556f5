import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import * as Redactor from "../../../src/services/mcp/Redactor.ts"

describe("Redactor", () => {
  it("keeps what an address and headers say in confidence out of problems", () => {
    const redactor = Redactor.makeFor({
      _tag: "Http",
      name: "remote",
      url: "https://ada:pass+word1@example.org/mcp?key=from%20the%20query&v=2",
      headers: [{ name: "Authorization", value: Redacted.make("Bearer of-the-header") }]
    })
    const echoed = "GET /mcp?key=from%20the%20query&v=2, key = from the query, pass+word1, of-the-header"
    assert.strictEqual(
      redactor.problem({ message: echoed }),
      "GET /mcp?key=<redacted>&v=2, key = <redacted>, <redacted>, <redacted>"
    )
    assert.strictEqual(redactor.strict("https://example.org/mcp"), "https://example.org/mcp")
  })

  it("takes an address that is none", () => {
    const redactor = Redactor.makeFor({ _tag: "Http", name: "remote", url: "no address", headers: [] })
    assert.strictEqual(redactor.strict("no address"), "no address")
  })
})
