import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { edit } from "../../src/domain/text/edit/Edit.ts"
import { decode, encode, type Encoding, unwritable } from "../../src/domain/text/Encoding.ts"
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
      // Where nothing matches exactly, white space may differ: that has properties of its own.
      if (occurrences === 0) return assert.isTrue(result._tag === "Missing" || result.loose)
      if (occurrences > 1) {
        assert.strictEqual(result._tag, "Ambiguous")
        return assert.strictEqual(result._tag === "Ambiguous" ? result.lines.length : 0, occurrences)
      }
      assert.isFalse(result._tag === "Edited" && result.loose)
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
      if (!whole.includes(oldText)) return assert.isTrue(result._tag === "Missing" || result.loose)
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

describe("edit but for white space", () => {
  const code = text(["a\n", "b\n", "{\n", "}\n", "\n", "\t", "  ", "    ", "x"], 0, 24)
  const strip = (whole: string) =>
    whole
      .replace(/\n$/, "")
      .split("\n")
      .map((line) => line.trim())

  it.prop(
    "replaces lines that are the same without it, at the only place, and nothing around them",
    [code, text(["a\n", "b\n", "{\n", "}\n", "\t", "  ", "x"], 1, 6), code],
    ([whole, oldText, newText]) => {
      const result = edit(whole, { oldText, newText, all: false })
      if (whole.includes(oldText)) return assert.isFalse(result._tag !== "Missing" && result.loose)
      const lines = whole.split("\n")
      const wanted = strip(oldText)
      const at = lines.flatMap((_, index) =>
        wanted.every((line, offset) => lines[index + offset]?.trim() === line) ? [index] : []
      )
      const isBlank = wanted.every((line) => line === "")
      if (at.length !== 1 || isBlank) {
        assert.notStrictEqual(result._tag, "Edited")
        if (result._tag === "Ambiguous")
          assert.deepStrictEqual(
            result.lines,
            at.map((index) => index + 1)
          )
        return
      }
      if (result._tag !== "Edited") return assert.strictEqual(result._tag, "Missing")
      const [first = 0] = at
      const before = lines
        .slice(0, first)
        .map((line) => `${line}\n`)
        .join("")
      const after = lines.slice(first + wanted.length).join("\n")
      assert.isTrue(result.text.startsWith(before))
      assert.isTrue(result.text.endsWith(after))
      // What was put in is the new text, but for its indentation.
      const middle = result.text.slice(before.length, result.text.length - after.length)
      assert.strictEqual(
        middle
          .split("\n")
          .map((line) => line.trimStart())
          .join("\n")
          .replace(/\n+$/, ""),
        newText
          .split("\n")
          .map((line) => line.trimStart())
          .join("\n")
          .replace(/\n+$/, "")
      )
    },
    { arbitrary: { runs: 3000 } }
  )

  it.prop(
    "gives back what a change of all indentation took away",
    [
      Arbitrary.array(Arbitrary.schema(Schema.Literals(["0a", "1b", "2c", "3d", "1e"])), {
        minLength: 1,
        maxLength: 6
      }),
      Schema.Literals(["\t", "  ", "    "]),
      Schema.Literals(["\t", "  ", "    "]),
      Schema.Literals([0, 1, 2])
    ],
    ([levels, unit, other, shift]) => {
      const written = (step: string, more: number) =>
        levels.map((line) => step.repeat(Number(line[0]) + more) + line.slice(1)).join("\n")
      const whole = `start\n${written(unit, shift)}\nend\n`
      const oldText = written(other, 0)
      const result = edit(whole, {
        oldText,
        newText: oldText.replaceAll(/[a-e]/g, (letter) => letter.toUpperCase()),
        all: false
      })
      if (result._tag !== "Edited" || !result.loose) return
      assert.strictEqual(
        result.text,
        `start\n${written(unit, shift).replaceAll(/[a-e]/g, (letter) => letter.toUpperCase())}\nend\n`
      )
    },
    { arbitrary: { runs: 1000 } }
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

describe("a text of one byte a character", () => {
  const every = Arbitrary.map(
    Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))), {
      maxLength: 40
    }),
    (values) => Uint8Array.from(values)
  )

  it.prop(
    "goes back to the same bytes, whatever they are",
    [every],
    ([bytes]) => {
      const whole = new TextDecoder("windows-1252").decode(bytes)
      assert.isUndefined(unwritable(whole, "windows-1252"))
      assert.deepStrictEqual([...encode(whole, "windows-1252")], [...bytes])
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "is refused, or goes back to the same bytes with the same text in them",
    [every, text(["a", "word ", "\n"], 0, 30)],
    ([bytes, more]) => {
      const whole = Buffer.concat([Buffer.from(more), bytes, Buffer.from(more)])
      const decoded = decode(whole)
      if (Option.isNone(decoded)) return
      assert.deepStrictEqual([...encode(decoded.value.text, decoded.value.encoding)], [...whole])
    },
    { arbitrary: { runs: 1000 } }
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
