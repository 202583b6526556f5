import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { makeAliases, makeNameLimit, makeToolNames } from "../../../../src/services/mcp/tool/McpToolDefinition.ts"

const Pairs = Schema.Array(Schema.Tuple([Schema.String, Schema.String]))

describe("the names of tools", () => {
  it.prop(
    "fit every provider, differ from each other, stay as they are, and name one server only",
    [Pairs],
    ([pairs]) => {
      const aliases = makeAliases()
      const name = makeToolNames()
      const given = new Map<string, string>()
      const servers = [...new Set(pairs.map(([server]) => server))].map((server) => [server, aliases(server)] as const)
      assert.strictEqual(new Set(servers.map(([, alias]) => alias)).size, servers.length)
      for (const [server, alias] of servers) {
        assert.match(alias, /^[a-zA-Z0-9-]+(_[a-zA-Z0-9-]+)*$/)
        for (const tool of new Set(pairs.flatMap(([of, tool]) => (of === server ? [tool] : [])))) {
          const made = name(alias, tool)
          assert.match(made, /^mcp__[a-zA-Z0-9_-]{1,59}$/)
          assert.strictEqual(/^mcp__(.*?)__/.exec(made)?.[1], alias)
          assert.strictEqual(name(alias, tool), made)
          assert.isFalse(given.has(made), made)
          given.set(made, tool)
        }
      }
    }
  )

  it("have an end for a server that always has others, and those that it has go on", () => {
    const mayHave = makeNameLimit(3)
    assert.deepStrictEqual(
      [["a", "b"], ["b", "c"], ["d"], ["a", "c"]].map((names) => mayHave(names)),
      [true, true, false, true]
    )
  })

  it("that are long or odd are told apart", () => {
    const aliases = makeAliases()
    const name = makeToolNames()
    const long = aliases("a".repeat(80))
    assert.deepStrictEqual(
      [long, aliases("a".repeat(90)), aliases("日本"), aliases("")],
      ["a".repeat(30), `${"a".repeat(28)}_2`, "server", "server_2"]
    )
    assert.deepStrictEqual(
      [name("x", "a.b"), name("x", "a b"), name("x", "t".repeat(100)), name("x", "t".repeat(101))],
      ["mcp__x__a_b", "mcp__x__a_b_2", `mcp__x__${"t".repeat(56)}`, `mcp__x__${"t".repeat(54)}_2`]
    )
  })
})
