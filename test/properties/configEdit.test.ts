/** A change of one key leaves the rest of the file as it is, whatever the file looks like. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Toml from "effect/encoding/Toml"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { removeKey, setKey } from "../../src/services/settings/ConfigEdit.ts"

const Name = Schema.Literals(["a", "b", "c-d", '"e f"', "'g.h'", "api_key"])
const bare = (text: string) => text.replaceAll(/["']/g, "")

const values = [
  "1",
  "-0.5e3",
  "true",
  '"text # no comment"',
  '"a \\" [b] = \\u00e9"',
  "'C:\\path'",
  '"""\nlines # of\n[text] = "x" \\\n  more"""',
  "'''\n# raw ''\n'''",
  '[1, "two", # a comment inside\n  [3]]',
  '[\n  { id = "x", n = 1 }, # first\n  { id = "y" },\n]',
  '{ x = 1, "y z" = { deep = "]" } }',
  "{}",
  "1979-05-27 07:32:00",
  "1979-05-27T07:32:00Z"
] as const

const between = (minimum: number, maximum: number) =>
  [Schema.isMinLength(minimum), Schema.isMaxLength(maximum)] as const

const Blank = Schema.Literals(["", "\n", "# a comment = 1\n", "\n  # [not.a.table]\n\n"])
const Trailing = Schema.Literals(["", "  # behind", " #"])
const Line = Schema.Struct({
  before: Blank,
  key: Schema.Array(Name).check(...between(1, 2)),
  equals: Schema.Literals(["=", " = ", "\t=  "]),
  value: Schema.Literals(values),
  after: Trailing
})
const Lines = Schema.Array(Line).check(...between(0, 3))
const Document = Schema.Struct({
  first: Lines,
  sections: Schema.Array(
    Schema.Struct({
      before: Blank,
      path: Schema.Array(Name).check(...between(1, 3)),
      isItem: Schema.Literals([false, false, false, true]),
      after: Trailing,
      lines: Lines
    })
  ).check(...between(0, 4)),
  last: Blank,
  newline: Schema.Literals(["\n", "\r\n"]),
  isClosed: Schema.Boolean
})

const textOfLine = ({ after, before, equals, key, value }: typeof Line.Type) =>
  `${before}${key.join(".")}${equals}${value}${after}\n`
const textOfLines = (lines: typeof Lines.Type) => lines.map(textOfLine).join("")

const textOf = ({ first, isClosed, last, newline, sections }: typeof Document.Type): string => {
  const all = sections.map(({ after, before, isItem, lines, path }) => {
    const header = isItem ? `[[${path.join(".")}]]` : `[${path.join(".")}]`
    return `${before}${header}${after}\n${textOfLines(lines)}`
  })
  const text = `${textOfLines(first)}${all.join("")}${last}`
  return (isClosed ? text : text.replace(/\n$/, "")).replaceAll("\n", newline)
}

/** Documents that a parser takes, with line ends of both kinds and without one at the end. */
const document = Arbitrary.filter(Arbitrary.map(Arbitrary.schema(Document), textOf), (text) =>
  Result.isSuccess(Toml.parse(text))
)

const Value = Schema.Union([
  Schema.String,
  Schema.Boolean,
  Schema.Int,
  Schema.Array(Schema.String),
  Schema.Record(Schema.String, Schema.Int)
])
const path = Arbitrary.map(Arbitrary.schema(Schema.Array(Name).check(...between(1, 4))), (all) => all.map(bare))

const commentsOf = (text: string): ReadonlyArray<string> => text.match(/#[^\n\r]*/g) ?? []

const at = (document: unknown, keys: ReadonlyArray<string>): unknown =>
  keys.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], document)

const parsed = (text: string): Record<string, unknown> => Result.getOrThrow(Toml.parse(text))

/** What is left of a document when one key is looked away from. */
const beside = (document: Record<string, unknown>, [key = "", ...rest]: ReadonlyArray<string>): unknown => {
  if (rest.length === 0) return { ...document, [key]: "" }
  return { ...document, [key]: beside((document[key] ?? {}) as Record<string, unknown>, rest) }
}

/** The lines of one are those of the other, in order, with others between them. */
const isWithin = (all: ReadonlyArray<string>, some: ReadonlyArray<string>): boolean => {
  let next = 0
  for (const one of all) if (one === some[next]) next += 1
  return next === some.length
}

describe("a change of one key", () => {
  it.prop(
    "sets it and nothing else, and keeps every comment outside of the value that it replaces",
    [document, path, Arbitrary.schema(Value)],
    ([text, keys, value]) => {
      const before = parsed(text)
      const made = setKey(text, keys, value)
      if (Result.isFailure(made)) {
        // Only what cannot be said without taking something away is refused.
        assert.match(made.failure, /something else in the place|by hand/)
        return
      }
      const after = parsed(made.success)
      assert.strictEqual(JSON.stringify(at(after, keys)), JSON.stringify(value))
      assert.deepEqual(beside(after, keys), beside(before, keys))
      if (at(before, keys) === undefined) {
        assert.isTrue(isWithin(commentsOf(made.success), commentsOf(text)))
        const kept = text.replaceAll("{}", "").split(/\r?\n/)
        if (!/\{/.test(text)) assert.isTrue(isWithin(made.success.split(/\r?\n/), kept), made.success)
      }
      if (/\r\n/.test(text)) assert.notMatch(made.success.slice(text.length), /[^\r]\n/)
      assert.deepEqual(setKey(made.success, keys, value), made)
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop(
    "takes back what it added, to the letter where the table was there",
    [document, path],
    ([text, keys]) => {
      const before = parsed(text)
      if (at(before, keys) !== undefined) return
      const made = setKey(text, keys, "added")
      if (Result.isFailure(made)) return
      const back = removeKey(made.success, keys)
      assert.isTrue(Result.isSuccess(back))
      if (Result.isFailure(back)) return
      assert.strictEqual(at(parsed(back.success), keys), undefined)
      assert.deepEqual(beside(parsed(back.success), keys), beside(before, keys))
      assert.isTrue(isWithin(commentsOf(back.success), commentsOf(text)))
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "removes a key that was there, and nothing else",
    [document],
    ([text]) => {
      const before = parsed(text)
      for (const [key, inner] of Object.entries(before)) {
        const keys = typeof inner === "object" && inner !== null && "a" in inner ? [key, "a"] : [key]
        const made = removeKey(text, keys)
        if (Result.isFailure(made)) continue
        assert.strictEqual(at(parsed(made.success), keys), undefined)
        assert.deepEqual(beside(parsed(made.success), keys), beside(before, keys))
      }
    },
    { arbitrary: { runs: 500 } }
  )
})
