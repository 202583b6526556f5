import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { ToolContent } from "../../../src/domain/Tool.ts"
import { outcomeOf } from "../../../src/services/mcp/McpOutcome.ts"
import { McpResult } from "../../../src/services/mcp/McpServer.ts"
import * as Redactor from "../../../src/services/mcp/Redactor.ts"

const pairs = (record: Record<string, string>) =>
  Object.entries(record).map(([name, value]) => ({ name, value: Redacted.make(value) }))
const plain = Redactor.make([])
const decode = Schema.decodeUnknownSync(McpResult)
const outcome = (result: unknown, redactor = plain) => outcomeOf(decode(result), redactor)

describe("McpOutcome", () => {
  it("names for the model what only a person can see", () => {
    const { content, text } = outcome({
      content: [
        { type: "text", text: "one", annotations: { audience: ["user"] } },
        { type: "audio", data: "AAAA", mimeType: "audio/wav" },
        { type: "resource_link", uri: "file:///a", name: "a", description: "the a" },
        { type: "resource", resource: { uri: "file:///b", text: "b's text" } },
        { type: "resource", resource: { uri: "file:///c", blob: "A".repeat(4_000) } }
      ]
    })
    assert.strictEqual(
      text,
      "one\n[audio, audio/wav, 1 kB: shown to the user]\n[resource a: file:///a]\nthe a\n" +
        "[resource file:///b]\nb's text\n[resource file:///c, binary, 3 kB]"
    )
    assert.strictEqual(content.length, 5)
    assert.isTrue(content.every(Schema.is(ToolContent)))
  })

  it("structured content stands in for missing text, and is never said twice", () => {
    assert.deepInclude(outcome({ structuredContent: { a: 1 } }), { text: '{"a":1}', rawOutput: { a: 1 } })
    assert.strictEqual(outcome({ content: [{ type: "text", text: "x" }], structuredContent: { a: 1 } }).text, "x")
    assert.strictEqual(outcome({}).text, "(no output)")
  })

  it("everything is bounded", () => {
    const huge = outcome({ content: [{ type: "image", data: "A".repeat(9 * 1024 * 1024), mimeType: "image/png" }] })
    assert.strictEqual(huge.text, "[image, image/png, 7078 kB] was left out: it is too large")
    const many = outcome({ content: Array.from({ length: 300 }, () => ({ type: "text", text: "x" })) })
    assert.strictEqual(many.content.length, 101)
    assert.include(many.text, "[200 more pieces were left out]")
    const emoji = outcome({ content: [{ type: "text", text: `${"x".repeat(99_999)}🎉${"y".repeat(10)}` }] })
    assert.isTrue(emoji.text.isWellFormed())
    assert.isBelow(outcome({ structuredContent: { a: "x".repeat(300_000) } }).text.length, 101_000)
    assert.isUndefined(outcome({ structuredContent: { a: "x".repeat(300_000) } }).rawOutput)
  })

  it("credentials are left out wherever they stand, other values stay", () => {
    const redactor = Redactor.make(
      pairs({ API_KEY: 'k"y-0123456', MODE: "production", Authorization: "Bearer abcdefgh" })
    )
    const { rawOutput, text } = outcome(
      {
        content: [{ type: "text", text: 'k"y-0123456 production abcdefgh' }],
        structuredContent: { list: [{ key: 'k"y-0123456', n: 1, none: null }] }
      },
      redactor
    )
    assert.strictEqual(text, "<redacted> production <redacted>")
    assert.deepStrictEqual(rawOutput, { list: [{ key: "<redacted>", n: 1, none: null }] })
  })
})

describe("Redactor", () => {
  it("a value of several lines is left out line by line", () => {
    const { strict } = Redactor.make(pairs({ KEY: "-----BEGIN-----\nMIIEvQIBADAN\n-----END-----" }))
    assert.strictEqual(strict("got MIIEvQIBADAN!"), "got <redacted>!")
  })

  const Given = Schema.String.check(Schema.isMinLength(4))

  it.prop(
    "no given value is left in what is logged or told, however it is written there",
    [Schema.Array(Given), Schema.String, Schema.String],
    ([values, before, after]) => {
      const redactor = Redactor.make(values.map((value) => ({ name: "X", value: Redacted.make(value) })))
      for (const value of values.filter((value) => !"<redacted>".includes(value))) {
        for (const text of [value, `${before}${value}${after}`, JSON.stringify({ value }), `Bearer ${value}`]) {
          const written = JSON.stringify(value).slice(1, -1)
          for (const shown of [redactor.strict(text), redactor.problem({ message: text })]) {
            assert.isFalse(shown.includes(value) || shown.includes(written), JSON.stringify([values, text]))
          }
        }
      }
    }
  )
})
