import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { readAgentFile, readAgentObject } from "../../../src/domain/agent/AgentFile.ts"
import { mayUse } from "../../../src/domain/agent/Applying.ts"

const file = (fields: ReadonlyArray<string>, body = "Do it well.\n") => ["---", ...fields, "---", body].join("\n")

const read = (fields: ReadonlyArray<string>, body?: string) => {
  const result = readAgentFile("a.md", "given", file(fields, body))
  if (Result.isFailure(result)) throw new Error(result.failure)
  return result.success
}

const failure = (text: string): string =>
  Result.getOrElse(Result.flip(readAgentFile("a.md", "given", text)), () => "none")

describe("the file of an agent", () => {
  it("is described without what people do not see", () => {
    assert.strictEqual(read(['description: "\\x1b[31mred\\u202e"']).agent.description, "[31mred")
    assert.strictEqual(read([], "\u001b]0;title\u0007 Reads\u{e0041}\n").agent.description, "]0;title Reads")
  })

  it("takes no word for a mode or a tool only because every object has a property of that name", () => {
    for (const word of ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"]) {
      const { agent } = read([`mode: ${word}`, `tools: [${word}, read]`, `disallowedTools: ${word}`])
      assert.deepStrictEqual(
        { mode: agent.mode, tools: agent.tools, without: agent.without },
        { mode: "plan", tools: [word, "read"], without: [word] }
      )
    }
  })

  it("says all of it", () => {
    assert.deepStrictEqual(
      read([
        "name: reviewer",
        "description: Reads a change",
        "model: anthropic/claude-haiku-5",
        "tools: [read, grep, bash]",
        "mode: ask",
        "promptMode: full",
        "maxTurns: 7"
      ]),
      {
        agent: {
          name: "reviewer",
          description: "Reads a change",
          prompt: "Do it well.",
          replaces: true,
          model: "anthropic/claude-haiku-5",
          mode: "ask",
          tools: ["read", "grep", "bash", "bash_output", "bash_stop"],
          steps: 7
        },
        problems: []
      }
    )
  })

  it("is understood when it was written for other agents", () => {
    const { agent, problems } = read([
      "name: code-reviewer",
      "description: Use this agent when: a change is done. <example>\\nuser: hi</example>",
      "tools: Read, Grep, Edit, Bash, WebSearch, mcp__github__get_issue",
      "disallowedTools: Write",
      "permissionMode: acceptEdits",
      "prompt_mode: extend",
      "agents_md: true",
      "model: inherit",
      "color: red"
    ])
    assert.deepStrictEqual(problems, [])
    assert.deepStrictEqual(agent.tools, [
      "read",
      "grep",
      "edit",
      "apply_patch",
      "bash",
      "bash_output",
      "bash_stop",
      "mcp__github__get_issue"
    ])
    assert.deepStrictEqual(agent.without, ["write"])
    assert.strictEqual(agent.mode, "accept-edits")
    assert.isUndefined(agent.model)
    assert.isFalse(agent.replaces)
  })

  it("has a name and a description of its own accord", () => {
    const { agent } = read(["model: haiku"], "\n# You review changes.\n\nMore.")
    assert.strictEqual(agent.name, "given")
    assert.strictEqual(agent.description, "You review changes.")
  })

  it("knows capabilities", () => {
    assert.deepStrictEqual(read(["capabilityMode: read-only"]).agent.tools, [
      "read",
      "grep",
      "glob",
      "list",
      "web_fetch"
    ])
    assert.isUndefined(read(["capabilityMode: all"]).agent.tools)
    assert.deepStrictEqual(read(["capability_mode: execute", "tools: bash, edit"]).agent.tools, [
      "bash",
      "bash_output",
      "bash_stop"
    ])
  })

  it("loses no protection over a mistake, and names line, field and remedy", () => {
    const { agent, problems } = read([
      "tools: Bash(git:*), reed, nonsense_tool",
      "mode: yolo",
      "maxTurns: many",
      "descripton: x",
      "promptMode: all"
    ])
    assert.strictEqual(agent.mode, "plan")
    assert.isFalse(mayUse(agent, "bash"))
    assert.isFalse(mayUse(agent, "read"))
    assert.deepStrictEqual(
      problems.map((problem) => problem.replace(/;.*/s, "")),
      [
        "a.md, line 5: descripton is not read",
        "a.md, line 3: mode must be one of plan, ask, accept-edits, auto, always-approve",
        'a.md, line 2: tools has "Bash(git:*)", which is no name of a tool and gives none',
        'a.md, line 2: tools has "reed", which is no tool here',
        "a.md, line 6: promptMode must be extend or full",
        "a.md, line 4: maxTurns must be a whole number above 0"
      ]
    )
  })

  it("is none without fields, instructions or a name that can be one", () => {
    assert.match(failure("Only text"), /^a\.md is no agent: its first line is no '---'/)
    assert.match(failure("---\nname: x\n"), /do not end/)
    assert.match(failure(file(["name: x"], " \n")), /has no instructions/)
    assert.match(failure(file(["name: ../x"])), /name is no name for an agent/)
    assert.match(failure(file(["name: always-approve"])), /name is the name of something else/)
    assert.match(failure(file(["tools:", "  write: false"])), /tools is a table/)
    assert.match(failure(file(["name: x"], "y".repeat(300_000))), /at most 262144 fit/)
  })

  it("is the same as an object", () => {
    const value = {
      name: "x",
      description: "d",
      prompt: "Do it.",
      tools: ["Read"],
      mode: "plan",
      hooks: {},
      color: null
    }
    assert.deepStrictEqual(
      readAgentObject("it", value),
      Result.succeed({
        agent: { name: "x", description: "d", prompt: "Do it.", replaces: false, mode: "plan", tools: ["read"] },
        problems: []
      })
    )
    assert.deepStrictEqual(
      Result.flip(readAgentObject("it", { ...value, tools: { read: true } })),
      Result.succeed("it is no agent: tools must be a text or a list of texts")
    )
    assert.isTrue(Result.isFailure(readAgentObject("it", {})))
  })

  const anything = Schema.Union([
    Schema.String,
    Schema.Finite,
    Schema.Boolean,
    Schema.Null,
    Schema.Array(Schema.String),
    Schema.JsonObject
  ])
  const keys = Schema.Literals(["name", "tools", "mode", "permissionMode", "disallowedTools", "prompt", "description"])

  it.prop(
    "gives nothing that was to be limited, whatever stands there",
    [Arbitrary.schema(Schema.Record(keys, anything))],
    ([fields]) => {
      const result = readAgentObject("it", { ...fields, name: "x", prompt: "Do it." })
      if (Result.isFailure(result)) return
      const { agent } = result.success
      const given = (key: string) => {
        const value: unknown = Object.entries(fields).find(([name]) => name === key)?.[1]
        return value !== undefined && value !== null && value !== ""
      }
      if (given("tools") && !JSON.stringify(fields).includes("*")) assert.isDefined(agent.tools)
      if (given("mode") || given("permissionMode")) assert.isDefined(agent.mode)
    },
    { arbitrary: { runs: 300 } }
  )
})
