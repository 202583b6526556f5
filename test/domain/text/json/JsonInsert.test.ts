import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import {
  appendRoot,
  applyEdits,
  setMember,
  styleOf,
  type TextEdit
} from "../../../../src/domain/text/json/JsonInsert.ts"
import { type JsonNode, parseTree, valueOf } from "../../../../src/domain/text/json/JsonTree.ts"

const never = () => false

const tree = (text: string): JsonNode | undefined => Result.getOrThrow(parseTree(text))

const edits = (text: string, name: string, value: Schema.Json): ReadonlyArray<TextEdit> => {
  const root = tree(text)
  if (root === undefined) return appendRoot(text, { [name]: value })
  return root._tag === "Object" ? setMember(text, root, name, value, never) : assert.fail("no object")
}

const set = (text: string, name: string, value: Schema.Json): string => applyEdits(text, edits(text, name, value))

describe("JsonTree", () => {
  it.each([
    ["", undefined],
    ["// nothing\n", undefined],
    ["\u{feff}{}", {}],
    ['{ // one\n "a": 1, /* two */ "b": [true, null, "\\u0041",], }', { a: 1, b: [true, null, "A"] }],
    ['{"a":1,"a":2}', { a: 2 }],
    ["-1.5e3 // end", -1500]
  ] as const)("reads %j", (text, value) => {
    const root = tree(text)
    assert.deepStrictEqual(root === undefined ? undefined : valueOf(root), value)
  })

  it.each([
    ['{ "a": }', 1, 8, "a value was expected"],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, "a comma or }"],
    ["{ a: 1 }", 1, 3, "in quotation marks"],
    ['{ "a": 1', 1, 9, "a comma or }"],
    ["{ /* ", 1, 2, "a comment has no end"],
    ["{} {}", 1, 4, "something follows the end"],
    ["{,}", 1, 2, "in quotation marks"],
    ["[".repeat(9_000), 1, 502, "nested too deeply"]
  ] as const)("says where %.20s stops being JSON", (text, line, column, message) => {
    const problem = Result.getOrThrow(Result.flip(parseTree(text)))
    assert.deepStrictEqual([problem.line, problem.column], [line, column])
    assert.include(problem.message, message)
  })

  it.effect.prop("reads what the standard prints", [Schema.Json], ([value]) =>
    Effect.sync(() => {
      const root = tree(JSON.stringify(value, undefined, 2))
      assert.deepStrictEqual(root === undefined ? undefined : valueOf(root), JSON.parse(JSON.stringify(value)))
    })
  )
})

/** Pieces of a file with every liberty that people take. */
const Space = Schema.Literals([
  "",
  " ",
  "\n",
  "\r\n",
  "\n\t",
  "\n    ",
  " // note\n",
  " /* , } */ ",
  "\n/* two\nlines */\n"
])
const Member = Schema.Struct({
  name: Schema.Literals(["a", 'b \\" c', "{", "//", "ours"]),
  value: Schema.Json,
  before: Space,
  after: Space,
  colon: Space
})
const File = Schema.Struct({
  bom: Schema.Boolean,
  before: Space,
  members: Schema.Array(Member).check(Schema.isMaxLength(4)),
  comma: Schema.Boolean,
  inside: Space,
  after: Space
})

const fileText = ({ after, before, bom, comma, inside, members }: typeof File.Type): string => {
  const inner = members
    .map((one) => `${one.before}"${one.name}"${one.colon}:${one.colon}${JSON.stringify(one.value)}${one.after}`)
    .join(",")
  const ending = comma && members.length > 0 ? "," : ""
  return `${bom ? "\u{feff}" : ""}${before}{${inner}${ending}${inside}}${after}`
}

describe("JsonInsert", () => {
  it.effect.prop(
    "sets one member and leaves every other character where it was",
    [Arbitrary.schema(File), Schema.Json],
    ([file, value]) =>
      Effect.sync(() => {
        const text = fileText(file)
        const changes = edits(text, "ours", value)
        const changed = applyEdits(text, changes)
        const before = tree(text)
        const after = tree(changed)
        if (before?._tag !== "Object" || after?._tag !== "Object") return assert.fail(changed)
        const expected = before.members.map(({ name, value }) => [name, valueOf(value)] as const)
        const present = expected.findLastIndex(([name]) => name === "ours")
        expected.splice(present === -1 ? expected.length : present, 1, ["ours", JSON.parse(JSON.stringify(value))])
        assert.deepStrictEqual(
          after.members.map(({ name, value }) => [name, valueOf(value)] as const),
          expected
        )
        // The old text is the new one without what was put in, and with what was replaced.
        let shift = 0
        let kept = changed
        for (const { end, start, text: put } of changes.toSorted((one, other) => one.start - other.start)) {
          kept = kept.slice(0, start + shift) + text.slice(start, end) + kept.slice(start + shift + put.length)
          shift += end - start
        }
        assert.strictEqual(kept, text)
        assert.strictEqual(/\r\n/.test(changed), /\r\n/.test(text) || /\r\n/.test(JSON.stringify(value)))
      }),
    { arbitrary: { runs: 400 } }
  )

  it("writes in the style that is there", () => {
    assert.deepStrictEqual(styleOf('{\r\n\t"a": 1\r\n}'), { newline: "\r\n", unit: "\t" })
    assert.deepStrictEqual(styleOf("{}"), { newline: "\n", unit: "  " })
    assert.strictEqual(set("", "a", {}), '{\n  "a": {}\n}\n')
    assert.strictEqual(set("// mine", "a", 1), '// mine\n{\n  "a": 1\n}\n')
    assert.strictEqual(set("\u{feff}", "a", 1), '\u{feff}{\n  "a": 1\n}\n')
    assert.strictEqual(set("{}", "a", [1]), '{\n  "a": [1]\n}')
    assert.strictEqual(set("{ // why\n}\n", "a", 1), '{ // why\n  "a": 1\n}\n')
    assert.strictEqual(
      set('{ "b": 1 }', "a", { c: [], d: ["e", "f"] }),
      '{ "b": 1, "a": { "c": [], "d": ["e", "f"] } }'
    )
    assert.strictEqual(
      set('{\n    "b": 1 // one\n    // "c": 2\n}', "a", 1),
      '{\n    "b": 1, // one\n    "a": 1\n    // "c": 2\n}'
    )
    assert.strictEqual(
      set('{\r\n\t"b": 1, // one\r\n}\r\n', "a", { c: 1 }),
      '{\r\n\t"b": 1, // one\r\n\t"a": {\r\n\t\t"c": 1\r\n\t},\r\n}\r\n'
    )
    assert.strictEqual(set('{ "x": 1,\n  "b": 2 }', "a", 1), '{ "x": 1,\n  "b": 2,\n  "a": 1 }')
    assert.strictEqual(set('{\n  "a": 1 /* one */,\n  "b": 2\n}', "a", 3), '{\n  "a": 3 /* one */,\n  "b": 2\n}')
  })
})
