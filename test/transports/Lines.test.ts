import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Frame } from "../../src/transports/Frames.ts"
import * as Lines from "../../src/transports/Lines.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

const texts = (frames: ReadonlyArray<Frame>) =>
  frames.map((frame) => (frame._tag === "Text" ? frame.text : `too long: ${frame.bytes}`))

const cut = (chunks: ReadonlyArray<Uint8Array>, limit?: number) => {
  const lines = Lines.make(limit)
  return texts([...chunks.flatMap((chunk) => lines.push(chunk)), ...lines.end()])
}

const test = (name: string, check: () => void) => it.effect(name, () => Effect.sync(check))

describe("Lines", () => {
  const rows: Readonly<Record<string, ReadonlyArray<string>>> = {
    "": [],
    "\n": [],
    "\r\n \t\n\n": [],
    "a\nb\n": ["a", "b"],
    "a\r\nb\r\n": ["a", "b"],
    "a\nb": ["a", "b"],
    "a\n\n\r\nb\r": ["a", "b"],
    "\ufeffa\nb": ["a", "b"],
    "\ufeff\na": ["a"],
    ' {"a":" b "} \n': ['{"a":" b "}'],
    "漢字🎉\nå\n": ["漢字🎉", "å"],
    "a\u2028b\u0085c\vd\n": ["a\u2028b\u0085c\vd"]
  }

  test("TR-03, F01: gives the same frames for whole input and for single bytes", () => {
    for (const [text, expected] of Object.entries(rows)) {
      assert.deepStrictEqual(cut([bytes(text)]), expected, JSON.stringify(text))
      assert.deepStrictEqual(cut([...bytes(text)].map((byte) => Uint8Array.of(byte))), expected, JSON.stringify(text))
    }
  })

  test("gives frames as soon as their line ends", () => {
    const lines = Lines.make()
    assert.deepStrictEqual(texts(lines.push(bytes("a\nb\nc"))), ["a", "b"])
    assert.deepStrictEqual(texts(lines.push(bytes("d"))), [])
    assert.deepStrictEqual(texts(lines.push(bytes("\ne"))), ["cd"])
    assert.deepStrictEqual(texts(lines.end()), ["e"])
    assert.deepStrictEqual(texts(lines.end()), [])
  })

  test("bytes that are no UTF-8 become replacement marks, and cost only their line", () => {
    assert.deepStrictEqual(cut([Uint8Array.of(0xff, 0xc3, 0x0a, 0x61, 0x0a)]), ["\ufffd\ufffd", "a"])
  })

  test("TR-04: a line up to the limit passes, a longer one is reported and the next one read", () => {
    const text = `${"x".repeat(10)}\n${"y".repeat(11)}\nz\n${"w".repeat(25)}`
    const expected = ["x".repeat(10), "too long: 11", "z", "too long: 25"]
    assert.deepStrictEqual(cut([bytes(text)], 10), expected)
    for (const size of [1, 2, 3, 7, 11]) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
        bytes(text.slice(at * size, (at + 1) * size))
      )
      assert.deepStrictEqual(cut(chunks, 10), expected, `chunks of ${size}`)
    }
  })

  test("the bytes of the limit are counted, not the characters", () => {
    assert.deepStrictEqual(cut([bytes("漢漢漢\n漢漢漢x\n")], 9), ["漢漢漢", "too long: 10"])
  })

  test("memory stays flat while a line of 512 MiB is thrown away", () => {
    const lines = Lines.make()
    const chunk = Buffer.alloc(1024 * 1024, 0x78)
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    for (let count = 0; count < 512; count++) {
      lines.push(chunk)
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }
    assert.isAtMost(most, 130 * 1024 * 1024)
    assert.deepStrictEqual(texts(lines.push(bytes("\na\n"))), [`too long: ${512 * 1024 * 1024}`, "a"])
  })

  test("F02: a long line is linear in its length, however it is cut", () => {
    const push = (length: number) => {
      const lines = Lines.make()
      const chunk = Buffer.alloc(64, 0x78)
      const before = performance.now()
      for (let count = 0; count < length / 64; count++) lines.push(chunk)
      assert.deepStrictEqual(
        texts(lines.end()).map((text) => text.length),
        [length]
      )
      return performance.now() - before
    }
    push(5_000_000 - (5_000_000 % 64))
    const one = push(2 ** 21)
    const eight = push(2 ** 24)
    // Eight times the length; quadratic would be 64 times the time.
    assert.isBelow(eight, Math.max(30 * one, 300))
  })
})
