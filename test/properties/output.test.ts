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
  const limits = { head: { lines: 4, bytes: 20 }, tail: { lines: 3, bytes: 15 } }
  const parts = pieces(["a", "bcd", "\n", "\n\n", "line of text\n", "é", "漢", "😀"], 30)
  const bytesOf = (text: string) => new TextEncoder().encode(text).length
  const lineEnds = (text: string) => text.split("\n").length - 1

  it.prop(
    "are the same for any cut",
    [parts],
    ([items]) => {
      const whole = items.join("")
      for (const cut of [items, cutEverywhere(whole)]) {
        assert.strictEqual(Output.render(keep(cut, limits)), Output.render(keep([whole], limits)))
        assert.strictEqual(Output.isCut(keep(cut, limits)), Output.isCut(keep([whole], limits)))
      }
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "give a short text back whole, and of a long one both ends, within their lines and bytes",
    [parts],
    ([items]) => {
      const whole = items.join("")
      const kept = keep(items, limits)
      const shown = Output.render(kept)
      assert.isAtMost(kept.tail.length, 2 * limits.tail.bytes)
      if (!Output.isCut(kept)) {
        assert.strictEqual(shown, whole)
        assert.isAtMost(bytesOf(whole), 35)
        assert.isAtMost(lineEnds(whole), 7)
        return
      }
      assert.isTrue(bytesOf(whole) > 15 || lineEnds(whole) > 3)
      const [, head = "", lines, left = "", tail = ""] =
        /^([^]*)\[… (?:(\d+) lines, )?(\d+) characters left out …\]\n([^]*)$/.exec(shown) ?? []
      assert.isTrue(shown.isWellFormed())
      const first = head.replace(/\n$/, "").replace(/\ufffd$/, "")
      const last = tail.replace(/^\ufffd/, "")
      assert.isTrue(whole.startsWith(first))
      assert.isTrue(whole.endsWith(last))
      // A mark for half of a pair is longer than the half.
      assert.isAtMost(bytesOf(head), 22)
      assert.isAtMost(bytesOf(tail), 16)
      assert.isAtMost(lineEnds(first), 4)
      assert.isAtMost(lineEnds(last), 3)
      assert.isAtMost(Number(left), whole.length)
      assert.isAtMost(Number(lines ?? 0), lineEnds(whole))
    },
    { arbitrary: { runs: 1000 } }
  )

  it("keeps the same little memory for any amount", () => {
    const chunk = `${"x".repeat(98)}\n`.repeat(660)
    let kept = Output.empty()
    for (let sent = 0; sent < 200_000_000; sent += chunk.length) {
      kept = Output.push(kept, chunk)
      assert.isAtMost(kept.head.length + kept.tail.length, 10_000 + 28_000)
    }
    assert.isAbove(kept.length, 200_000_000)
    const shown = Output.render(kept, "/all.txt")
    assert.isBelow(shown.length, 24_200)
    assert.match(shown, /\n\[… \d+ lines, \d+ characters left out; the whole output is in \/all\.txt …\]\nx/)
  })

  it("counts lines of any length", () => {
    const text = Array.from({ length: 3_000 }, (_, at) => `${at}\n`).join("")
    const shown = Output.render(keep([text], Output.defaultLimits))
    assert.include(shown, "\n399\n[… 1801 lines, ")
    assert.isTrue(shown.endsWith("\n2998\n2999\n"))
    assert.strictEqual(shown.split("\n").length, 400 + 1 + 799 + 1)
  })
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

  it.prop(
    "gives everything new once to whoever keeps it, or says how much is missing",
    [
      Arbitrary.array(
        Arbitrary.schema(
          Schema.Tuple([
            Schema.Literals(["a", "bc\n", "\r12%", `${"y".repeat(900)}\n`, "z".repeat(20_000)]),
            Schema.Boolean
          ])
        ),
        { minLength: 1, maxLength: 60 }
      )
    ],
    ([items]) => {
      let view = LiveView.emptyView
      let told = ""
      let all = ""
      let missing = 0
      for (const [item, isTaken] of [...items, ["end", true] as const]) {
        view = LiveView.receive(view, item)
        all += item
        assert.isAtMost(view.fresh.length, LiveView.VIEW_LIMIT)
        if (!isTaken) continue
        const [fresh, next] = LiveView.takeFresh(view)
        view = next
        assert.isAtMost(fresh.length, LiveView.VIEW_LIMIT + 60)
        const note = /^(\n?)\[… (\d+) characters are not shown …\]\n/.exec(fresh)
        if (note === null) {
          told += fresh
          assert.strictEqual(told, all.slice(missing))
          continue
        }
        // The note stands on a line of its own.
        assert.strictEqual(note[1] === "\n", told !== "" && !told.endsWith("\n"))
        told = fresh.slice(note[0].length)
        missing = all.length - told.length
        assert.isAtLeast(Number(note[2]), 1)
        assert.isTrue(all.endsWith(told))
      }
      assert.deepStrictEqual(LiveView.takeFresh(view), ["", view])
    },
    { arbitrary: { runs: 300 } }
  )
})
