import { assert, describe, it } from "@effect/vitest"
import { parseCommand, parseSkill } from "../../src/domain/CommandFile.ts"

describe("the file of a command", () => {
  it("says what it is for, what may follow it, and which model it wants", () => {
    const text = `---
description: Fix an issue
argument-hint: [number] [priority]
model: anthropic/small
allowed-tools: Bash(git:*)
---
Fix #$1.
`
    assert.deepStrictEqual(parseCommand(text, "fix.md"), {
      description: "Fix an issue",
      hint: "[number] [priority]",
      model: "anthropic/small",
      body: "Fix #$1.",
      problems: []
    })
  })

  it("needs no fields: its first line describes it", () => {
    const { description, hint, problems } = parseCommand("\n# Tidy up\nDo it.", "tidy.md")
    assert.deepStrictEqual([description, hint, problems], ["Tidy up", undefined, []])
  })

  it("keeps the hint of one word, which reads as a list", () => {
    assert.strictEqual(parseCommand("---\nargument-hint: [issue]\n---\nx", "x.md").hint, "[issue]")
    assert.strictEqual(parseCommand("---\nargument-hint: <file> [line]\n---\nx", "x.md").hint, "<file> [line]")
  })

  it("is told of what is wrong in it, with file and line", () => {
    const { problems } = parseCommand("---\nwhat is this\n---\n", "x.md")
    assert.match(problems.join("\n"), /^x\.md, line 2: .*\nx\.md: has no text/)
  })

  it("cannot break out of its line in a list", () => {
    const { description } = parseCommand(`---\ndescription: "a\\u001b[2Jb\\nc ${"x".repeat(900)}"\n---\nx`, "x.md")
    assert.notMatch(description, /\p{Cc}/u)
    assert.isAtMost(description.length, 300)
  })
})

describe("the file of a skill", () => {
  const skill = (fields: string) => parseSkill(`---\n${fields}\n---\nBody`, "/s/pdf/SKILL.md", "pdf")

  it("has a name and a description, and says who may call it", () => {
    const { body, description, isForModel, isForPeople, name, problems } = skill(
      "name: pdf-forms\ndescription: Fill forms"
    )
    assert.deepStrictEqual(
      [name, description, body, isForModel, isForPeople, problems],
      ["pdf-forms", "Fill forms", "Body", true, true, []]
    )
    assert.isFalse(skill("description: x\nuser-invocable: false").isForPeople)
    assert.isFalse(skill("description: x\ndisable-model-invocation: true").isForModel)
    assert.strictEqual(skill("description: Forms.\nwhen-to-use: With PDFs.").description, "Forms. With PDFs.")
  })

  it("without a description is none for the model, and a bad name is not used; both are told", () => {
    const { isForModel, name, problems } = skill("name: Bad Name")
    assert.deepStrictEqual([isForModel, name], [false, "pdf"])
    assert.match(problems.join("\n"), /the name "Bad Name" is none.*\n.*has no description/)
  })
})
