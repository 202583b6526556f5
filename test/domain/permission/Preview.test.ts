import { assert, describe, it } from "@effect/vitest"
import type { Access } from "../../../src/domain/permission/Permission.ts"
import { questionPatch } from "../../../src/domain/permission/Preview.ts"
import { textContent, type ToolCallPatch } from "../../../src/domain/Tool.ts"

const textsOf = (access: Access, patch: ToolCallPatch = {}, notes: ReadonlyArray<string> = []) =>
  (questionPatch(access, patch, { links: new Map([["/w/l", "/w/.git/config"]]), notes }).content ?? []).map((part) =>
    part.type === "content" && part.content.type === "text" ? part.content.text : part.type
  )

const diff = { type: "diff", path: "/x", oldText: null, newText: "1" } as const

describe("Preview", () => {
  it("a command is shown whole, with its folder, and nothing in it hides", () => {
    const command = `echo a\nrm -rf b\u202e\u001b[2K${"x".repeat(5_000)}`
    const [text = ""] = textsOf({ _tag: "Execute", command, cwd: "/w/sub" })
    assert.include(text, "echo a\nrm -rf b\\u{202e}\\u{1b}[2K")
    assert.include(text, "x".repeat(5_000))
    assert.include(text, "In /w/sub")
  })

  it("what a tool shows itself stays, behind what is special", () => {
    assert.deepStrictEqual(textsOf({ _tag: "Execute", command: "x", cwd: "/w" }, { content: [textContent("mine")] }), [
      "mine"
    ])
    assert.deepStrictEqual(textsOf({ _tag: "Edit", paths: ["/x"], outside: ["/x"] }, { content: [diff] }), [
      "Outside of the workspace: /x",
      "diff"
    ])
    assert.deepStrictEqual(
      textsOf({ _tag: "Edit", paths: ["/w/.git/config"], outside: [] }, { content: [diff] }, ["note"]),
      ["note\nThis file can decide what programs run: /w/.git/config", "diff"]
    )
    assert.deepStrictEqual(textsOf({ _tag: "Edit", paths: ["/w/a"], outside: [] }, { content: [diff] }), ["diff"])
  })

  it("nothing in what a tool shows hides either", () => {
    const patch = { title: "a\u202eb", content: [textContent("x\u200b\ry\n")] }
    const shown = questionPatch({ _tag: "Execute", command: "x", cwd: "/w" }, patch, { links: new Map(), notes: [] })
    assert.deepStrictEqual(shown, { title: "a\\u{202e}b", content: [textContent("x\\u{200b}\\u{d}y\n")] })
  })

  it("many files are counted", () => {
    const outside = Array.from({ length: 30 }, (_, n) => `/x/${n}`)
    const [text = ""] = textsOf({ _tag: "Read", paths: outside, outside })
    assert.include(text, "… and 10 more")
  })

  it("an address is shown whole", () => {
    assert.include(textsOf({ _tag: "Fetch", url: "https://a.org/?x=1" })[0] ?? "", "https://a.org/?x=1")
  })
})
