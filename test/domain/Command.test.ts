import { assert, describe, it } from "@effect/vitest"
import { commandIn, commandsOf } from "../../src/domain/Command.ts"
import { type Content, text } from "../../src/domain/Content.ts"
import { defaultHarness, findHarness } from "../../src/domain/Harness.ts"

const names = (id: string) => commandsOf(findHarness(id) ?? defaultHarness).map(({ name }) => name)

describe("slash commands", () => {
  it("are those that the harness has a use for", () => {
    assert.deepStrictEqual(names("super-pi-code"), ["undo", "diff", "mcp"])
    assert.deepStrictEqual(names("super-pi-assistant"), ["mcp"])
    assert.deepStrictEqual(names("super-pi-planner"), [])
  })

  const cases: ReadonlyArray<readonly [content: ReadonlyArray<Content>, name: string | undefined]> = [
    [[text("/undo")], "undo"],
    [[text("  /diff \n")], "diff"],
    [[text("/undo please")], undefined],
    [[text("/unknown")], undefined],
    [[text("/undo/all")], undefined],
    [[text("say /undo")], undefined],
    [[text("/undo"), text("x")], undefined],
    [[], undefined]
  ]
  for (const [content, name] of cases) {
    it(`${JSON.stringify(content)} is ${name ?? "no command"}`, () => {
      assert.strictEqual(commandIn(content, defaultHarness), name)
    })
  }
})
