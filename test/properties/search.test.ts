import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileGlob } from "../../src/domain/files/FileGlob.ts"
import type { GrepQuery, Search } from "../../src/services/files/search/Search.ts"
import { makeSearch } from "../../src/services/files/search/SearchLocal.ts"
import { makeWalkingSearch } from "../../src/services/files/search/WalkingSearch.ts"
import { makeFolder, platform } from "../support/toolbox.ts"

const oneOf = <const A extends ReadonlyArray<string>>(...values: A) => Arbitrary.schema(Schema.Literals(values))

const pair = <A, B>(one: Arbitrary.Arbitrary<A>, other: Arbitrary.Arbitrary<B>) =>
  Arbitrary.flatMap(one, (first) => Arbitrary.map(other, (second) => [first, second] as const))

const folder = oneOf("", "src/", "src/deep/", ".hidden/", "notes/", "a b/", "ü/", "src/notes/")
const file = oneOf("a.ts", "b.md", "A.TS", "[x].ts", ".env", "x.log", "notes", "😀.txt", "ﬀ.txt", "-rf")

const content = Arbitrary.map(
  Arbitrary.array(
    oneOf(
      "needle",
      "Needle x",
      "a needle é",
      "größe_1",
      "no",
      "",
      "x\ty",
      "  needle",
      "NEEDLE\r",
      "é\r",
      "needle needle",
      "{a}"
    ),
    { maxLength: 4 }
  ),
  (lines) => lines.join("\n")
)
const bytes = Arbitrary.map(
  pair(content, oneOf("plain", "plain", "plain", "end", "mark", "wide", "nul", "latin1")),
  ([text, form]) => {
    switch (form) {
      case "end":
        return Buffer.from(`${text}\n`)
      case "mark":
        return Buffer.from(`\ufeff${text}\n`)
      case "wide":
        return Buffer.from(`\ufeff${text}\n`, "utf16le")
      case "nul":
        return Buffer.from(`${text}\n\0needle\n`)
      case "latin1":
        return Buffer.from(`${text}\n\xe9 needle\n`, "latin1")
      default:
        // A carriage return that nothing follows ends a line for the one and not for the other.
        return Buffer.from(text.replace(/\r$/, ""))
    }
  }
)

const rule = oneOf(
  "*.ts",
  "*.log",
  "notes",
  "notes/",
  "/src",
  "src/deep",
  "src/**",
  "**/deep",
  "!a.ts",
  "!src/deep/a.ts",
  "# comment",
  "a b",
  "a\\ b/",
  "[[]x].ts",
  "[a-b].*",
  "[!a].ts",
  "*",
  "!*/",
  "!.gitignore",
  "\\!x",
  "ü",
  "**/notes/**",
  "x.log   ",
  "deep/*.ts",
  "?.md",
  "src/*/a.ts",
  "-rf",
  ".*",
  "/*.md",
  "\r",
  "*.TS\r"
)
const rules = Arbitrary.map(Arbitrary.array(rule, { maxLength: 4 }), (lines) => `${lines.join("\n")}\n`)

const tree = pair(
  Arbitrary.array(pair(pair(folder, file), bytes), { minLength: 1, maxLength: 8 }),
  Arbitrary.array(pair(pair(folder, oneOf(".gitignore", ".gitignore", ".gitignore", ".ignore", ".rgignore")), rules), {
    maxLength: 3
  })
)

const patterns = [
  "needle",
  "^needle$",
  "NEEDLE",
  "\\bneedle\\b",
  "größe\\w+",
  "\\w\\w\\w\\w\\w_",
  "[[:upper:]]",
  "é$",
  "a.*e",
  "\\{a\\}",
  "(?i)needle x",
  "\\d",
  "n(ee|o)",
  "x\\ty",
  "[^a-z\\s]",
  "\\s+needle",
  "\\B_",
  "^$",
  "(?P<a>need)le"
] as const

interface Tree {
  readonly files: ReadonlyArray<readonly [path: string, content: Uint8Array | string]>
  readonly repository: "none" | "root" | "nested"
}

const plant = (root: string, { files, repository }: Tree) => {
  for (const [name, content] of files) {
    const path = join(root, name)
    // A name can be a folder in one place and a file in another; the first one stays.
    try {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content)
    } catch {
      continue
    }
  }
  if (repository !== "none") execFileSync("git", ["init", "-q", root])
  if (repository === "nested" && existsSync(join(root, "src"))) execFileSync("git", ["init", "-q", join(root, "src")])
  if (!existsSync(join(root, "link"))) symlinkSync("src", join(root, "link"))
  if (!existsSync(join(root, "file-link"))) symlinkSync("a.ts", join(root, "file-link"))
}

/** The one on the path, and the one that comes with the package, which is another version. */
const programs = [{ PATH: process.env["PATH"] }, { PATH: "/nonexistent" }]

const searches = Effect.gen(function* () {
  const walking = makeWalkingSearch(yield* FileSystem.FileSystem, yield* Path.Path)
  return { walking, ripgreps: yield* Effect.forEach(programs, makeSearch) }
})

const query = (root: string, options: Partial<GrepQuery>): GrepQuery => ({
  root,
  pattern: "needle",
  ignoreCase: false,
  includeIgnored: false,
  glob: undefined,
  shows: () => true,
  limit: 100,
  ...options
})

const setting = { arbitrary: { runs: 40 }, timeout: 30_000 }

describe("search with and without ripgrep", () => {
  it.live.prop(
    "lists the same files in the same order, those that git lists",
    [
      tree,
      Arbitrary.schema(Schema.Literals(["root", "nested", "none"])),
      Arbitrary.schema(Schema.Boolean),
      oneOf("", "src", "notes")
    ],
    ([[files, ignores], repository, includeIgnored, below]) =>
      Effect.gen(function* () {
        const { work } = yield* makeFolder
        const all = [...files, ...ignores].map(([name, text]) => [name.join(""), text] as const)
        plant(work, { files: all, repository })
        const { ripgreps, walking } = yield* searches
        const root = below === "" || !existsSync(join(work, below)) ? work : join(work, below)
        const list = (search: Search) => search.files({ root, includeIgnored }, () => true, 100)
        const found = yield* list(walking)
        for (const [index, search] of ripgreps.entries()) {
          // Outside of any repository, one version goes on with the rules of the folders around a repository inside.
          if (repository !== "none" || index === 0) assert.deepStrictEqual(found, yield* list(search))
        }
        if (repository !== "root" || includeIgnored || root !== work) return
        if (ignores.some(([[, name]]) => name !== ".gitignore")) return
        const git = execFileSync("git", ["ls-files", "-z", "--others", "--exclude-standard"], {
          cwd: work,
          encoding: "utf8"
        })
        const links = new Set(["link", "file-link"])
        assert.deepStrictEqual(
          found.items.map((path) => path.slice(work.length + 1)).toSorted(),
          git
            .split("\0")
            .filter((name) => name !== "" && !links.has(name))
            .toSorted()
        )
      }).pipe(Effect.scoped, Effect.provide(platform)),
    setting
  )

  it.live.prop(
    "finds the same lines",
    [tree, oneOf(...patterns), Arbitrary.schema(Schema.Boolean), oneOf("", "*.ts", "src/**", "!*.md", "*.{ts,md}")],
    ([[files, ignores], pattern, ignoreCase, glob]) =>
      Effect.gen(function* () {
        const { work } = yield* makeFolder
        plant(work, {
          files: [...files, ...ignores].map(([name, text]) => [name.join(""), text] as const),
          repository: "root"
        })
        const { ripgreps, walking } = yield* searches
        const options = { pattern, ignoreCase, glob: glob === "" ? undefined : glob }
        const found = yield* walking.grep(query(work, options))
        for (const search of ripgreps) assert.deepStrictEqual(found, yield* search.grep(query(work, options)))
        if (glob !== "") {
          for (const { path } of found.items) assert.isTrue(fileGlob(glob)(path.slice(work.length + 1)), path)
        }
      }).pipe(Effect.scoped, Effect.provide(platform)),
    setting
  )
})
