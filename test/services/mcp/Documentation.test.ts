import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseServerFile } from "../../../src/services/settings/McpSection.ts"
import * as Result from "effect/Result"

const root = join(import.meta.dirname, "../../..")
const page = readFileSync(join(root, "docs/mcp.md"), "utf8")

describe("docs/mcp.md", () => {
  it("quotes what is said when something is wrong", () => {
    const [, rows = ""] = page.split("## When something is wrong")
    const quotes = [...rows.matchAll(/^\| `([^`]*)`/gm)].map(([, quote = ""]) => quote)
    const sources = globSync("src/services/mcp/**/*.ts", { cwd: root })
      .map((file) => readFileSync(join(root, file), "utf8"))
      .join("\n")
    assert.isAtLeast(quotes.length, 10)
    // What the message names comes in between.
    for (const fragment of quotes.flatMap((quote) => quote.split(/\s?…|"npx"|30s|10m/))) {
      if (fragment !== "<redacted>") assert.include(sources, fragment.trim())
    }
  })

  it("has a file for all tools that is read as it stands", () => {
    const [, file = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? []
    const { servers, warnings } = Result.getOrThrow(parseServerFile(file, ".mcp.json"))
    assert.deepStrictEqual(warnings, [])
    assert.deepStrictEqual(
      servers.map(({ spec }) => [spec.name, spec._tag]),
      [["tracker", "Http"]]
    )
  })

  it("has lines that can be read", () => {
    const long = page.split("\n").filter((line) => line.length > 125 && !line.startsWith("|"))
    assert.deepStrictEqual(long, [])
  })
})
