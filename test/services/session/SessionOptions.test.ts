import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ExecutionMode } from "../../../src/domain/permission/ExecutionMode.ts"
import { ModelInfo } from "../../../src/domain/Model.ts"
import { choose, effortFor, optionsOf } from "../../../src/services/session/SessionOptions.ts"
import { info } from "../../support/models.ts"

describe("SessionOptions", () => {
  it.prop(
    "offers each option with a value that can be chosen, and takes each choice",
    [Schema.Array(ModelInfo), Schema.String, ExecutionMode, Schema.UndefinedOr(Schema.String)],
    ([models, model, ceiling, effort]) => {
      const chosen = {
        mode: "plan",
        model,
        effort: effortFor(
          models.find(({ id }) => id === model),
          effort
        )
      } as const
      for (const option of optionsOf(chosen, models, ceiling)) {
        const values = option.options.map(({ value }) => value)
        assert.include(values, option.currentValue)
        for (const value of values) {
          const entry = choose(optionsOf(chosen, models, ceiling), option.id, value)
          assert.isTrue(Result.isSuccess(entry))
          assert.include(JSON.stringify(entry), JSON.stringify(value))
        }
      }
    }
  )

  it("gives a model the effort that was chosen if it has it, else the middle, else its first", () => {
    assert.strictEqual(effortFor(info, "high"), "high")
    assert.strictEqual(effortFor(info, "absurd"), "medium")
    assert.strictEqual(effortFor({ ...info, efforts: ["x", "y"] }, undefined), "x")
    assert.isUndefined(effortFor({ ...info, efforts: [] }, "high"))
    assert.isUndefined(effortFor(undefined, "high"))
  })

  it("shows a model that is gone until another one is chosen", () => {
    const [model] = optionsOf({ mode: "ask", model: "gone/one", effort: undefined }, [info], "ask")
    assert.strictEqual(model?.currentValue, "gone/one")
    assert.deepStrictEqual(
      model?.options.map(({ description, value }) => [value, description]),
      [
        ["scripted/one", "100k context"],
        ["gone/one", "Not in the list of its provider now"]
      ]
    )
  })
})
