import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Schema from "effect/Schema"
import { repairCalls } from "../../../src/services/turn/ContextRepair.ts"
import { spoken } from "../../support/models.ts"

const user = (text: string) => Prompt.userMessage({ content: [Prompt.textPart({ text })] })
const calls = (...ids: ReadonlyArray<string>) =>
  Prompt.assistantMessage({
    content: ids.map((id) => Prompt.toolCallPart({ id, name: id, params: {}, providerExecuted: false }))
  })
const results = (...ids: ReadonlyArray<string>) =>
  Prompt.toolMessage({
    content: ids.map((id) =>
      Prompt.toolResultPart({ id, name: id, isFailure: false, result: "ok", providerExecuted: false })
    )
  })

const repaired = (...messages: ReadonlyArray<Prompt.Message>) =>
  spoken(repairCalls(messages)).map((line) => line.replace(/ This call was interrupted.*/, "").replace(" {}", ""))

describe("ContextRepair", () => {
  it("leaves a whole history alone", () => {
    const history = [user("a"), calls("1", "2"), results("1"), results("2"), user("b")]
    assert.deepStrictEqual(repairCalls(history), history)
  })

  it("answers open calls behind the results that are there", () => {
    assert.deepStrictEqual(repaired(user("a"), calls("1", "2", "3"), results("2"), user("b")), [
      "user a",
      "call 1",
      "call 2",
      "call 3",
      "result 2 ok",
      "failed 1",
      "failed 3",
      "user b"
    ])
  })

  it("answers open calls at the end, and before the next answer of the model", () => {
    assert.deepStrictEqual(repaired(calls("1"), calls("2")), ["call 1", "failed 1", "call 2", "failed 2"])
  })

  it("drops results whose call is lost", () => {
    assert.deepStrictEqual(repaired(user("a"), results("0"), calls("1"), results("1", "0"), user("b")), [
      "user a",
      "call 1",
      "result 1 ok",
      "user b"
    ])
  })

  const history = Schema.Array(
    Schema.Struct({
      kind: Schema.Literals(["user", "calls", "results"]),
      ids: Schema.Array(Schema.Literals(["1", "2", "3", "4", "5"]))
    })
  )

  it.prop("gives each call of any history exactly the results it had, or one", [history], ([script]) => {
    // An id stands for one call: later uses of it are other calls.
    const used = new Set<string>()
    const messages = script.map(({ ids, kind }, index) => {
      if (kind === "user") return user(String(index))
      if (kind === "results") return results(...ids)
      const fresh = [...new Set(ids)].filter((id) => !used.has(id))
      for (const id of fresh) used.add(id)
      return calls(...fresh)
    })
    const lines = spoken(repairCalls(messages))
    for (const id of ["1", "2", "3", "4", "5"]) {
      const called = lines.filter((line) => line.startsWith(`call ${id} `)).length
      const answered = lines.filter(
        (line) => line.startsWith(`result ${id} `) || line.startsWith(`failed ${id} `)
      ).length
      assert.isTrue(called === 0 ? answered === 0 : answered >= 1, lines.join("\n"))
    }
    assert.deepStrictEqual(repairCalls(repairCalls(messages)), repairCalls(messages))
  })
})
