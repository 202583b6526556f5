import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { isOrdinary } from "../../../src/domain/text/Ordinary.ts"
import * as Redactor from "../../../src/services/mcp/Redactor.ts"

const pairs = (record: Record<string, string>) =>
  Object.entries(record).map(([name, value]) => ({ name, value: Redacted.make(value) }))

describe("Redactor", () => {
  it("keeps what an address and headers say in confidence out of problems", () => {
    const redactor = Redactor.makeFor({
      _tag: "Http",
      name: "remote",
      url: "https://ada:pass+word1@example.org/mcp?key=from%20the%20query&v=2",
      headers: [{ name: "Authorization", value: Redacted.make("Bearer of-the-header") }]
    })
    const echoed = "GET /mcp?key=from%20the%20query&v=2, key = from the query, pass+word1, of-the-header"
    assert.strictEqual(
      redactor.problem({ message: echoed }),
      "GET /mcp?key=<redacted>&v=2, key = <redacted>, <redacted>, <redacted>"
    )
    assert.strictEqual(redactor.strict("https://example.org/mcp"), "https://example.org/mcp")
  })

  it("takes an address that is none", () => {
    const redactor = Redactor.makeFor({ _tag: "Http", name: "remote", url: "no address", headers: [] })
    assert.strictEqual(redactor.strict("no address"), "no address")
  })

  it("takes values out of results by what they are, and not by their names alone", () => {
    const { result, said } = Redactor.make(
      pairs({
        TOK: "hunter2hunter2",
        MODE: "production",
        HOME_FOLDER: "/home/ada/notes",
        PORT: "80808080",
        API_KEY: "production-key",
        SHORT: "x9-k2"
      })
    )
    assert.strictEqual(
      said("hunter2hunter2 production /home/ada/notes 80808080 production-key x9-k2"),
      "<redacted> production /home/ada/notes 80808080 <redacted> x9-k2"
    )
    assert.deepStrictEqual(result({ hunter2hunter2: [{ deep: "a hunter2hunter2 b" }, 1, null] }), {
      "<redacted>": [{ deep: "a <redacted> b" }, 1, null]
    })
  })

  it("takes out what settings read from the environment, and leaves the words among it", () => {
    const spec = { _tag: "Stdio", name: "x", command: "x", args: ["--token=t0k3n-of-ada"], env: [] } as const
    const { problem, said } = Redactor.makeFor(spec, pairs({ MY_TOK: "t0k3n-of-ada", HOME: "/home/ada" }))
    for (const shown of [said("/home/ada t0k3n-of-ada"), problem({ message: "/home/ada t0k3n-of-ada" })]) {
      assert.strictEqual(shown, "/home/ada <redacted>")
    }
  })

  it("finds a value that is broken up by what nobody sees", () => {
    const { problem } = Redactor.make(pairs({ TOK: "hunter2hunter2" }))
    assert.strictEqual(problem({ message: "a hunter2\u200bhunter2\nb\u001b[2J" }), "a <redacted> b[2J")
  })

  const Secret = Schema.String.check(
    Schema.isMinLength(8),
    Schema.makeFilter((value) => !isOrdinary(value) && !"<redacted><redacted>".includes(value))
  )
  const textsIn = (json: Schema.Json): ReadonlyArray<string> => {
    if (typeof json === "string") return [json]
    if (json === null || typeof json !== "object") return []
    return Object.entries(json).flatMap(([key, value]) => [key, ...textsIn(value)])
  }

  it.prop(
    "leaves no secret of the settings in what a tool says, gets or is, nor in what is told or logged",
    [Schema.Array(Secret), Schema.Record(Schema.String, Schema.Json), Schema.String, Schema.String],
    ([secrets, json, before, after]) => {
      const given = secrets.map((value, at) => ({ name: `X${at}`, value: Redacted.make(value) }))
      for (const redactor of [Redactor.make(given), Redactor.make([], given)]) {
        for (const value of secrets) {
          const text = before + value + after
          const written = JSON.stringify({ value })
          const said = { ...json, [text]: [text, { text }], written, encoded: encodeURIComponent(value.toWellFormed()) }
          const shown = [
            ...textsIn(redactor.result(said)),
            ...textsIn(redactor.fields(said)),
            redactor.said(text),
            redactor.strict(text),
            redactor.problem({ message: text })
          ]
          for (const secret of secrets) {
            const inJson = JSON.stringify(secret).slice(1, -1)
            for (const one of shown) {
              assert.isFalse(one.includes(secret) || one.includes(inJson), JSON.stringify([secret, one]))
            }
          }
        }
      }
    }
  )
})
