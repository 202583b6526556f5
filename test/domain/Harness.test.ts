import { assert, describe, it } from "@effect/vitest"
import { defaultHarness, findHarness, type Harness, harnesses } from "../../src/domain/Harness.ts"

/** Tools that change files or run something. */
const changing = ["write", "edit", "apply_patch", "bash", "bash_output", "bash_stop"]
const reading = ["read", "grep", "glob", "list"]
const notes = ["note_write", "note_search"]

const named = (id: string): Harness => {
  const harness = findHarness(id)
  assert.isDefined(harness)
  return harness ?? defaultHarness
}

const lacks = (harness: Harness, tools: ReadonlyArray<string>) =>
  assert.deepStrictEqual(
    harness.tools.filter((tool) => tools.includes(tool)),
    [],
    harness.id
  )

const has = (harness: Harness, tools: ReadonlyArray<string>) => assert.includeMembers([...harness.tools], [...tools])

describe("Harness", () => {
  it("is found by its name, and each name is used once", () => {
    assert.strictEqual(new Set(harnesses.map(({ id }) => id)).size, harnesses.length)
    for (const harness of harnesses) assert.strictEqual(findHarness(harness.id), harness)
    assert.isUndefined(findHarness("super-pi-hamster"))
  })

  it("says what it is in one line each, and to the model in a few", () => {
    for (const { description, prompt, title, tools } of harnesses) {
      for (const line of [title, description]) assert.match(line, /^\S.*\S$/)
      assert.isBelow(prompt.length, 2000)
      assert.strictEqual(new Set(tools).size, tools.length)
    }
  })

  it("code, the default, changes a repository", () => {
    const code = named("super-pi-code")
    assert.strictEqual(defaultHarness, code)
    has(code, [...changing, ...reading, "todo", "web_fetch"])
    assert.deepInclude(code, { unattended: false, mcp: true, ceiling: "always-approve" })
    lacks(code, notes)
  })

  it("assistant has a person, the web and MCP, and no file system", () => {
    const assistant = named("super-pi-assistant")
    assert.deepStrictEqual(assistant.tools, ["web_fetch", "ask_user", "todo"])
    assert.deepInclude(assistant, { unattended: false, mcp: true })
  })

  it("librarian reads and remembers, with nobody present", () => {
    const librarian = named("super-pi-librarian")
    assert.isTrue(librarian.unattended)
    has(librarian, [...reading, ...notes])
    lacks(librarian, [...changing, "ask_user", "web_fetch"])
  })

  it("planner can change nothing in any mode, and may ask", () => {
    const planner = named("super-pi-planner")
    assert.deepInclude(planner, { ceiling: "plan", mcp: false, sandbox: "read-only", unattended: false })
    lacks(planner, [...changing, "note_write", "web_fetch"])
    has(planner, [...reading, "ask_user", "todo"])
  })
})
