import { assert, describe, it } from "@effect/vitest"
import { MAX_CHUNK } from "../../../src/domain/session/Delta.ts"
import { ToolCallId } from "../../../src/domain/Ids.ts"
import { MAX_OUTPUT, replay } from "../../../src/domain/session/Replay.ts"
import type { Entry } from "../../../src/domain/session/Session.ts"
import { textContent } from "../../../src/domain/Tool.ts"
import { delta, textsOf } from "../../support/logs.ts"

const update = (text: string, rawOutput: string | ReadonlyArray<string>): Entry => ({
  _tag: "ToolCallUpdated",
  id: ToolCallId.make("call"),
  patch: { status: "completed", content: [textContent(text)], rawOutput }
})

describe("Replay", () => {
  it("joins the pieces of a message, also over entries that nobody is told", () => {
    const told = replay([delta("a"), { _tag: "ContextAppended", messages: [] }, delta("b"), delta("c", "other")])
    assert.deepStrictEqual<ReadonlyArray<Entry>>(told, [delta("ab"), delta("c", "other")])
  })

  it("starts a new chunk at the limit and loses nothing", () => {
    const pieces = Array.from({ length: 100 }, (_, index) => delta(String(index % 10).repeat(1000)))
    const told = replay(pieces)
    assert.lengthOf(told, Math.ceil(100_000 / MAX_CHUNK))
    assert.deepStrictEqual(textsOf(told), textsOf(pieces))
  })

  it("cuts output that is too long for a screen, and says how much (F53)", () => {
    const [event] = replay([update("x".repeat(20_000_000), ["y".repeat(20_000_000)])])
    const line = JSON.stringify(event)
    assert.isBelow(line.length, 3 * MAX_OUTPUT)
    assert.include(line, `[${20_000_000 - MAX_OUTPUT} more characters are not shown]`)
  })

  it("leaves output of an ordinary size as it was", () => {
    const whole = update("x".repeat(MAX_OUTPUT), ["y".repeat(MAX_OUTPUT - 4)])
    assert.deepStrictEqual<ReadonlyArray<Entry>>(replay([whole]), [whole])
  })
})
