import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ToolContent } from "../../../../src/domain/Tool.ts"
import { outcomeOf } from "../../../../src/services/mcp/tool/McpOutcome.ts"
import { McpResult } from "../../../../src/services/mcp/McpServer.ts"
import * as Redactor from "../../../../src/services/mcp/Redactor.ts"

const pairs = (record: Record<string, string>) =>
  Object.entries(record).map(([name, value]) => ({ name, value: Redacted.make(value) }))
const plain = Redactor.make([])
const decode = Schema.decodeUnknownSync(McpResult)
/** What is kept, by its path. */
const outcome = (result: unknown, { limit = 1_000_000, redactor = plain } = {}) => {
  const kept = new Map<string, string | Uint8Array>()
  const keep = (ending: string, content: string | Uint8Array) =>
    Effect.sync(() => {
      const path = `/kept/${kept.size + 1}.${ending}`
      kept.set(path, content)
      return Result.succeed(path)
    })
  return Effect.map(outcomeOf(decode(result), { redactor, limit, keep }), (given) => ({ ...given, kept }))
}

describe("McpOutcome", () => {
  it.effect("names for the model what only a person can see, and where it is kept", () =>
    Effect.gen(function* () {
      const { content, kept, text } = yield* outcome({
        content: [
          { type: "text", text: "one", annotations: { audience: ["user"] } },
          { type: "audio", data: "AAAA", mimeType: "audio/wav" },
          { type: "resource_link", uri: "file:///a", name: "a", description: "the a" },
          { type: "resource", resource: { uri: "file:///b", text: "b's text" } },
          { type: "resource", resource: { uri: "file:///c", blob: "A".repeat(4_000) } },
          { type: "image", data: "no base64!", mimeType: "../../evil" }
        ]
      })
      assert.strictEqual(
        text,
        "one\n[audio, audio/wav, 1 kB: shown to the user; kept in /kept/1.wav]\n[resource a: file:///a]\nthe a\n" +
          "[resource file:///b]\nb's text\n[resource file:///c, binary, 3 kB; kept in /kept/2.bin]\n" +
          "[image, ../../evil, 1 kB: shown to the user]"
      )
      assert.deepStrictEqual(kept.get("/kept/1.wav"), new Uint8Array(3))
      assert.strictEqual(content.length, 6)
      assert.isTrue(content.every(Schema.is(ToolContent)))
    })
  )

  it.effect("structured content is said once", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* outcome({ structuredContent: { a: 1 } }), { text: '{"a":1}', rawOutput: { a: 1 } })
      const said = { content: [{ type: "text", text: '{ "a": 1 }' }], structuredContent: { a: 1 } }
      assert.strictEqual((yield* outcome(said)).text, '{ "a": 1 }')
      const one = { content: [{ type: "text", text: "x" }], structuredContent: { content: "x" } }
      assert.strictEqual((yield* outcome(one)).text, "x")
      const unsaid = { content: [{ type: "text", text: "x" }], structuredContent: { a: 1 } }
      assert.strictEqual((yield* outcome(unsaid)).text, 'x\n{"a":1}')
      assert.strictEqual((yield* outcome({})).text, "(no output)")
    })
  )

  it.effect("everything is bounded, and what is too long for the model is kept whole", () =>
    Effect.gen(function* () {
      const huge = yield* outcome({
        content: [{ type: "image", data: "A".repeat(9 * 1024 * 1024), mimeType: "image/png" }]
      })
      assert.strictEqual(huge.text, "[image, image/png, 7078 kB] was left out: it is too large")
      const many = yield* outcome({ content: Array.from({ length: 300 }, () => ({ type: "text", text: "x" })) })
      assert.strictEqual(many.content.length, 101)
      assert.include(many.text, "[200 more pieces were left out]")
      const whole = `${"x".repeat(99)}🎉${"é".repeat(500)}`
      const long = yield* outcome({ content: [{ type: "text", text: whole }] }, { limit: 101 })
      assert.strictEqual(
        long.text,
        `${"x".repeat(99)}\n[This is the beginning of 1103 bytes. All of it is in /kept/1.txt: search it, or read it in parts]`
      )
      assert.strictEqual(long.kept.get("/kept/1.txt"), whole)
      const structured = yield* outcome({ structuredContent: { a: "x".repeat(300_000) } }, { limit: 1_000 })
      assert.isUndefined(structured.rawOutput)
      assert.isBelow(structured.text.length, 1_200)
    })
  )

  it.effect("credentials are left out wherever they stand, other values stay", () =>
    Effect.gen(function* () {
      const redactor = Redactor.make(
        pairs({ API_KEY: 'k"y-0123456', MODE: "production", Authorization: "Bearer abcdefgh" })
      )
      const { rawOutput, text } = yield* outcome(
        {
          content: [{ type: "text", text: 'k"y-0123456 production abcdefgh' }],
          structuredContent: { list: [{ key: 'k"y-0123456', n: 1, none: null }] }
        },
        { redactor }
      )
      assert.strictEqual(text, '<redacted> production <redacted>\n{"list":[{"key":"<redacted>","n":1,"none":null}]}')
      assert.deepStrictEqual(rawOutput, { list: [{ key: "<redacted>", n: 1, none: null }] })
    })
  )

  it.effect.prop(
    "what the model gets of any text is its beginning in at most the limit and one line more",
    [Schema.String, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))],
    ([given, limit]) =>
      Effect.gen(function* () {
        const { kept, text } = yield* outcome({ content: [{ type: "text", text: given.toWellFormed() }] }, { limit })
        const size = new TextEncoder().encode(given).length
        assert.strictEqual(kept.size, size > limit ? 1 : 0)
        const [shown = ""] = text.split("\n[This is the beginning of ")
        assert.isTrue(shown.isWellFormed() && given.toWellFormed().startsWith(shown))
        assert.isAtMost(new TextEncoder().encode(shown).length, Math.max(limit, size <= limit ? size : 0))
      })
  )
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
