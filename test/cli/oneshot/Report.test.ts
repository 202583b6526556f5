import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { streamJsonSchema } from "../../../src/cli/oneshot/Output.ts"
import * as Report from "../../../src/cli/oneshot/Report.ts"
import { withTask } from "../../../src/cli/OneShot.ts"
import type { Event } from "../../../src/domain/Event.ts"
import { MessageId, ToolCallId } from "../../../src/domain/Ids.ts"
import type { Outcome } from "../../../src/domain/Turn.ts"
import { root } from "../../support/Sources.ts"

const said = (id: string, text: string): Event => ({ _tag: "TextDelta", messageId: MessageId.make(id), text })

const hear = (...events: ReadonlyArray<Event>): Report.Report => {
  const report = Report.make()
  for (const event of events) report.hear(event)
  return report
}

const ended = (outcome: Outcome): Report.End => ({ _tag: "Ended", outcome })
const done = ended({ stopReason: "end_turn" })

describe("the report of a single task", () => {
  it("answers with the last message that says something", () => {
    const report = hear(
      said("1", "I will "),
      said("1", "look."),
      said("2", "It is "),
      said("2", "blue."),
      said("3", " \n")
    )
    assert.strictEqual(report.result(done).text, "It is blue.")
    assert.strictEqual(hear(said("1", "\n")).result(done).text, "")
  })

  it("leaves the text of a failure out of the answer, since it is the error", () => {
    const failure = { kind: "overloaded", message: "The provider is overloaded" } as const
    const report = hear(said("1", "Half an"), said("2", failure.message))
    const result = report.result(ended({ stopReason: "refusal", error: failure }))
    assert.deepInclude(result, { outcome: "failed", exitCode: 1, text: "Half an", error: failure })
  })

  it.each([
    [done, [], "done", 0],
    [done, ["call"], "refused", 3],
    [ended({ stopReason: "max_tokens" }), [], "failed", 1],
    [ended({ stopReason: "max_turn_requests" }), ["call"], "failed", 1],
    [ended({ stopReason: "cancelled" }), [], "cancelled", 130],
    [{ _tag: "Cancelled" }, ["call"], "cancelled", 130],
    [{ _tag: "Failed", message: "no model" }, [], "failed", 1]
  ] as const)("ends %j with %j as %s, code %i", (end, refused, outcome, exitCode) => {
    const report = hear(said("1", "So far."))
    for (const toolCallId of refused) report.refuse({ toolCallId, title: "x", reason: "y" })
    const result = report.result(end)
    assert.deepInclude(result, { outcome, exitCode, text: "So far." })
    assert.strictEqual(result.error !== undefined, outcome === "failed")
  })

  it("bounds what a call shows, and knows the question of trust from a call", () => {
    const call = (name: string): Event => ({
      _tag: "ToolCallStarted",
      call: {
        id: ToolCallId.make(name),
        name,
        title: `Do ${name}`,
        kind: "other",
        status: "pending",
        locations: [],
        content: []
      }
    })
    const report = hear(call("trust"), call("bash"))
    assert.deepStrictEqual(
      [report.isTrust(ToolCallId.make("trust")), report.isTrust(ToolCallId.make("bash"))],
      [true, false]
    )
    assert.strictEqual(report.titleOf(ToolCallId.make("bash")), "Do bash")
    const line = report.hear({
      _tag: "ToolCallUpdated",
      id: ToolCallId.make("bash"),
      patch: { content: [{ type: "output", text: "x".repeat(1_000_000) }] }
    })
    assert.isBelow(JSON.stringify(line).length, 70_000)
    assert.include(JSON.stringify(line), "characters left out")
  })
})

describe("the command line of a single task", () => {
  it.each([
    [["-p"], ["-p", "-"]],
    [
      ["-p", "--model", "a/b"],
      ["-p", "-", "--model", "a/b"]
    ],
    [
      ["--model", "a/b", "--prompt"],
      ["--model", "a/b", "--prompt", "-"]
    ],
    [
      ["-p", "task"],
      ["-p", "task"]
    ],
    [
      ["-p", "- a list"],
      ["-p", "- a list"]
    ],
    [
      ["acp", "-p"],
      ["acp", "-p"]
    ]
  ])("takes standard input where %j has no task", (args, expected) => {
    assert.deepStrictEqual(withTask(args), expected)
  })

  it("has a schema of its lines among the pages; scripts/stream-json-schema.ts writes it anew", () => {
    const shipped: unknown = JSON.parse(readFileSync(join(root, "docs/stream-json.schema.json"), "utf8"))
    assert.deepStrictEqual(shipped, JSON.parse(JSON.stringify(streamJsonSchema())))
  })
})
