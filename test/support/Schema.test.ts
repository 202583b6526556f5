/** The oracle itself: it has to see what it is there for. */
import { assert, describe, it } from "@effect/vitest"
import type * as Schema from "effect/Schema"
import { makeOracle, problemsOf } from "./Schema.ts"

const update = (fields: Schema.JsonObject): string =>
  JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: fields } })

const text = { type: "text", text: "t" }

const bad: ReadonlyArray<readonly [what: string, line: string]> = [
  ["no JSON", "debug: hello"],
  ["a list", "[]"],
  ["another protocol", '{"jsonrpc":"1.0","method":"session/update","params":{}}'],
  ["an unknown key in the envelope", '{"jsonrpc":"2.0","method":"_x/y","extra":1}'],
  ["an unknown method", '{"jsonrpc":"2.0","method":"session/updates","params":{}}'],
  ["a method of the other side", '{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{}}'],
  ["an answer to nothing", '{"jsonrpc":"2.0","id":9,"result":{}}'],
  ["an error to nothing", '{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"m"}}'],
  ["an error of two lines", '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a\\nb"}}'],
  ["an error without text", '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":" "}}'],
  ["a result and an error", '{"jsonrpc":"2.0","id":null,"result":{},"error":{"code":-32700,"message":"m"}}'],
  ["a missing key", update({ sessionUpdate: "agent_message_chunk" })],
  ["a wrong type", update({ sessionUpdate: "usage_update", used: "1", size: 2 })],
  ["a negative count", update({ sessionUpdate: "usage_update", used: -1, size: 2 })],
  ["a wrong word", update({ sessionUpdate: "tool_call", toolCallId: "t", title: "T", kind: "shell" })],
  ["modeId instead of currentModeId", update({ sessionUpdate: "current_mode_update", modeId: "m" })],
  ["bare text as tool content", update({ sessionUpdate: "tool_call", toolCallId: "t", title: "T", content: [text] })],
  ["an unknown key of an update", update({ sessionUpdate: "plan", entries: [], planId: "p" })],
  ["an unknown key deep inside", update({ sessionUpdate: "agent_message_chunk", content: { ...text, extra: 1 } })],
  [
    "an unknown key of a list item",
    update({ sessionUpdate: "plan", entries: [{ content: "c", priority: "low", status: "pending", id: 1 }] })
  ]
]

describe("the oracle", () => {
  for (const [what, line] of bad) {
    it(`sees ${what}`, () => {
      assert.isNotEmpty(makeOracle().received(line))
    })
  }

  it("lets good lines pass, with free-form data where it belongs", () => {
    const { received } = makeOracle()
    for (const line of [
      update({ sessionUpdate: "agent_message_chunk", content: text, messageId: "m", _meta: { any: { thing: 1 } } }),
      update({ sessionUpdate: "tool_call", toolCallId: "t", title: "T", rawInput: { any: ["thing"] }, name: "n" }),
      '{"jsonrpc":"2.0","method":"_vendor/thing","params":{"any":1}}',
      '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}'
    ]) {
      assert.deepStrictEqual(received(line), [], line)
    }
  })

  it("checks an answer by the method that was asked, once", () => {
    const { received, sent } = makeOracle()
    assert.deepStrictEqual(sent('{"jsonrpc":"2.0","id":0,"method":"session/list"}'), [])
    assert.deepStrictEqual(
      sent('{"jsonrpc":"2.0","id":"0","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}'),
      []
    )
    assert.isNotEmpty(received('{"jsonrpc":"2.0","id":"0","result":{"stopReason":"done"}}'))
    assert.isNotEmpty(received('{"jsonrpc":"2.0","id":"0","result":{"stopReason":"end_turn"}}'))
    assert.deepStrictEqual(received('{"jsonrpc":"2.0","id":0,"result":{"sessions":[]}}'), [])
  })

  it("keeps the ids of both sides apart, and checks what the client answers", () => {
    const { received, sent } = makeOracle()
    sent('{"jsonrpc":"2.0","id":1,"method":"logout"}')
    assert.deepStrictEqual(
      received('{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/p"}}'),
      []
    )
    assert.isNotEmpty(
      received('{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/p"}}')
    )
    assert.isNotEmpty(sent('{"jsonrpc":"2.0","id":1,"result":{}}'))
    assert.deepStrictEqual(received('{"jsonrpc":"2.0","id":1,"result":{}}'), [])
  })

  it("seals objects whose keys stand beside alternatives", () => {
    const option = { type: "boolean", id: "a", name: "A", currentValue: true, description: "d" }
    assert.deepStrictEqual(problemsOf("SetSessionConfigOptionResponse", { configOptions: [option] }), [])
    assert.isNotEmpty(problemsOf("SetSessionConfigOptionResponse", { configOptions: [{ ...option, extra: 1 }] }))
  })
})
