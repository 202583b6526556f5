import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { Content, text } from "../../../src/domain/Content.ts"
import { titleOf } from "../../../src/domain/session/Title.ts"

describe("Title", () => {
  it("is the first line of what was asked (F57)", () => {
    assert.strictEqual(titleOf([text("Fix the login bug\nsecond line")]), "Fix the login bug")
    assert.strictEqual(titleOf([text("\r\n \t\n  Fix   it \r\nnow")]), "Fix it")
    assert.strictEqual(titleOf([text("one\rtwo")]), "one")
  })

  it("ends with a word where there is one, and with an ellipsis", () => {
    const long = "Refactor the authentication of the gateway so that tokens are checked in constant time"
    assert.strictEqual(titleOf([text(long)]), "Refactor the authentication of the gateway so that tokens…")
    assert.strictEqual(titleOf([text("x".repeat(200))]), `${"x".repeat(59)}…`)
    assert.strictEqual(titleOf([text("x".repeat(60))]), "x".repeat(60))
  })

  it("prefers words to what is attached, and names what is attached if there are none", () => {
    const file = { type: "resource", resource: { uri: "file:///a.ts", text: "let a" } } as const
    const link = { type: "resource_link", uri: "file:///b.ts", name: "b.ts", title: "The b" } as const
    const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const
    assert.strictEqual(titleOf([file, link, image, text("Explain")]), "Explain")
    assert.strictEqual(titleOf([text(" "), file]), "file:///a.ts")
    assert.strictEqual(titleOf([link, image]), "The b")
    assert.strictEqual(titleOf([image]), "Image")
    assert.strictEqual(titleOf([text(""), text("\n")]), "Untitled")
    assert.strictEqual(titleOf([]), "Untitled")
  })

  it("of a whole file is found at its head, in no time", () => {
    assert.strictEqual(titleOf([text(`Head\n${"x".repeat(5_000_000)}`)]), "Head")
    assert.lengthOf(titleOf([text("😀".repeat(5_000_000))]), 2 * 59 + 1)
  })

  it.prop("is one short line of whole characters", [Schema.Array(Content)], ([prompt]) => {
    const title = titleOf(prompt)
    assert.isAtLeast(title.length, 1)
    assert.isAtMost([...title].length, 60)
    assert.isTrue(title.isWellFormed())
    assert.notMatch(title, /\p{Cc}/u)
    assert.strictEqual(title.trim(), title)
  })
})
