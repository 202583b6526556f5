import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { matchCommand, matchWildcard } from "../../../src/domain/permission/CommandPattern.ts"
import {
  parseRule,
  parseRules,
  PermissionRuleTable,
  printRule,
  ruleOfTable
} from "../../../src/domain/permission/PermissionRule.ts"

const decodeTable = Schema.decodeUnknownResult(PermissionRuleTable)
const parsed = (text: string) => Result.getOrUndefined(parseRule(text))

describe("PermissionRule", () => {
  for (const [text, tool, pattern] of [
    ["Bash(git status)", "Bash", "git status"],
    [" Bash ( npm run test:* ) ", "Bash", "npm run test:*"],
    ["Bash(echo (a))", "Bash", "echo (a)"],
    ["Bash", "Bash", undefined],
    ["Read(src/**)", "Read", "src/**"],
    ["Write(~/notes/*)", "Edit", "~/notes/*"],
    ["Glob(**/*.sql)", "Grep", "**/*.sql"],
    ["MCPTool(sales__delete_*)", "MCPTool", "sales__delete_*"],
    ["mcp__sales__list", "MCPTool", "mcp__sales__list"],
    ["*", "*", undefined]
  ] as const) {
    it(`reads ${text}`, () =>
      assert.deepStrictEqual(parsed(text), pattern === undefined ? { tool } : { tool, pattern }))
  }

  it("prints in one spelling", () => {
    assert.strictEqual(printRule({ tool: "Edit", pattern: "a b" }), "Edit(a b)")
    assert.strictEqual(printRule({ tool: "*" }), "*")
  })

  for (const [table, expected] of [
    [
      { action: "deny", tool: "bash", pattern: "rm *" },
      { action: "deny", text: "Bash(rm *)" }
    ],
    [
      { action: "allow", tool: "mcp", pattern: "sales__list" },
      { action: "allow", text: "MCPTool(sales__list)" }
    ],
    [
      { action: "ask", tool: "write" },
      { action: "ask", text: "Edit" }
    ],
    [
      { action: "ask", tool: "glob", pattern: "a" },
      { action: "ask", text: "Grep(a)" }
    ],
    [
      { action: "deny", tool: "webfetch", pattern: "domain:a.org" },
      { action: "deny", text: "WebFetch(domain:a.org)" }
    ],
    [
      { action: "deny", tool: "*" },
      { action: "deny", text: "*" }
    ],
    [{ action: "never", tool: "bash" }, undefined],
    [{ action: "deny", tool: "Bash" }, undefined],
    [{ action: "deny", tool: "shell" }, undefined],
    [{ action: "deny", tool: "bash", pattern: "" }, undefined],
    [{ action: "deny", tool: "bash", pattern: 1 }, undefined],
    [{ tool: "bash" }, undefined],
    ["Bash(rm *)", undefined],
    [null, undefined]
  ] as const) {
    it(`reads the table ${JSON.stringify(table)}`, () => {
      assert.deepStrictEqual(Result.getOrUndefined(Result.map(decodeTable(table), ruleOfTable)), expected)
      if (expected !== undefined) assert.isTrue(Result.isSuccess(parseRule(expected.text)))
    })
  }

  it("a rule that cannot be read is named, and the others hold", () => {
    const { rules, warnings } = parseRules({
      allow: ["Bash(ls)", "Shell(ls)"],
      ask: ["Bash()", "Read(a) b"],
      deny: ["*(x)", "", "bash(ls)"]
    })
    assert.deepStrictEqual(rules, { allow: [{ tool: "Bash", pattern: "ls" }], ask: [], deny: [] })
    assert.strictEqual(warnings.length, 6)
    assert.match(warnings[0] ?? "", /allow rule "Shell\(ls\)" is ignored: there is no such tool; write one of Bash, /)
    assert.match(warnings[1] ?? "", /ask rule "Bash\(\)" is ignored: the pattern is empty/)
    assert.match(warnings.at(-1) ?? "", /deny rule "bash\(ls\)" is ignored: there is no such tool; did you mean Bash\?/)
  })
})

describe("CommandPattern", () => {
  for (const [pattern, text, expected] of [
    ["git", "git", true],
    ["git", "git status", true],
    ["git", "gitleaks detect", false],
    ["git status", "git status -s", true],
    ["git status", "git statusx", false],
    ["git *", "git", true],
    ["git *", "git log -p", true],
    ["git *", "gitk", false],
    ["npm run test:*", "npm run test", true],
    ["npm run test:*", "npm run test --watch", true],
    ["npm run test:*", "npm run test:unit", false],
    ["npm run test*", "npm run test:unit", true],
    ["*", "anything at all", true],
    ["* --force", "git push --force", true],
    ["* --force", "git push --force now", false],
    ["rm -rf *", "rm -rf /a/b c", true],
    ["Git", "git", false],
    ["ls [ab]?", "ls a1", true],
    ["ls [!a]", "ls a", false],
    ["ls [a-c]", "ls b", true],
    ["[ -f", "[ -f", true],
    ["echo \\*", "echo *", true],
    ["echo \\*", "echo x", false]
  ] as const) {
    it(`${pattern} ${expected ? "is about" : "is not about"} ${text}`, () =>
      assert.strictEqual(matchCommand(pattern, text), expected))
  }

  it("many stars on a long text stay fast", () => {
    assert.isFalse(matchWildcard("*a".repeat(50) + "b", "a".repeat(20_000)))
  })
})
