import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { applyHunks } from "../../../src/domain/text/patch/ApplyHunks.ts"
import { parsePatch } from "../../../src/domain/text/patch/Patch.ts"

const parsed = (...lines: ReadonlyArray<string>) => Result.getOrThrow(parsePatch(lines.join("\n")))

const problem = (...lines: ReadonlyArray<string>): string => {
  const result = parsePatch(lines.join("\n"))
  return Result.isFailure(result) ? result.failure.message : assert.fail(JSON.stringify(result.success))
}

const patched = (text: string, ...lines: ReadonlyArray<string>) => {
  const [file] = parsed("--- a/f", "+++ b/f", ...lines)
  return Result.merge(
    Result.mapBoth(applyHunks("f", text, file?.hunks ?? []), {
      onSuccess: (result) => result.text,
      onFailure: (error) => error.message
    })
  )
}

const names = (...lines: ReadonlyArray<string>) => parsed(...lines).map(({ from, to }) => [from, to])

describe("the names in a patch", () => {
  it("are those of the files, in every form", () => {
    const hunk = ["@@ -1 +1 @@", "-x", "+y"]
    assert.deepStrictEqual(names("--- a/src/x.ts", "+++ b/src/x.ts", ...hunk), [["src/x.ts", "src/x.ts"]])
    assert.deepStrictEqual(names("--- src/x.ts\t2026-01-01", "+++ src/x.ts\t2026-01-02", ...hunk), [
      ["src/x.ts", "src/x.ts"]
    ])
    // A folder named a.
    assert.deepStrictEqual(names("--- a/x", "+++ a/x", ...hunk), [["a/x", "a/x"]])
    assert.deepStrictEqual(names("--- /dev/null", "+++ b/x", "@@ -0,0 +1 @@", "+y"), [[null, "x"]])
    assert.deepStrictEqual(names("--- i/x y", "+++ w/x y", ...hunk), [["x y", "x y"]])
    assert.deepStrictEqual(names('--- "a/\\303\\274\\"q"', '+++ "b/\\303\\274\\"q"', ...hunk), [['ü"q', 'ü"q']])
    assert.deepStrictEqual(names("diff --git a/x b/x", "old mode 100644", "new mode 100755"), [["x", "x"]])
    assert.deepStrictEqual(names("diff --git a/x y b/x y", "new file mode 100644", "index 0..e"), [[null, "x y"]])
    assert.deepStrictEqual(names("diff --git a/x b/y", "similarity index 100%", "rename from x", "rename to y"), [
      ["x", "y"]
    ])
    assert.deepStrictEqual(names("Some words", "", "--- a/x", "+++ b/x", ...hunk, "", "--- a/y", "+++ b/y", ...hunk), [
      ["x", "x"],
      ["y", "y"]
    ])
  })

  it("are asked for where they are missing, and what is no text is refused", () => {
    assert.include(problem("hello"), "names no file")
    assert.include(problem("@@ -1 +1 @@", "-x", "+y"), "Line 1 of the patch begins a hunk, but no file was named")
    assert.include(problem("--- a/x", "+++ b/x", "@@ ... @@", "-x"), "Line 3 of the patch is no head of a hunk")
    assert.include(problem("diff --git a/x b/x", "index 1..2", "GIT binary patch"), "binary patch")
    assert.include(problem("diff --git a/x b/x", "new file mode 120000"), "mode 120000")
    assert.include(problem("*** Begin Patch", "@@", "-x", "*** End Patch"), "Line 2 of the patch comes before a file")
    assert.include(problem("*** Begin Patch", "*** Add File: x", "y", "*** End Patch"), "begin it with +")
    assert.include(problem("*** Begin Patch", "*** Update File: x", "y"), "begin it with a blank, + or -")
  })
})

describe("a hunk", () => {
  const text = "a\nb\nc\nd\ne\n"

  it("goes where its lines are, whatever its numbers say", () => {
    assert.strictEqual(patched(text, "@@ -2,3 +2,3 @@", " b", "-c", "+C", " d"), "a\nb\nC\nd\ne\n")
    assert.strictEqual(patched(text, "@@ -90,3 +7 @@", " b", "-c", "+C", " d"), "a\nb\nC\nd\ne\n")
    assert.strictEqual(patched(text, "@@ -1,9 +1,9 @@", " b", "-c", "+C", "+D", " d"), "a\nb\nC\nD\nd\ne\n")
    assert.strictEqual(patched("a\n\nb\n", "@@ -1,3 +1,3 @@", " a", "", "-b", "+B"), "a\n\nB\n")
    assert.strictEqual(patched("a  \nb\n", "@@ -1,2 +1,2 @@", " a", "-b", "+B"), "a  \nB\n")
  })

  it("keeps the line ends of the file, and its end", () => {
    assert.strictEqual(patched("a\r\nb\r\n", "@@ -1,2 +1,3 @@", " a", "+x", "-b", "+B"), "a\r\nx\r\nB\r\n")
    assert.strictEqual(patched("a\r\nb\n", "@@ -1,2 +1,2 @@", "-a", "+A", " b"), "A\r\nb\n")
    assert.strictEqual(patched("a\nb", "@@ -1,2 +1,3 @@", " a", "-b", "+B", "+c"), "a\nB\nc")
    assert.strictEqual(patched("a\nb", "@@ -1,2 +1,2 @@", " a", "-b", "\\ No newline at end of file", "+B"), "a\nB\n")
    assert.strictEqual(patched("a\nb\n", "@@ -2 +2 @@", "-b", "+B", "\\ No newline at end of file"), "a\nB")
    assert.strictEqual(patched("a\rb\r", "@@ -2 +2 @@", "-b", "+B"), "a\rB\r")
    // The patch as a whole came with Windows line ends.
    const [file] = parsed("--- a/f\r", "+++ b/f\r", "@@ -1 +1 @@\r", "-a\r", "+A\r", "")
    assert.deepStrictEqual(
      file?.hunks[0]?.lines.map((line) => line.text),
      ["a", "A"]
    )
  })

  it("says what does not fit: the file, the hunk, the line of the patch and of the file", () => {
    const message = patched(text, "@@ -1 +1 @@", "-a", "+A", "@@ -3,2 +3,2 @@", " c", "-D", "+x")
    assert.include(message, 'Hunk 2 of f (line 6 of the patch) does not fit: line 4 is "d", not "D"')
    assert.include(patched("x\nx\n", "@@ -7 +7 @@", "-x", "+y"), "fits 2 places, at lines 1, 2: add more context")
    assert.include(patched(text, "@@ -2,0 +3 @@", "+x"), "has no line of the file in it")
    assert.include(patched(text, "@@ -1 +1 @@", " a"), "changes nothing")
    assert.include(patched("a", "@@ -1,2 +1,2 @@", " a", "-b", "+c"), 'the file ends before "b"')
  })
})

describe("a patch without line numbers", () => {
  const text = "class A:\n  def go(self):\n    return 1\n\nclass B:\n  def go(self):\n    return 1\n"
  const envelope = (...lines: ReadonlyArray<string>) => {
    const [file] = parsed("*** Begin Patch", "*** Update File: f", ...lines, "*** End Patch")
    return Result.merge(
      Result.mapBoth(applyHunks("f", text, file?.hunks ?? []), {
        onSuccess: (result) => result.text,
        onFailure: (error) => error.message
      })
    )
  }

  it("finds its place by the lines that it names", () => {
    const second = text.slice(0, text.lastIndexOf("1")) + "2\n"
    assert.strictEqual(envelope("@@ class B:", "@@   def go(self):", "-    return 1", "+    return 2"), second)
    assert.strictEqual(envelope("@@", "-    return 1", "+    return 2", "*** End of File"), second)
    assert.strictEqual(envelope("@@ class B:", "+  x = 1"), text.replace("class B:\n", "class B:\n  x = 1\n"))
    assert.strictEqual(envelope("@@", "+# end"), `${text}# end\n`)
    assert.include(envelope("@@", "-    return 1", "+    return 2"), "fits 2 places, at lines 3, 7")
    assert.include(envelope("@@ class C:", "-    return 1"), 'names the line "class C:"')
    assert.strictEqual(envelope("@@ -7 +7 @@", "-    return 1", "+    return 2"), second)
  })

  it("names files that come, move and go", () => {
    const files = parsed(
      "```",
      "*** Begin Patch",
      "*** Add File: new.txt",
      "+one",
      "+",
      "*** Delete File: old.txt",
      "*** Update File: from.txt",
      "*** Move to: to.txt",
      "@@",
      "-a",
      "+b",
      "*** End Patch",
      "```"
    )
    assert.deepStrictEqual(
      files.map(({ from, isRename, isWhole, to }) => [from, to, isRename, isWhole]),
      [
        [null, "new.txt", false, false],
        ["old.txt", null, false, true],
        ["from.txt", "to.txt", true, false]
      ]
    )
    const [added] = files
    assert.deepStrictEqual(
      Result.map(applyHunks("new.txt", "", added?.hunks ?? []), (result) => result.text),
      Result.succeed("one\n\n")
    )
  })
})
