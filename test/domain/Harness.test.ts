import { assert, describe, it } from "@effect/vitest"
import { defaultHarness, findHarness, type Harness, harnesses, type ToolName } from "../../src/domain/Harness.ts"

const changing: ReadonlySet<ToolName> = new Set(["write", "edit", "bash"])
const files: ReadonlySet<ToolName> = new Set([...changing, "read", "grep", "glob", "list"])

const named = (id: string): Harness => {
  const harness = findHarness(id)
  assert.isDefined(harness)
  return harness ?? defaultHarness
}

const uses = (harness: Harness, tools: ReadonlySet<ToolName>) => harness.tools.some((tool) => tools.has(tool))

describe("Harness", () => {
  it("is found by its name, and each name is used once", () => {
    assert.strictEqual(new Set(harnesses.map(({ id }) => id)).size, harnesses.length)
    for (const harness of harnesses) assert.strictEqual(findHarness(harness.id), harness)
    assert.isUndefined(findHarness("super-pi-hamster"))
  })

  it("says what it is in one line each, and to the model in a few", () => {
    for (const { description, prompt, title } of harnesses) {
      for (const line of [title, description]) assert.match(line, /^\S.*\S$/)
      assert.isBelow(prompt.length, 2000)
    }
  })

  it("code, the default, changes a repository", () => {
    const code = named("super-pi-code")
    assert.strictEqual(defaultHarness, code)
    assert.isTrue(uses(code, changing))
    assert.isFalse(code.unattended)
  })

  it("assistant touches no files and runs no commands", () => {
    const assistant = named("super-pi-assistant")
    assert.isFalse(uses(assistant, files))
    assert.isTrue(assistant.mcp)
  })

  it("librarian reads, with nobody present", () => {
    const librarian = named("super-pi-librarian")
    assert.isTrue(librarian.unattended)
    assert.isFalse(uses(librarian, changing))
  })

  it("planner can change nothing in any mode", () => {
    const planner = named("super-pi-planner")
    assert.strictEqual(planner.ceiling, "plan")
    assert.isFalse(uses(planner, changing))
    assert.isFalse(planner.mcp)
  })
})
