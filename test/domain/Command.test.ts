import { assert, describe, it } from "@effect/vitest"
import { builtInsOf } from "../../src/domain/BuiltInCommands.ts"
import { typedIn } from "../../src/domain/Command.ts"
import { type Content, text } from "../../src/domain/Content.ts"
import { defaultHarness, findHarness } from "../../src/domain/Harness.ts"

const names = (id: string) => builtInsOf(findHarness(id) ?? defaultHarness).map(({ name }) => name)

describe("built-in commands", () => {
  it("are those that the harness has a use for", () => {
    assert.strictEqual(
      names("super-pi-code").join(" "),
      "help status model mode effort context cost compact clear undo diff mcp permissions agents init export review"
    )
    assert.notIncludeMembers<string>(names("super-pi-assistant"), ["undo", "diff", "init", "review"])
    assert.include(names("super-pi-assistant"), "mcp")
    assert.notIncludeMembers<string>(names("super-pi-planner"), ["undo", "diff", "mcp", "init", "review"])
  })
})

describe("a prompt", () => {
  const cases: ReadonlyArray<readonly [content: ReadonlyArray<Content>, typed: string | undefined]> = [
    [[text("/undo")], "undo|"],
    [[text("  /diff \n")], "diff|"],
    [[text("/undo please ")], "undo|please"],
    [[text("/git:commit  -m 'a b'\nand more\n")], "git:commit|-m 'a b'\nand more"],
    [[text("/mcp__every__a_prompt x=1")], "mcp__every__a_prompt|x=1"],
    [[text("/usr/bin is a path")], undefined],
    [[text("/")], undefined],
    [[text("/ x")], undefined],
    [[text("say /undo")], undefined],
    [[text("x"), text("/undo")], undefined],
    [[{ type: "resource_link", uri: "file:///a", name: "a" }, text("/undo")], undefined],
    [[], undefined]
  ]
  for (const [content, expected] of cases) {
    it(`${JSON.stringify(content)} names ${expected ?? "no command"}`, () => {
      const typed = typedIn(content)
      assert.strictEqual(typed && `${typed.name}|${typed.input}`, expected)
    })
  }

  it("keeps what came with a command", () => {
    const link: Content = { type: "resource_link", uri: "file:///a", name: "a" }
    assert.deepStrictEqual(typedIn([text("/review "), link]), { name: "review", input: "", rest: [link] })
  })
})
