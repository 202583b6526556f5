import { assert, describe, it } from "@effect/vitest"
import { expandHome, isWithin, parseReference, showPath } from "../../../src/domain/files/Paths.ts"

describe("parseReference", () => {
  it("understands the links that editors send (F94)", () => {
    assert.deepStrictEqual(parseReference("file:///w/a.rs#L23:27"), { path: "/w/a.rs", line: 23, endLine: 27 })
    assert.deepStrictEqual(parseReference("file:///w/a.rs#L2-L3"), { path: "/w/a.rs", line: 2, endLine: 3 })
    assert.deepStrictEqual(parseReference("file:///w/a.rs?symbol=My%20Error#L2661:2661"), {
      path: "/w/a.rs",
      line: 2661,
      endLine: 2661,
      symbol: "My Error"
    })
    assert.deepStrictEqual(parseReference("file:///w/a%20b/%C3%BC.ts"), { path: "/w/a b/ü.ts" })
    assert.deepStrictEqual(parseReference("file://localhost/w/"), { path: "/w/" })
    assert.deepStrictEqual(parseReference("file:///C:/x%20y/a.rs"), { path: "C:\\x y\\a.rs" })
    assert.deepStrictEqual(parseReference("file:///w/100%.md"), { path: "/w/100%.md" })
  })

  it("leaves everything else alone", () => {
    for (const path of ["src/a.ts", "/w/a#L3", "a?b", "~/x", "C:\\x"])
      assert.deepStrictEqual(parseReference(path), { path })
  })
})

describe("paths", () => {
  it("lie in a folder or not, never by a common start of names", () => {
    assert.isTrue(isWithin("/w", "/w"))
    assert.isTrue(isWithin("/w", "/w/a"))
    assert.isTrue(isWithin("/", "/w"))
    assert.isFalse(isWithin("/w", "/work"))
    assert.isFalse(isWithin("/w/a", "/w"))
  })

  it("are shown short where that is unambiguous", () => {
    assert.strictEqual(showPath("/w", "/w/src/a.ts"), "src/a.ts")
    assert.strictEqual(showPath("/w", "/w"), ".")
    assert.strictEqual(showPath("/w", "/work/a.ts"), "/work/a.ts")
    assert.strictEqual(showPath("/", "/a"), "a")
  })

  it("may begin with the home folder", () => {
    assert.strictEqual(expandHome("~/a", "/home/me"), "/home/me/a")
    assert.strictEqual(expandHome("~", "/home/me"), "/home/me")
    assert.strictEqual(expandHome("~other/a", "/home/me"), "~other/a")
    assert.strictEqual(expandHome("~/a", undefined), "~/a")
  })
})
