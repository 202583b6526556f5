import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { describeProblem, parse, render } from "../../../src/domain/text/FrontMatter.ts"
import { asBoolean, asList, asText } from "../../../src/domain/text/FrontMatterValue.ts"

const head = (...lines: ReadonlyArray<string>): string => ["---", ...lines, "---", "Body", ""].join("\n")

const fieldsOf = (...lines: ReadonlyArray<string>) => {
  const { fields, problems } = parse(head(...lines))
  assert.deepStrictEqual(problems, [])
  return fields
}

const problemsOf = (text: string): ReadonlyArray<string> =>
  parse(text).problems.map((problem) => describeProblem("a.md", problem))

describe("front matter", () => {
  it("is absent from a text that does not begin with it", () => {
    for (const text of ["", "# Title\n---\na: 1\n---\n", "----\na: 1\n---\n", " ---\na: 1\n---\n"]) {
      assert.deepStrictEqual(parse(text), { fields: {}, lines: {}, body: text, problems: [] })
    }
  })

  it("reads plain values, and tells their lines", () => {
    const { body, fields, lines } = parse(
      head("name: reviewer", "", "# for later", "level: 3", "strict: true", "empty:")
    )
    assert.deepStrictEqual(fields, { name: "reviewer", level: 3, strict: true, empty: "" })
    assert.deepStrictEqual(lines, { name: 2, level: 5, strict: 6, empty: 7 })
    assert.strictEqual(body, "Body\n")
  })

  it("keeps a text that other readers would trip over", () => {
    assert.deepStrictEqual(
      fieldsOf("description: Use it when: fixing #12 in C:\\new", "version: 1.10", "id: 007", "url: http://x/#a # why"),
      { description: "Use it when: fixing #12 in C:\\new", version: "1.10", id: "007", url: "http://x/#a" }
    )
  })

  it("reads quotes", () => {
    assert.deepStrictEqual(
      fieldsOf(
        String.raw`one: "a \"b\"\n\u00e9 \q" # note`,
        "two: 'it''s # here'",
        '"three": "true"',
        'four: "goes',
        "  on: here",
        '  to # there"'
      ),
      { one: 'a "b"\né \\q', two: "it's # here", three: "true", four: "goes on: here to # there" }
    )
  })

  it("reads lists, inline, over several lines, in a block and as a text with commas", () => {
    const wanted = ["Read", "Bash(git add, git rm:*)", "it's, here"]
    const fields = fieldsOf(
      `inline: [Read, Bash(git add, git rm:*), "it's, here"]`,
      "lines: [",
      "  Read, # first",
      "  Bash(git add, git rm:*),",
      `  "it's, here",`,
      "]",
      "block:",
      "  - Read",
      "  # a note",
      "  - Bash(git add,",
      "      git rm:*)",
      `  - "it's, here" # last`,
      "flush:",
      "- Read",
      "text: Read, Bash(git add, git rm:*)",
      "none: []"
    )
    assert.deepStrictEqual(fields["inline"], wanted)
    assert.deepStrictEqual(fields["lines"], wanted)
    assert.deepStrictEqual(fields["block"], wanted)
    assert.deepStrictEqual(fields["flush"], ["Read"])
    assert.deepStrictEqual(asList(fields["text"] ?? ""), wanted.slice(0, 2))
    assert.deepStrictEqual(fields["none"], [])
  })

  it("reads blocks of text, kept and folded", () => {
    const text = ["  One: 1", "    - two", "", "  # three"]
    const fields = fieldsOf(
      "kept: |",
      ...text,
      "folded: >-",
      "  One",
      "  two",
      "",
      "  three",
      "plain: a",
      "  b: c",
      "next:"
    )
    assert.strictEqual(fields["kept"], "One: 1\n  - two\n\n# three")
    assert.strictEqual(fields["folded"], "One two\nthree")
    assert.strictEqual(fields["plain"], "a b: c")
    assert.strictEqual(fields["next"], "")
  })

  it("spreads tables over dotted names", () => {
    assert.deepStrictEqual(fieldsOf("metadata:", "  author: Ada", "  build:", "    number: 7", "name: x"), {
      "metadata.author": "Ada",
      "metadata.build.number": 7,
      name: "x"
    })
  })

  it("reads what editors of Windows write", () => {
    assert.deepStrictEqual(parse("\uFEFF---\r\nname: x\r\n---  \r\nBody\r\n"), {
      fields: { name: "x" },
      lines: { name: 2 },
      body: "Body\n",
      problems: []
    })
  })

  it("takes no name for more than a name", () => {
    const { fields } = parse(head("__proto__: x", "constructor: y"))
    assert.deepStrictEqual(Object.entries(fields), [
      ["__proto__", "x"],
      ["constructor", "y"]
    ])
  })

  it("names line, field and remedy of each mistake, and reads the rest", () => {
    const text = head(
      "name: one",
      "what is this",
      "name: two",
      'quoted: "open',
      "list: [a, b",
      'both: "a" and "b"',
      "x: 1"
    )
    assert.deepStrictEqual(problemsOf(text), [
      "a.md, line 3: is not read: a field is written as 'name: value'",
      "a.md, line 4: name: is there twice; the first one counts, remove the other",
      'a.md, line 5: quoted: has no closing "; add it',
      "a.md, line 6: list: has no closing ]; add it",
      "a.md, line 7: both: goes on behind its closing quote; put quotes around all of it, or none"
    ])
    assert.deepStrictEqual(parse(text).fields, {
      name: "one",
      quoted: '"open',
      list: "[a, b",
      both: '"a" and "b"',
      x: 1
    })
    assert.match(problemsOf("---\nname: x\n").join(), /do not end/)
    assert.deepStrictEqual(problemsOf("---\nname: x\n").length, 1)
  })

  it("is bounded", () => {
    assert.match(problemsOf(head(`name: ${"x".repeat(70_000)}`)).join(), /line 1: has more than 65536 characters/)
    assert.strictEqual(parse(head(`name: ${"x".repeat(70_000)}`)).body, "Body\n")
    assert.isBelow(parse(head(...Array.from({ length: 3000 }, (_, at) => `k${at}: ["'a`))).problems.length, 30)
    const deep = Array.from({ length: 150 }, (_, at) => `${" ".repeat(at)}k:`)
    assert.deepStrictEqual(parse(head(...deep)).problems, [])
  })

  it("reads yes and no where they are asked for", () => {
    assert.deepStrictEqual([true, "yes", "On", "no", "off", false, "maybe"].map(asBoolean), [
      true,
      true,
      true,
      false,
      false,
      false,
      undefined
    ])
    assert.deepStrictEqual([3, ["a", "b"], "x"].map(asText), ["3", "a, b", "x"])
  })

  const value = Schema.Union([Schema.String, Schema.Boolean, Schema.Int, Schema.Array(Schema.NonEmptyString)])
  const name = Schema.String.check(Schema.isPattern(/^[a-z][a-z-]{0,8}$/))

  it.prop(
    "reads what was written, whatever it was",
    [Arbitrary.schema(Schema.Record(name, value)), Arbitrary.schema(Schema.String)],
    ([fields, body]) => {
      const read = parse(render(fields, body))
      assert.deepStrictEqual(read.problems, [])
      assert.deepStrictEqual(read.fields, fields)
      assert.strictEqual(read.body, body.replace(/\r\n?/g, "\n"))
    },
    { arbitrary: { runs: 300 } }
  )

  const pieces = [
    "---",
    "\n",
    "\n",
    " ",
    "a",
    ":",
    ": ",
    "- ",
    "[",
    "]",
    '"',
    "'",
    "#",
    "|",
    ">",
    ",",
    "\\",
    "\t",
    "\r",
    "é"
  ]
  const anything = Arbitrary.map(
    Arbitrary.array(Arbitrary.schema(Schema.Literals(pieces)), { maxLength: 60 }),
    (parts) => `---\n${parts.join("")}\n---\nend`
  )

  it.prop(
    "reads anything, and tells lines that there are",
    [anything],
    ([text]) => {
      const { body, fields, lines, problems } = parse(text)
      const last = text.split(/\r\n?|\n/).length
      assert.isTrue(body.endsWith("end"))
      assert.deepStrictEqual(Object.keys(fields), Object.keys(lines))
      for (const line of [...Object.values(lines), ...problems.map((problem) => problem.line)]) {
        assert.isTrue(line >= 1 && line <= last)
      }
    },
    { arbitrary: { runs: 500 } }
  )
})
