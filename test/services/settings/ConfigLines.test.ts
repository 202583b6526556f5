/** Complaints name the line that a person has to look at. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { parseConfigFile } from "../../../src/services/settings/ConfigFile.ts"
import { linesOf } from "../../../src/services/settings/ConfigLines.ts"

const text = [
  "# models first",
  "[models]",
  'default = "a/b"',
  "",
  "[providers.local]",
  'kind = "openai-compatible"',
  "models = [",
  '  "one",',
  '  { id = "two" },',
  "]",
  "[[hooks.PreToolUse]]",
  'matcher = "Bash"',
  "[[hooks.PreToolUse.hooks]]",
  'command = "one"',
  "[[hooks.PreToolUse.hooks]]",
  'command = "two"',
  "[[hooks.PreToolUse]]",
  'command = "three"',
  "[mcp_servers]",
  'files = { command = "npx", env = { "A B" = "x" } }',
  "toolset.bash.timeout_secs = 3"
].join("\n")

describe("lines", () => {
  it.each([
    ["models", 2],
    ["models.default", 3],
    ["providers.local", 5],
    ["providers.local.kind", 6],
    ["providers.local.models", 7],
    ["providers.local.models[1].id", 7],
    ["providers.local.base_url", 5],
    ["hooks.PreToolUse[0].matcher", 12],
    ["hooks.PreToolUse[0].hooks[0].command", 14],
    ["hooks.PreToolUse[0].hooks[1].command", 16],
    ["hooks.PreToolUse[1].command", 18],
    ["mcp_servers.files.command", 20],
    ["mcp_servers.files.env.…", 20],
    ["mcp_servers.toolset.bash.timeout_secs", 21],
    ["nothing.of.it", undefined]
  ])("%s stands on line %s", (path, line) => {
    assert.strictEqual(linesOf(text)(path), line)
  })

  it("are those of the file also with CRLF, a byte order mark and texts of several lines", () => {
    const windows = '\uFEFF[models]\r\ndefault = """\r\n[models]\r\nx"""\r\n[auth]\r\nrequired = "no"\r\n'
    const { warnings } = Result.getOrThrow(parseConfigFile(windows, "config.toml"))
    assert.deepStrictEqual(
      warnings.map((warning) => warning.split(" ", 2).join(" ")),
      ["config.toml:2: models.default", "config.toml:6: auth.required"]
    )
  })

  it("a name that may be a secret is found without being said", () => {
    const { warnings } = Result.getOrThrow(parseConfigFile("[auth]\n\nsk-secret-1 = true", "config.toml"))
    assert.deepStrictEqual(warnings, ["config.toml:3: auth.… is not read; the keys are required"])
  })

  it("takes no longer for a document that was made to take long", () => {
    const start = performance.now()
    for (const hostile of [
      `${Array.from({ length: 100_000 }, () => "a").join(".")} = 1\n`,
      `[${Array.from({ length: 100_000 }, () => "a").join(".")}]\nx = 1\n`,
      "[[hooks.PreToolUse]]\n".repeat(40_000)
    ]) {
      Result.getOrThrow(parseConfigFile(hostile, "config.toml"))
    }
    assert.isBelow(performance.now() - start, 8_000)
  })
})
