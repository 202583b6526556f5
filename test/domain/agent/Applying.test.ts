import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { mayUse, modelFor, narrowed, promptWith, within } from "../../../src/domain/agent/Applying.ts"
import type { AgentLimits } from "../../../src/domain/CustomAgent.ts"
import { defaultHarness, harnesses } from "../../../src/domain/Harness.ts"
import type { ModelInfo } from "../../../src/domain/Model.ts"
import { atMost, ExecutionMode } from "../../../src/domain/permission/ExecutionMode.ts"

const model = (id: string): ModelInfo => ({ id, name: id, contextWindow: 1, image: false, efforts: [] })

describe("the limits of an agent", () => {
  it("name tools, servers and everything", () => {
    const limits: AgentLimits = { tools: ["read", "mcp__git", "mcp__web__get*"], without: ["mcp__git__push"] }
    const may = (tool: string) => mayUse(limits, tool)
    assert.deepStrictEqual(
      ["read", "write", "mcp__git__log", "mcp__git__push", "mcp__github__log", "mcp__web__get_it", "mcp__web__put"].map(
        may
      ),
      [true, false, true, false, false, true, false]
    )
    assert.isTrue(mayUse({ tools: ["*"] }, "write"))
    assert.isTrue(mayUse({}, "write"))
    assert.isFalse(mayUse({ tools: [] }, "read"))
    assert.isFalse(mayUse({ without: ["*"] }, "read"))
  })

  const tool = Schema.Literals(["read", "write", "bash", "mcp__a", "mcp__a__x", "mcp__a__x*", "mcp__*", "*"])
  const Limits = Schema.Struct({
    mode: Schema.optionalKey(ExecutionMode),
    tools: Schema.optionalKey(Schema.Array(tool)),
    without: Schema.optionalKey(Schema.Array(tool))
  })
  const tools = ["read", "write", "bash", "mcp__a__x", "mcp__a__xy", "mcp__a__z", "mcp__ab__x", "mcp__b__x"]

  it.prop(
    "together allow what each of them allows",
    [Arbitrary.schema(Limits), Arbitrary.schema(Limits)],
    ([one, other]) => {
      const both = within(one, other)
      for (const name of tools) {
        assert.strictEqual(
          mayUse(both, name),
          mayUse(one, name) && mayUse(other, name),
          `${name} of ${JSON.stringify(both)}`
        )
      }
      for (const { mode } of [one, other]) {
        if (mode !== undefined) assert.isTrue(both.mode !== undefined && atMost(both.mode, mode))
      }
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "only narrow a harness",
    [Arbitrary.schema(Limits), Arbitrary.schema(Schema.Literals([0, 1, 2, 3]))],
    ([limits, at]) => {
      const harness = harnesses[at] ?? defaultHarness
      const own = narrowed(harness, limits)
      assert.includeMembers([...harness.tools], [...own.tools])
      assert.isTrue(atMost(own.ceiling, harness.ceiling))
      assert.strictEqual(own.sandbox, harness.sandbox)
      assert.strictEqual(own.unattended, harness.unattended)
    }
  )
})

describe("what an agent brings", () => {
  const agent = { name: "x", description: "", prompt: "Mine.", replaces: false }

  it("stands behind what is there, or in its place", () => {
    assert.strictEqual(promptWith(agent, "Theirs."), "Theirs.\n\nMine.")
    assert.strictEqual(promptWith({ ...agent, replaces: true }, "Theirs."), "Mine.")
  })

  it("finds its model by id, by name and by a word", () => {
    const known = [
      "anthropic/claude-sonnet-5-5",
      "anthropic/claude-haiku-5",
      "other/claude-haiku-5",
      "local/org/m"
    ].map(model)
    const found = (wanted: string) => modelFor(known, wanted)?.id
    assert.strictEqual(found("other/claude-haiku-5"), "other/claude-haiku-5")
    assert.strictEqual(found("claude-haiku-5"), "anthropic/claude-haiku-5")
    assert.strictEqual(found("Haiku"), "anthropic/claude-haiku-5")
    assert.strictEqual(found("org/m"), "local/org/m")
    assert.isUndefined(found("haik"))
    assert.isUndefined(found("opus"))
  })
})
