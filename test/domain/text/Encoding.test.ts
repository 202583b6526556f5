import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import { decode, encode, unwritable } from "../../../src/domain/text/Encoding.ts"
import { fileKind } from "../../../src/domain/text/FileKind.ts"
import { execFileSync } from "node:child_process"

const german = "Grüße aus Köln: „schön“ – 5 €, naïve Café\r\n"

/** What the program of the system makes of a text. */
const iconv = (text: string, to: string): Uint8Array =>
  execFileSync("iconv", ["-f", "UTF-8", "-t", to], { input: text })

describe("an encoding", () => {
  it("is what other programs write, and goes back to the same bytes", () => {
    for (const [to, encoding] of [
      ["WINDOWS-1252", "windows-1252"],
      ["UTF-16LE", "utf-16le-bare"],
      ["UTF-16BE", "utf-16be-bare"],
      ["UTF-8", "utf-8"]
    ] as const) {
      const bytes = iconv(german, to)
      assert.deepStrictEqual(decode(bytes), Option.some({ text: german, encoding }), to)
      assert.deepStrictEqual([...encode(german, encoding)], [...bytes], to)
    }
    const text = "På en ø med æbler og løg\n"
    assert.deepStrictEqual(decode(iconv(text, "ISO-8859-1")), Option.some({ text, encoding: "windows-1252" }))
  })

  it("of other scripts is not taken for a Western one, nor is damaged UTF-8 or data", () => {
    for (const [text, from] of [
      ["你好世界，这是一个文件。\n", "GBK"],
      ["日本語のテキスト\n", "SHIFT-JIS"],
      ["日本語 a\n", "EUC-JP"],
      ["Привет, мир. Это файл.\n", "KOI8-R"],
      ["Привет, мир. Это файл.\n", "WINDOWS-1251"],
      ["שלום עולם\n", "WINDOWS-1255"],
      ["한국어 문서\n", "EUC-KR"],
      ["text\n", "UTF-32"]
    ] as const) {
      assert.isTrue(Option.isNone(decode(iconv(text, from))), `${text} in ${from}`)
    }
    for (const [name, bytes] of [
      ["UTF-8 cut in the middle", Buffer.from("Größe und Länge, süß").subarray(0, -1)],
      ["UTF-8 with a Latin-1 letter", Buffer.concat([Buffer.from("Größe ähnlich Öl"), Buffer.from([0xe9])])],
      ["control characters", Buffer.from([0x61, 0x62, 0xe9, 0x01, 0x62])],
      ["a NUL far behind", Buffer.concat([Buffer.alloc(100_000, "a"), Buffer.from([0, 0x0a])])],
      ["16-bit samples", Buffer.from(Int16Array.from({ length: 64 }, (_, at) => at % 40).buffer)],
      ["two letters of UTF-16", Buffer.from("ab", "utf16le")],
      ["a PDF", Buffer.from("%PDF-1.7\nabcdefgh\xe9\n", "latin1")]
    ] as const) {
      assert.isTrue(Option.isNone(decode(bytes)), name)
    }
  })

  it("says which character it has not", () => {
    assert.deepStrictEqual(unwritable("a\nb → c", "windows-1252"), { character: "→", at: 4 })
    assert.deepStrictEqual(unwritable("😀", "windows-1252"), { character: "😀", at: 0 })
    assert.isUndefined(unwritable("€ – ÿ \u0081", "windows-1252"))
    assert.deepStrictEqual(unwritable("ab\ud800c", "utf-8"), { character: "\ud800", at: 2 })
    assert.isUndefined(unwritable("😀", "utf-16le"))
  })
})

describe("the kind of a file", () => {
  it("is told by its first bytes, images with their size", () => {
    const bytes = (hex: string, length = 40) =>
      Buffer.concat([Buffer.from(hex.replaceAll(" ", ""), "hex"), Buffer.alloc(length)])
    for (const [content, kind] of [
      [bytes("89504e470d0a1a0a 0000000d 49484452 00000500 000002d0"), "a PNG image of 1280×720 pixels"],
      [bytes("474946383961 4001 f000"), "a GIF image of 320×240 pixels"],
      [bytes("ffd8ffe0 0004 0000 ffc0 0011 08 0258 0320 03"), "a JPEG image of 800×600 pixels"],
      [bytes("ffd8ffe0", 0), "a JPEG image"],
      [bytes("424d 00000000 00000000 36000000 28000000 10000000 f0ffffff"), "a BMP image of 16×16 pixels"],
      [bytes("7f454c46"), "an ELF program or library"],
      [bytes("0061736d01000000"), "a WebAssembly module"],
      [bytes("1f8b08"), "a gzip archive"],
      [bytes("504b0304"), "a ZIP archive (or a document made of one)"],
      [Buffer.from("SQLite format 3\0"), "a SQLite database"],
      [Buffer.from("%PDF-1.4"), "a PDF document"],
      [Buffer.from("BM and more text"), undefined],
      [Buffer.from("plain"), undefined],
      [Buffer.alloc(0), undefined]
    ] as const) {
      assert.strictEqual(fileKind(content), kind)
    }
  })

  it("never fails for a head that is cut", () => {
    const whole = Buffer.from("ffd8ffe000040000ffc000110802580320030122", "hex")
    for (let length = 0; length <= whole.length; length++) fileKind(whole.subarray(0, length))
    for (const start of ["89504e47", "47494638", "424d00", "ffd8ffffff"]) fileKind(Buffer.from(start, "hex"))
  })
})
