import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseGitIgnore } from "../../../src/domain/files/GitIgnore.ts"

/** What git says of paths that do not have to be there: those that the rules of one file name. */
const git = (rules: string, paths: ReadonlyArray<string>): ReadonlyMap<string, boolean> => {
  const folder = mkdtempSync(join(tmpdir(), "super-pi-ignore-"))
  try {
    const options = {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, GIT_CONFIG_NOSYSTEM: "1", HOME: folder }
    } as const
    spawnSync("git", ["init", "-q"], options)
    writeFileSync(join(folder, ".gitignore"), rules)
    const { stdout } = spawnSync("git", ["check-ignore", "-v", "-n", "-z", "--stdin", "--no-index"], {
      ...options,
      input: paths.join("\0")
    })
    const fields = stdout.split("\0")
    return new Map(
      paths.map((path, index) => {
        const pattern = fields[index * 4 + 2] ?? ""
        return [path, pattern !== "" && !pattern.startsWith("!")] as const
      })
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Of letters with one byte: to git a `?` is a byte, to others and to us a character. */
const piece = Arbitrary.schema(
  Schema.Literals([
    "a",
    "b",
    "ab",
    "*",
    "**",
    "/",
    "?",
    "[ab]",
    "[!a]",
    "[a-b]",
    "[]a]",
    "\\*",
    "!",
    "#",
    " ",
    "\\ ",
    ".",
    "[b-a]",
    "[[:alpha:]]"
  ])
)
const line = Arbitrary.map(Arbitrary.array(piece, { minLength: 1, maxLength: 5 }), (parts) => parts.join(""))
const name = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Literals(["a", "b", "ab", ".", "*", "a b", "b ", "!a", "#", "]", "-"])), {
    minLength: 1,
    maxLength: 3
  }),
  (parts) => parts.join("")
)
const path = Arbitrary.map(Arbitrary.array(name, { minLength: 1, maxLength: 3 }), (parts) => parts.join("/"))

const isSane = (each: string): boolean => each.split("/").every((part) => !/^\.{1,2}$/.test(part) && part !== "")

describe("rules of a .gitignore", () => {
  it.prop(
    "are what git takes them for",
    [Arbitrary.array(line, { minLength: 1, maxLength: 3 }), Arbitrary.array(path, { minLength: 1, maxLength: 6 })],
    ([lines, given]) => {
      // A name that is given twice is told once.
      const paths = [...new Set(given.filter(isSane))]
      if (paths.length === 0) return
      const rules = `${lines.join("\n")}\n`
      const ours = parseGitIgnore(rules)
      /** Git looks at the folders above, too: what is in one that is ignored stays ignored. */
      const ignores = (each: string): boolean => {
        const names = each.split("/")
        return names.some(
          (_, index) =>
            ours(names.slice(0, index + 1).join("/"), index < names.length - 1) === true &&
            (index < names.length - 1 || ours(each, false) === true)
        )
      }
      const expected = git(rules, paths)
      for (const each of paths)
        assert.strictEqual(ignores(each), expected.get(each), `${JSON.stringify(rules)} ${each}`)
    },
    { arbitrary: { runs: 60 }, timeout: 30_000 }
  )

  it("have no class of characters that only every object has", () => {
    for (const word of ["constructor", "toString", "nonsense"]) {
      assert.isFalse(parseGitIgnore(`[[:${word}:]]\n`)("a", false) ?? false)
      assert.isTrue(parseGitIgnore(`[[:${word}:]b]\n`)("b", false))
    }
  })

  it("never take long, whatever they are", () => {
    const start = performance.now()
    const deep = Array.from({ length: 40 }, () => "a").join("/")
    for (const [rules, each] of [
      [`${"*a".repeat(40)}b`, "a".repeat(2_000)],
      [`${"**/a/".repeat(20)}b`, deep],
      [`${" ".repeat(500_000)}x`, "x"],
      [`${"\\".repeat(500_001)} `, "x"],
      ["[".repeat(2_000), "["],
      ["[z-a]*", "b"]
    ] as const) {
      parseGitIgnore(rules)(each, false)
    }
    assert.isBelow(performance.now() - start, 2_000)
  })
})
