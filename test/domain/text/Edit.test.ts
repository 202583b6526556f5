import { assert, describe, it } from "@effect/vitest"
import { edit } from "../../../src/domain/text/edit/Edit.ts"
import { keepLineEndings } from "../../../src/domain/text/LineEnding.ts"

const once = (text: string, oldText: string, newText: string) => edit(text, { oldText, newText, all: false })

const textAfter = (...args: Parameters<typeof once>): string => {
  const result = once(...args)
  return result._tag === "Edited" ? result.text : assert.fail(JSON.stringify(result))
}

describe("an edit that matches but for white space", () => {
  it("gets the indentation of the file", () => {
    for (const [name, text, oldText, newText, expected] of [
      [
        "the first level left out",
        "class A {\n    run() {\n        go()\n    }\n}\n",
        "run() {\n    go()\n}",
        "run() {\n    stop()\n    if (x) {\n        go()\n    }\n}",
        "class A {\n    run() {\n        stop()\n        if (x) {\n            go()\n        }\n    }\n}\n"
      ],
      [
        "blanks for tabs",
        "func a() {\n\tb()\n\tfor {\n\t\tc()\n\t}\n}\n",
        "    b()\n    for {\n        c()\n    }",
        "    b()\n    for {\n        c()\n        if d {\n            e()\n        }\n    }",
        "func a() {\n\tb()\n\tfor {\n\t\tc()\n\t\tif d {\n\t\t\te()\n\t\t}\n\t}\n}\n"
      ],
      [
        "tabs for blanks",
        "def a():\n  if b:\n    c()\n",
        "\tif b:\n\t\tc()",
        "\tif b:\n\t\tif x:\n\t\t\tc()",
        "def a():\n  if b:\n    if x:\n      c()\n"
      ],
      [
        "two blanks for four",
        "a\n    b\n        c\n",
        "a\n  b",
        "a\n  b\n    d\n",
        "a\n    b\n        d\n\n        c\n"
      ],
      [
        "one line, less deep than it is",
        "x\n\tfoo()\n",
        "    foo()\n",
        "if (y) {\n    foo()\n}\n",
        "x\nif (y) {\n\tfoo()\n}\n"
      ],
      ["blanks at ends of lines", "a  \nb\t\nc\n", "a\nb", "A\nB", "A\nB\nc\n"],
      ["Windows line ends", "  a\r\n  b\r\nc\r\n", "a\nb\n", "A\nB\n", "  A\r\n  B\r\nc\r\n"],
      ["Windows line ends that the file does not have", "a\nb\nc\n", "a\r\nb", "A\r\nB", "A\nB\nc\n"],
      ["a line end that the file does not have", "a\nb", "b\n", "B\n", "a\nB"],
      ["line ends of an old Mac", "a\r  b\rc\r", "b\nc\n", "B\nC\n", "a\r  B\rC\r"]
    ] as const) {
      const result = once(text, oldText, newText)
      assert.strictEqual(result._tag === "Edited" ? result.text : JSON.stringify(result), expected, name)
    }
  })

  it("is refused where several places come into question, and where the indentation has another shape", () => {
    assert.deepStrictEqual(once("\ta()\nb\n  a()\n", "   a()", "x"), { _tag: "Ambiguous", lines: [1, 3], loose: true })
    // In Python that is another program.
    const other = once("if a:\n  b\n", "if a:\nb", "x")
    assert.deepInclude(other, { _tag: "Missing" })
    assert.include(other._tag === "Missing" ? other.hint : "", "Lines 1-2 differ from it in white space only")
    assert.strictEqual(once("if a:\nb\n", "if a:\n  b", "x")._tag, "Missing")
    assert.strictEqual(once("a  b\n", "a b", "x")._tag, "Missing")
    assert.strictEqual(once("a\n\n\nb", "  \n\t\n \n", "x")._tag, "Missing")
  })

  it("counts only where nothing matches exactly", () => {
    assert.deepInclude(once("  a\na\n", "a\n", "b\n"), { _tag: "Ambiguous", loose: false })
    assert.strictEqual(textAfter("\ta\n  a\n", "  a", "  b"), "\ta\n  b\n")
    assert.deepInclude(once("x  \n", "x  ", "y"), { loose: false, text: "y\n" })
  })
})

describe("line ends", () => {
  it("of a file that is replaced stay, also where they are mixed", () => {
    for (const [old, text, expected] of [
      ["a\r\nb\r\n", "A\nB\nC", "A\r\nB\r\nC"],
      ["a\rb\r", "A\nB\n", "A\rB\r"],
      ["a\nb\n", "A\nB\n", "A\nB\n"],
      ["one line", "A\nB\n", "A\nB\n"],
      ["a\r\nb\nc\nd\r\n", "a\nb\nX\nc\nd\n", "a\r\nb\nX\nc\nd\r\n"],
      ["a\r\nb\r\nc\n", "a\nc\n", "a\r\nc\n"],
      ["a\r\nb\nc", "a\nb\nc\n", "a\r\nb\nc\n"],
      ["a\nb\n", "A\r\nB\r\n", "A\r\nB\r\n"]
    ] as const) {
      assert.strictEqual(keepLineEndings(old, text), expected, JSON.stringify([old, text]))
    }
  })
})
