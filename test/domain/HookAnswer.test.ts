import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import type { HookEvent } from "../../src/domain/Hook.ts"
import { type HookAnswer, readAnswer, readExit } from "../../src/domain/HookAnswer.ts"

const passed: HookAnswer = { _tag: "Passed" }
const denied = (reason = "It gave no reason"): HookAnswer => ({ _tag: "Denied", reason })

describe("what a hook says by its exit code", () => {
  const cases: ReadonlyArray<readonly [code: number, stdout: string, stderr: string, answer: HookAnswer]> = [
    [0, "", "", passed],
    [0, '{"decision":"deny","reason":"not on Fridays"}', "", denied("not on Fridays")],
    [0, "", "said to stderr", passed],
    [2, "", "secrets\n", denied("secrets")],
    [2, "", "", denied()],
    [2, '{"decision":"allow"}', "", denied()],
    [2, '{"decision":"deny","reason":"why"}', "noise", denied("why")],
    [2, '{"decision":"deny"}', "because", denied("because")],
    [2, '{"hookSpecificOutput":{"permissionDecision":"allow"}}', "no all the same", denied("no all the same")],
    [1, '{"decision":"allow"}', "boom\n", { _tag: "Failed", problem: "it ended with exit code 1: boom" }]
  ]
  for (const [code, stdout, stderr, answer] of cases) {
    it(`exit code ${code}, ${JSON.stringify(stdout)}, ${JSON.stringify(stderr)}: ${answer._tag}`, () => {
      assert.deepStrictEqual(readExit(code, stdout, stderr, "PreToolUse"), answer)
    })
  }

  it.effect.prop("passes only with exit code 0", [Schema.Int, Schema.String, Schema.String], ([code, out, err]) =>
    Effect.sync(() => {
      if (code !== 0) assert.notStrictEqual(readExit(code, out, err, "PreToolUse")._tag, "Passed")
    })
  )
})

describe("what a hook says by its output", () => {
  const cases: ReadonlyArray<readonly [output: string, answer: HookAnswer | "Failed", event?: HookEvent]> = [
    // Text for people.
    ["all is well\n", passed],
    ["formatted {a,b}.ts and {c}", passed],
    ["[info] nothing to deny", passed],
    ["int main() {\n  return 0;\n", passed],
    ["{}", passed],
    ["[]", passed],
    ['{"suppressOutput":true,"systemMessage":"hi"}', passed],
    ["{".repeat(500).replace(/^/, "x"), passed],
    // Its own dialect, and others.
    ['{"decision":"allow"}', passed],
    ['{"decision":"approve","reason":"fine"}', passed],
    ['{"decision":null,"continue":null}', passed],
    ['{"continue":true}', passed],
    [' {"decision":"block"}', denied()],
    ['{"decision":"deny","reason":"r"}', denied("r")],
    ['{"decision":"Deny ","reason":"r"}', denied("r")],
    ['{"decision":"deny","reason":{"odd":1}}', denied()],
    ['{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}', passed],
    [
      '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}',
      denied("r")
    ],
    ['{"hook_specific_output":{"permission_decision":"deny","permission_decision_reason":"r"}}', denied("r")],
    ['{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"r"}}}', denied("r")],
    ['{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}', passed],
    ['{"permissionDecision":"deny","permissionDecisionReason":"r"}', denied("r")],
    ['{"permission":"deny","userMessage":"r"}', denied("r")],
    ['{"continue":false,"stopReason":"r"}', denied("r")],
    ['{"continue":false,"decision":"allow","stopReason":"r"}', denied("r")],
    ['{"decision":"allow","hookSpecificOutput":{"permissionDecision":"deny"},"reason":"r"}', denied("r")],
    ['{"decision":"allow","Decision":"deny"}', denied()],
    // Where it stands.
    ['checking src {x}\n{"decision":"deny","reason":"r"}\n', denied("r")],
    ['checking src { x\n{"decision":"deny","reason":"r"}\n', denied("r")],
    ['verdict: {"decision":"deny","reason":"a } in \\"it\\""} done', denied('a } in "it"')],
    ['[{"decision":"deny","reason":"r"}]', denied("r")],
    ['[\n  {"decision":"allow"},\n  {"decision":"deny","reason":"r"}\n]', denied("r")],
    ['[{"decision":"deny","reason":"r"}', denied("r")],
    ['{"decision":"allow"}\n{"decision":"deny","reason":"r"}', denied("r")],
    ['{"decision":"allow"} {"decision":', "Failed"],
    ['\ufeff{"decision":"deny","reason":"r"}', denied("r")],
    ['\u001b[32m{\u001b[0m"decision": \u001b[1m"deny"\u001b[0m, "reason": "r"}', denied("r")],
    ['\u001b]0;title{"decision":"deny","reason":"r"}', denied("r")],
    ['{broken "hookSpecificOutput": {"permissionDecision":"deny","reason":"r"}}', denied("r")],
    // What nobody can be sure of.
    ["{", "Failed"],
    ['{"decision":"maybe"}', "Failed"],
    ['{"decision":1}', "Failed"],
    ['{"decision":["deny"]}', "Failed"],
    ['{"decision":{"result":"deny"}}', "Failed"],
    ['{"decision":"deny"', "Failed"],
    ['{"continue":"false"}', "Failed"],
    ['{"hookSpecificOutput":"deny"}', "Failed"],
    ['{"hookSpecificOutput":{"permissionDecision":"ask"}}', "Failed"],
    ["{'decision': 'deny'}", "Failed"],
    ["checked\n{'decision': 'deny'}", "Failed"],
    ['checked\n{"hookSpecificOutput": {"permissionDec', "Failed"],
    ['[{"decision":"allow"},{"decision":"perhaps"}]', "Failed"],
    // To end is what the event is about, so only an objection keeps the model going.
    ['{"continue":false,"stopReason":"r"}', passed, "Stop"],
    ['{"decision":"block","reason":"r"}', denied("r"), "Stop"],
    ['{"continue":false,"stopReason":"r"}', denied("r"), "UserPromptSubmit"]
  ]
  for (const [output, answer, event = "PreToolUse"] of cases) {
    it(`${event}: ${JSON.stringify(output).slice(0, 100)}`, () => {
      const found = readAnswer(output, event)
      if (answer === "Failed") assert.strictEqual(found._tag, "Failed")
      else assert.deepStrictEqual(found, answer)
    })
  }

  it("every form that the page of permissions shows is a no", () => {
    const [, forms = ""] =
      /A no is heard[^`]*```jsonl\n(.*?)```/s.exec(readFileSync("docs/permissions.md", "utf8")) ?? []
    const lines = forms.trim().split("\n")
    assert.isAtLeast(lines.length, 5)
    for (const line of lines) assert.strictEqual(readAnswer(line, "PreToolUse")._tag, "Denied", line)
  })

  it("a wish for another input is told, and is no answer", () => {
    const output = '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"ls"}}}'
    assert.deepStrictEqual(readAnswer(output, "PreToolUse"), { _tag: "Passed", changesInput: true })
    const no = output.replace("allow", "deny")
    assert.deepStrictEqual(readAnswer(no, "PreToolUse"), denied())
  })

  it.effect.prop("a no is heard behind any line, and before any", [Schema.String, Schema.String], ([before, after]) =>
    Effect.sync(() => {
      const [first, last] = [before, after].map((text) => text.replace(/[{"\p{Cc}]/gu, ""))
      const output = `${first}\n{"decision":"deny","reason":"r"}\n${last}`
      assert.deepStrictEqual(readAnswer(output, "PreToolUse"), denied("r"))
    })
  )

  it("the most hostile text is read in no time", () => {
    const started = performance.now()
    for (const text of ["{".repeat(65_536), '{"'.repeat(32_768), '{"a":'.repeat(13_000), `x${"{}".repeat(32_768)}`]) {
      readAnswer(text, "PreToolUse")
    }
    assert.isBelow(performance.now() - started, 2_000)
  })
})

describe("a reason", () => {
  const reasonOf = (text: string): string => {
    const said = readAnswer(JSON.stringify({ decision: "deny", reason: text }), "PreToolUse")
    return said._tag === "Denied" ? said.reason : said._tag
  }

  it("has no control characters, from stdout, stderr or a failure", () => {
    const odd = "\u001b[31mred\u001b[0m\u0000 \u001b]0;title\u0007a\u009b1mb\u202ec\r\nnext\u0008"
    const plain = "red\ufffd abc\nnext"
    assert.strictEqual(reasonOf(odd), plain)
    assert.deepStrictEqual(readExit(2, "", odd, "PreToolUse"), denied(plain))
    assert.deepStrictEqual(readExit(1, "", odd, "PreToolUse"), {
      _tag: "Failed",
      problem: `it ended with exit code 1: ${plain}`
    })
    assert.strictEqual(reasonOf("\u001b[0m \u0007"), "It gave no reason")
  })

  it("is bounded, and no character is cut in half", () => {
    const long = `a${"😀".repeat(3_000)}`
    const cut = reasonOf(long)
    assert.isTrue(cut.isWellFormed())
    assert.isBelow(cut.length, 4_100)
    assert.match(cut, /😀 \[2002 characters left out\]$/)
    assert.notInclude(cut, "\ufffd")
    assert.strictEqual(reasonOf("\ud800x"), "\ufffdx")
  })

  it.effect.prop("is fit to be shown, whatever it was", [Schema.String], ([text]) =>
    Effect.sync(() => {
      const shown = reasonOf(text)
      assert.isTrue(shown.isWellFormed())
      assert.notMatch(shown, /(?![\n\t])\p{Cc}/u)
    })
  )
})
