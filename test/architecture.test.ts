/** The page about the architecture names the folders that there are. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./support/Sources.ts"

describe("docs/architecture.md", () => {
  it("has a row for each room of the services, and for no other", () => {
    const page = readFileSync(join(root, "docs/architecture.md"), "utf8")
    const [, table = ""] = /## The rooms of the services\n([^]*?)\n## /.exec(page) ?? []
    const rows = table.matchAll(/^\|((?: *`[a-z]+`,?)+) *\|/gm)
    const named = [...rows].flatMap(([, cell = ""]) => cell.match(/[a-z]+/g) ?? [])
    const folders = readdirSync(join(root, "src/services"), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory()
    )
    assert.deepStrictEqual(named.toSorted(), folders.map(({ name }) => name).toSorted())
  })
})
