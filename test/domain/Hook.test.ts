import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type HookEvent, hookInput, type HookOccasion, type HookSettings, hooksFor } from "../../src/domain/Hook.ts"

const hook = (event: HookEvent, matcher?: string): HookSettings => ({
  event,
  ...(matcher === undefined ? {} : { matcher }),
  action: { _tag: "Command", command: "true" },
  advisory: false,
  environment: {},
  source: "config.toml"
})

const use = (tool: string): HookOccasion => ({ event: "PreToolUse", tool, callId: "c", input: {} })

const place = {
  sessionId: "s",
  cwd: "/w",
  workspaceRoot: "/w",
  timestamp: "2026-01-01T00:00:00Z",
  permissionMode: "ask"
}

describe("hooksFor", () => {
  const cases: ReadonlyArray<readonly [matcher: string | undefined, tool: string, hears: boolean]> = [
    [undefined, "bash", true],
    ["", "bash", true],
    ["*", "mcp__a__b", true],
    ["bash", "bash", true],
    ["Bash", "bash", true],
    ["Bash|Edit", "edit", true],
    ["Edit", "apply_patch", true],
    ["edit", "apply_patch", false],
    ["mcp__.*", "mcp__a__b", true],
    ["mcp__a", "mcp__a__b", false],
    ["ba", "bash", false],
    ["bash_output", "bash_output", true],
    ["Bash", "bash_output", false],
    ["(", "bash", false],
    ["(", "(", true]
  ]
  for (const [matcher, tool, hears] of cases) {
    it(`${matcher ?? "no matcher"} ${hears ? "hears" : "does not hear"} of ${tool}`, () => {
      const one = hook("PreToolUse", matcher)
      assert.deepStrictEqual(hooksFor([one], use(tool)), hears ? [one] : [])
    })
  }

  it("asks only those of the event, in their order", () => {
    const [first, second, third] = [hook("PreToolUse"), hook("PostToolUse"), hook("PreToolUse", "bash")]
    assert.deepStrictEqual(hooksFor([first, second, third], use("bash")), [first, third])
    assert.deepStrictEqual(hooksFor([first, hook("Stop", "bash")], { event: "Stop", text: "" }).length, 1)
  })
})

describe("hookInput", () => {
  it("names the event in snake case and the call in full", () => {
    assert.deepStrictEqual(JSON.parse(hookInput(use("bash"), place)), {
      hookEventName: "pre_tool_use",
      ...place,
      toolName: "bash",
      toolUseId: "c",
      toolInput: {},
      hook_event_name: "PreToolUse",
      session_id: "s",
      tool_name: "Bash",
      tool_use_id: "c",
      tool_input: {}
    })
  })

  it("tells a hook of another agent what it looks for, under its names", () => {
    const input = { path: "src/a.ts", old_string: "a" }
    const told = JSON.parse(hookInput({ event: "PreToolUse", tool: "edit", callId: "c", input }, place))
    assert.strictEqual(told.tool_name, "Edit")
    assert.deepStrictEqual(told.tool_input, { ...input, file_path: "src/a.ts" })
    assert.deepStrictEqual(told.toolInput, input)
    const own = JSON.parse(hookInput({ event: "PreToolUse", tool: "mcp__a__b", callId: "c", input: [1] }, place))
    assert.deepStrictEqual([own.tool_name, own.tool_input], ["mcp__a__b", [1]])
  })

  it("cuts an input that is too long and says so", () => {
    const input = { content: "x".repeat(100_000) }
    const told = JSON.parse(hookInput({ event: "PreToolUse", tool: "write", callId: "c", input }, place))
    assert.strictEqual(told.toolInputTruncated, true)
    assert.strictEqual(told.toolInput.length, 64 * 1024)
  })

  it.effect.prop("is one line of JSON for any input", [Schema.Json, Schema.String], ([input, reason]) =>
    Effect.sync(() => {
      const line = hookInput({ event: "PermissionDenied", tool: "bash", callId: "c", input, reason }, place)
      assert.notInclude(line, "\n")
      assert.strictEqual(JSON.parse(line).hookEventName, "permission_denied")
    })
  )
})
