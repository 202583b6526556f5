import { assert, describe, it } from "@effect/vitest"
import { atMost, ExecutionMode, lower, offered } from "../../../src/domain/permission/ExecutionMode.ts"

const modes = ExecutionMode.literals

describe("ExecutionMode", () => {
  it("says of its freest mode what still holds", () => {
    const freest = offered("always-approve").at(-1)
    assert.match(freest?.description ?? "", /deny rules, and ask rules for commands, still hold/)
  })

  it("is ordered from the least to the most that may be done", () => {
    assert.deepStrictEqual(modes, ["plan", "ask", "accept-edits", "auto", "always-approve"])
    assert.isTrue(atMost("plan", "ask"))
    assert.isTrue(atMost("ask", "ask"))
    assert.isFalse(atMost("always-approve", "auto"))
  })

  it.prop(
    "has a lower of two that is one of them and above neither",
    [ExecutionMode, ExecutionMode],
    ([one, other]) => {
      const low = lower(one, other)
      assert.include([one, other], low)
      assert.isTrue(atMost(low, one) && atMost(low, other))
      assert.strictEqual(lower(other, one), low)
    }
  )

  it.prop(
    "is offered up to the ceiling and no further, with a name and a description",
    [ExecutionMode],
    ([ceiling]) => {
      const known = offered(ceiling)
      assert.isAbove(known.length, 0)
      assert.strictEqual(known[0]?.id, "plan")
      for (const { description, id, name } of known) {
        assert.isTrue(atMost(id, ceiling))
        assert.isAbove(name.length, 0)
        assert.isAbove(description.length, 0)
      }
      // What is not offered is above the ceiling, or has no classifier yet.
      for (const mode of modes) {
        if (!known.some(({ id }) => id === mode)) assert.isTrue(!atMost(mode, ceiling) || mode === "auto")
      }
    }
  )
})
