import { assert, describe, it } from "@effect/vitest"
import { nameProblem } from "../../../src/domain/agent/AgentName.ts"
import { ExecutionMode } from "../../../src/domain/permission/ExecutionMode.ts"

describe("the name of an agent", () => {
  it("is a plain word", () => {
    for (const name of ["a", "Code-Reviewer", "x_1.2", "a..b", "9", "explore", "x".repeat(64)]) {
      assert.isUndefined(nameProblem(name), name)
    }
  })

  it("is no path, no mode, and nothing that a system keeps for itself", () => {
    const bad = ["", ".", "..", "../x", "/etc/x", "a/b", "a\\b", "-x", "_x", ".x", "x.", "ä", "a b", "a\n", "plugin:x"]
    const reserved = [
      ...ExecutionMode.literals,
      "Plan",
      "default",
      "acceptEdits",
      "README",
      "readme.md",
      "CON",
      "nul",
      "com1",
      "LPT9.x"
    ]
    for (const name of [...bad, ...reserved, "x".repeat(65)]) assert.isString(nameProblem(name), JSON.stringify(name))
    assert.match(nameProblem("Ask") ?? "", /something else.*ask-agent/)
  })
})
