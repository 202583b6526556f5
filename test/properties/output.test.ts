import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as LiveView from "../../src/domain/text/LiveView.ts"
import * as Output from "../../src/domain/text/Output.ts"
import * as Terminal from "../../src/domain/text/Terminal.ts"

/** Text and places to cut it. */
const pieces = (alphabet: ReadonlyArray<string>, maxLength: number) =>
  Arbitrary.map(
    Arbitrary.array(Arbitrary.schema(Schema.Literals(alphabet)), { minLength: 0, maxLength }),
    (parts) => parts
  )

const terminalParts = pieces(
  [
    "a",
    "bc",
    "é",
    "😀",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\u001b",
    "\u001b[",
    "[",
    "]",
    "31",
    ";",
    "m",
    "K",
    "\u001b[1m",
    "\u0007",
    "\u001b]0;t",
    "\\",
    "\u009b",
    "\0",
    "\b",
    " "
  ],
  40
)

const cutEverywhere = (text: string): ReadonlyArray<string> =>
  Array.from({ length: text.length }, (_, at) => text.charAt(at))

const plain = (parts: ReadonlyArray<string>): string => {
  let carry = ""
  let open = ""
  let result = ""
  for (const part of parts) {
    const [text, unfinished] = Terminal.strip(carry, part)
    const [settled, rest] = Terminal.settle(open, text)
    carry = unfinished
    open = rest
    result += settled
  }
  return result + Terminal.shown(open)
}

const keep = (parts: ReadonlyArray<string>, limits: Output.OutputLimits): Output.Output =>
  parts.reduce(Output.push, Output.empty(limits))

describe("terminal output", () => {
  it.prop(
    "is the same text for any cut",
    [terminalParts],
    ([parts]) => {
      const whole = parts.join("")
      assert.strictEqual(plain(parts), plain([whole]))
      assert.strictEqual(plain(cutEverywhere(whole)), plain([whole]))
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop(
    "holds no control character but tab and line end",
    [terminalParts],
    ([parts]) => {
      assert.notMatch(plain(parts), /(?![\t\n])\p{Cc}/u)
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "is left alone when it is plain",
    [pieces(["a", "é😀", "\n", "\t", " ", "[0m"], 40)],
    ([parts]) => {
      assert.strictEqual(plain(parts), parts.join(""))
    },
    { arbitrary: { runs: 300 } }
  )

  it.prop(
    "settles a line that never ends, the same for any cut",
    [Schema.Literals([1, 7, 1000, 20_000])],
    ([size]) => {
      const line = `${"x".repeat(40_000)}\rshort\rend`
      const cut = Array.from({ length: Math.ceil(line.length / size) }, (_, at) =>
        line.slice(at * size, (at + 1) * size)
      )
      assert.strictEqual(plain(cut), plain([line]))
      assert.strictEqual(plain([line]), `${"x".repeat(32_768)}end`)
    },
    { arbitrary: { runs: 8 } }
  )
})

describe("head and tail", () => {
  const limits = { head: 20, tail: 15 }
  const parts = pieces(["a", "bcd", "\n", "line of text\n", "😀"], 30)

  it.prop(
    "are the same for any cut",
    [parts],
    ([items]) => {
      const whole = items.join("")
      assert.deepStrictEqual(keep(items, limits), keep([whole], limits))
      assert.deepStrictEqual(keep(cutEverywhere(whole), limits), keep([whole], limits))
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "give a short text back whole, and of a long one both ends in little room",
    [parts],
    ([items]) => {
      const whole = items.join("")
      const kept = keep(items, limits)
      assert.strictEqual(kept.length, whole.length)
      assert.isTrue(whole.startsWith(kept.head))
      assert.isTrue(whole.endsWith(kept.tail))
      assert.isAtMost(kept.head.length + kept.tail.length, 35)
      const shown = Output.render(kept)
      if (whole.length <= 35) {
        assert.strictEqual(shown, whole)
      } else {
        const [, head = "", left = "", tail = ""] =
          /^([^]*)\[… (\d+) characters left out …\]\n([^]*)$/.exec(shown) ?? []
        assert.isTrue(shown.isWellFormed())
        assert.isTrue(whole.startsWith(head.replace(/\n$/, "").replace(/\ufffd$/, "")))
        assert.isTrue(whole.endsWith(tail.replace(/^\ufffd/, "")))
        assert.isAtLeast(Number(left), whole.length - 35)
      }
    },
    { arbitrary: { runs: 500 } }
  )
})

describe("the live view", () => {
  const chunks = Arbitrary.array(
    Arbitrary.map(Arbitrary.schema(Schema.Literals([1, 40, 500, 9_000])), (size) => `${"y".repeat(size)}\n`),
    { minLength: 1, maxLength: 120 }
  )

  it.prop(
    "shows the newest line every time and costs a small multiple of the output (F76)",
    [chunks],
    ([items]) => {
      let view = LiveView.emptyView
      let sent = 0
      let received = 0
      for (const item of items) {
        view = LiveView.receive(view, item)
        received += item.length
        const [text, next] = LiveView.take(view)
        view = next
        sent += text.length
        assert.isAtMost(text.length, LiveView.VIEW_LIMIT)
        assert.isTrue(text.endsWith(item.slice(-200)))
      }
      assert.isAtMost(sent, 3 * received + 32_768 + 256 * items.length)
    },
    { arbitrary: { runs: 200 } }
  )
})
