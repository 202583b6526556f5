import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as ChildProcess from "effect/process/ChildProcess"
import type { GrepQuery, Search } from "../../../src/services/files/search/Search.ts"
import { makeSearch } from "../../../src/services/files/search/SearchLocal.ts"
import { makeWalkingSearch } from "../../../src/services/files/search/WalkingSearch.ts"
import { makeFolder, platform, write } from "../../support/toolbox.ts"

const programs = { PATH: process.env["PATH"] }

/** Both ways of searching, on one folder: they have to agree. */
const both = Effect.gen(function* () {
  const { work } = yield* makeFolder
  const fs = yield* FileSystem.FileSystem
  const ripgrep = yield* makeSearch(programs)
  const walking = makeWalkingSearch(fs, yield* Path.Path)
  for (const folder of ["src/deep", "notes", ".github", ".git", "sub"]) {
    yield* fs.makeDirectory(`${work}/${folder}`, { recursive: true })
  }
  yield* write(`${work}/.gitignore`, "notes/\n*.log\n!keep.log\n")
  yield* write(`${work}/sub/.gitignore`, "hidden.md\n")
  yield* write(`${work}/b.md`, "needle one\nother\nNeedle two\n")
  yield* write(`${work}/a.log`, "needle\n")
  yield* write(`${work}/keep.log`, "needle\n")
  yield* write(`${work}/notes/info.md`, "needle in notes\n")
  yield* write(`${work}/.github/ci.yml`, "needle: yes\n")
  yield* write(`${work}/.git/config`, "needle\n")
  yield* write(`${work}/src/a.ts`, "const a = 1\r\nneedle\r\n")
  yield* write(`${work}/src/deep/a b.ts`, `${"x".repeat(600)}needle\nneedle # :1: x\n`)
  yield* write(`${work}/sub/hidden.md`, "needle\n")
  yield* write(`${work}/sub/seen.md`, "needle\n")
  yield* write(`${work}/binary.bin`, Uint8Array.from([110, 0, 101]))
  return { work, ripgrep, walking }
})

const query = (root: string, options: Partial<GrepQuery> = {}): GrepQuery => ({
  root,
  pattern: "needle",
  ignoreCase: false,
  includeIgnored: false,
  glob: undefined,
  shows: () => true,
  limit: 100,
  ...options
})

const lines = (search: Search, root: string, options: Partial<GrepQuery> = {}) =>
  Effect.map(search.grep(query(root, options)), ({ items, more }) => ({
    more,
    items: items.map(({ line, path, text }) => `${path.slice(root.length + 1)}:${line}:${text.slice(0, 20)}`)
  }))

describe("search", () => {
  it.live("finds the same lines with and without ripgrep", () =>
    Effect.gen(function* () {
      const { ripgrep, walking, work } = yield* both
      const variants: ReadonlyArray<Partial<GrepQuery>> = [
        {},
        { ignoreCase: true },
        { includeIgnored: true },
        { glob: "*.md" },
        { glob: "src/**" },
        { glob: "src/**/*.ts" },
        { glob: "!*.md" },
        { glob: "*.log", includeIgnored: true },
        { glob: "*.{ts,yml}" },
        { pattern: "^needle$" },
        { pattern: "nothing at all" },
        { limit: 2 }
      ]
      for (const variant of variants) {
        assert.deepStrictEqual(
          yield* lines(walking, work, variant),
          yield* lines(ripgrep, work, variant),
          JSON.stringify(variant)
        )
      }
      assert.deepStrictEqual((yield* lines(ripgrep, work)).items, [
        ".github/ci.yml:1:needle: yes",
        "b.md:1:needle one",
        "keep.log:1:needle",
        "src/a.ts:2:needle",
        `src/deep/a b.ts:1:${"x".repeat(20)}`,
        "src/deep/a b.ts:2:needle # :1: x",
        "sub/seen.md:1:needle"
      ])
      assert.deepStrictEqual((yield* lines(ripgrep, work, { limit: 2 })).more, true)
    }).pipe(Effect.provide(platform))
  )

  it.live("lists the same files, and agrees with git on what is ignored", () =>
    Effect.gen(function* () {
      const { ripgrep, walking, work } = yield* both
      const fs = yield* FileSystem.FileSystem
      yield* fs.remove(`${work}/.git`, { recursive: true })
      const spawner = yield* ChildProcessSpawner
      yield* spawner.string(ChildProcess.make("git", ["init", "-q"], { cwd: work }))
      const git = yield* spawner.lines(
        ChildProcess.make("git", ["ls-files", "--others", "--exclude-standard"], { cwd: work })
      )
      const names = (search: Search) =>
        Effect.map(
          search.files({ root: work, includeIgnored: false }, () => true, 100),
          ({ items }) => items.map((path) => path.slice(work.length + 1))
        )
      assert.deepStrictEqual((yield* names(ripgrep)).toSorted(), git.toSorted())
      assert.deepStrictEqual(yield* names(walking), yield* names(ripgrep))
    }).pipe(Effect.provide(platform))
  )

  it.live("cuts long lines, and searches a file that is named although it is ignored", () =>
    Effect.gen(function* () {
      const { ripgrep, walking, work } = yield* both
      for (const search of [ripgrep, walking]) {
        const { items } = yield* search.grep(query(`${work}/src/deep/a b.ts`))
        assert.isBelow(items[0]?.text.length ?? 0, 560)
        assert.strictEqual((yield* search.grep(query(`${work}/a.log`))).items.length, 1)
      }
    }).pipe(Effect.provide(platform))
  )

  it.live("explains a broken expression", () =>
    Effect.gen(function* () {
      const { ripgrep, walking, work } = yield* both
      for (const search of [ripgrep, walking]) {
        const error = yield* Effect.flip(search.grep(query(work, { pattern: "(" })))
        assert.include(error.message, "regex parse error")
      }
    }).pipe(Effect.provide(platform))
  )

  it.live("fails for a pattern that is too long for a program to be started with", () =>
    Effect.gen(function* () {
      const { ripgrep, work } = yield* both
      const error = yield* Effect.flip(ripgrep.grep(query(work, { pattern: "x".repeat(300_000) })))
      assert.strictEqual(error.message, '"pattern" or "glob" is too long to be searched for: write a shorter one')
    }).pipe(Effect.provide(platform))
  )

  it.live("takes no rules from what only bears the name of a file of rules", () =>
    Effect.gen(function* () {
      const { walking, work } = yield* both
      const fs = yield* FileSystem.FileSystem
      const spawner = yield* ChildProcessSpawner
      for (const folder of ["pipe", "device", "folder"]) {
        yield* fs.makeDirectory(`${work}/odd/${folder}`, { recursive: true })
        yield* write(`${work}/odd/${folder}/x.md`, "needle\n")
      }
      yield* spawner.exitCode(ChildProcess.make("mkfifo", [`${work}/odd/pipe/.gitignore`]))
      yield* fs.symlink("/dev/zero", `${work}/odd/device/.gitignore`)
      yield* fs.makeDirectory(`${work}/odd/folder/.gitignore`)
      assert.deepStrictEqual((yield* lines(walking, `${work}/odd`)).items, [
        "device/x.md:1:needle",
        "folder/x.md:1:needle",
        "pipe/x.md:1:needle"
      ])
    }).pipe(Effect.provide(platform))
  )

  it.live("takes a pattern that looks like an option as a pattern", () =>
    Effect.gen(function* () {
      const { ripgrep, work } = yield* both
      yield* write(`${work}/options.txt`, "--files\n")
      assert.strictEqual((yield* ripgrep.grep(query(work, { pattern: "--files" }))).items.length, 1)
      assert.strictEqual((yield* ripgrep.grep(query(work, { glob: "--hidden" }))).items.length, 0)
      assert.strictEqual((yield* ripgrep.grep(query(work, { glob: "x --pre=touch" }))).items.length, 0)
    }).pipe(Effect.provide(platform))
  )
})
