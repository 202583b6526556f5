import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { edit } from "../../src/domain/text/Edit.ts"
import { decode, encode, type Encoding } from "../../src/domain/text/Encoding.ts"
import { addText, countLines, emptyPage, endPage, lineStart } from "../../src/domain/text/Lines.ts"

const text = (alphabet: ReadonlyArray<string>, minLength: number, maxLength: number) =>
  Arbitrary.map(Arbitrary.array(Arbitrary.schema(Schema.Literals(alphabet)), { minLength, maxLength }), (parts) =>
    parts.join("")
  )

const letters = ["a", "b", "ab", "\n", "é", "$&", "$1"]
const content = text(letters, 0, 30)
const piece = text(letters, 1, 3)

const windows = (unix: string): string => unix.replaceAll("\n", "\r\n")

/** Overlapping ones too. */
const count = (whole: string, part: string): number =>
  Array.from({ length: whole.length }, (_, at) => whole.startsWith(part, at)).filter(Boolean).length

describe("edit", () => {
  it.prop(
    "does what a plain replacement does",
    [content, piece, content],
    ([whole, oldText, newText]) => {
      const result = edit(whole, { oldText, newText, all: false })
      const occurrences = count(whole, oldText)
      if (occurrences === 0) return assert.strictEqual(result._tag, "Missing")
      if (occurrences > 1) {
        assert.strictEqual(result._tag, "Ambiguous")
        return assert.strictEqual(result._tag === "Ambiguous" ? result.lines.length : 0, occurrences)
      }
      assert.strictEqual(
        result._tag === "Edited" ? result.text : undefined,
        whole.replace(oldText, () => newText)
      )
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop(
    "replaces every occurrence when told to",
    [content, piece, content],
    ([whole, oldText, newText]) => {
      const result = edit(whole, { oldText, newText, all: true })
      if (!whole.includes(oldText)) return assert.strictEqual(result._tag, "Missing")
      assert.strictEqual(
        result._tag === "Edited" ? result.text : undefined,
        whole.replaceAll(oldText, () => newText)
      )
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop(
    "does the same in a file with CRLF, which it keeps",
    [content, piece, content],
    ([whole, oldText, newText]) => {
      const unix = edit(whole, { oldText, newText, all: true })
      const result = edit(windows(whole), { oldText, newText, all: true })
      assert.strictEqual(result._tag, unix._tag)
      if (result._tag !== "Edited" || unix._tag !== "Edited") return
      // A text of one line says nothing about its line ends.
      assert.strictEqual(result.text, whole.includes("\n") ? windows(unix.text) : unix.text)
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop(
    "keeps every character around the edit where line ends are mixed",
    [content, content, content],
    ([a, b, newText]) => {
      const result = edit(`${windows(a)}OLD${b}`, { oldText: "OLD", newText, all: false })
      assert.strictEqual(result._tag, "Edited")
      if (result._tag !== "Edited") return
      assert.isTrue(result.text.startsWith(windows(a)))
      assert.isTrue(result.text.endsWith(b))
    },
    { arbitrary: { runs: 500 } }
  )
})

describe("encodings", () => {
  const encodings: ReadonlyArray<Encoding> = ["utf-8", "utf-8-bom", "utf-16le", "utf-16be"]

  it.prop(
    "come back as they were",
    [text([...letters, "😀", "\r\n", "\ufeff", "中"], 0, 20), Schema.Literals(encodings)],
    ([whole, encoding]) => {
      // A text that begins with a byte order mark is, in a file, a text with a byte order mark.
      if (encoding === "utf-8" && whole.startsWith("\ufeff")) return
      assert.deepStrictEqual(decode(encode(whole, encoding)), Option.some({ text: whole, encoding }))
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "are refused or give the same bytes back",
    [
      Arbitrary.array(Arbitrary.schema(Schema.Literals([0, 10, 65, 0xc3, 0xa9, 0xef, 0xbb, 0xbf, 0xfe, 0xff, 0xd8])), {
        maxLength: 12
      })
    ],
    ([bytes]) => {
      const decoded = decode(Uint8Array.from(bytes))
      if (Option.isNone(decoded)) return
      assert.deepStrictEqual([...encode(decoded.value.text, decoded.value.encoding)], bytes)
    },
    { arbitrary: { runs: 2000 } }
  )
})

describe("pages", () => {
  it.prop(
    "are the same for any cut, and hold what a plain split holds",
    [content, Schema.Literals([1, 2, 3, 5])],
    ([whole, first]) => {
      const limits = { lines: 4, characters: 1000, width: 1000 }
      const start = lineStart(whole, first)
      const lines = whole.replace(/\n$/, "").split("\n")
      assert.strictEqual(countLines(whole), whole === "" ? 0 : lines.length)
      if (start === undefined) return assert.isAbove(first, whole === "" ? 0 : lines.length)
      const rest = whole.slice(start)
      const page = endPage(addText(emptyPage(limits), rest))
      assert.deepStrictEqual(page.lines, lines.slice(first - 1, first + 3))
      assert.strictEqual(page.full, lines.length > first + 3)
      const cut = Array.from({ length: rest.length }, (_, at) => rest.charAt(at)).reduce(addText, emptyPage(limits))
      assert.deepStrictEqual(endPage(cut), page)
    },
    { arbitrary: { runs: 1000 } }
  )

  it("cut long lines and say so", () => {
    const page = endPage(addText(emptyPage({ lines: 5, characters: 100, width: 10 }), `${"x".repeat(50)}\nshort`))
    assert.deepStrictEqual(page.lines, ["xxxxxxxxxx [… 40 characters of this line left out]", "short"])
  })
})
