import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { changesLayer, git, gitEnvironment, inRepository, treeOf } from "../../support/changes.ts"

const prepare = [
  "seq 1 40 > numbers.txt",
  "printf 'no end' > open.txt",
  "printf 'a\\r\\nb\\r\\n' > windows.txt",
  "printf '\\357\\273\\277mark\\n' > bom.txt",
  "printf 'x\\n' > 'with space.txt'",
  "printf '#!/bin/sh\\n' > run.sh",
  "printf 'gone\\n' > gone.txt",
  "ln -s numbers.txt link",
  ": > empty.txt"
].join(" && ")

const change = [
  "sed -i -e 5d -e 's/^20$/twenty/' -e '$a end' numbers.txt",
  "printf ' and more' >> open.txt",
  "printf 'c\\n' >> windows.txt",
  "printf 'more\\n' >> bom.txt",
  "printf 'y\\n' >> 'with space.txt'",
  "chmod 755 run.sh",
  "rm gone.txt",
  "ln -sfn run.sh link",
  "printf 'was empty' > empty.txt",
  "mkdir -p deep && printf 'n\\n' > 'deep/quote\"tab\t.txt'",
  ": > deep/new-empty.txt",
  "printf 'ü\\n' > ü.txt"
].join(" && ")

describe("the diff of a session", () => {
  it.live("is what git says of it, and what git makes the same files of", () =>
    Effect.gen(function* () {
      const session = yield* inRepository(prepare)
      const { folder } = session
      yield* session.turn(session.command(change))
      const { diff, files, truncated } = yield* session.diff
      assert.isFalse(truncated)
      const after = treeOf(folder).filter((line) => line !== "deep/")
      git(folder, "add", "-A")
      const numbers = git(folder, "diff", "--cached", "--numstat", "-z", "HEAD")
      assert.deepStrictEqual(
        files.map(({ added, path, removed }) => `${added}\t${removed}\t${path.slice(folder.length + 1)}`).toSorted(),
        numbers
          .split("\0")
          .filter((line) => line !== "")
          .toSorted()
      )
      const kinds = git(folder, "diff", "--cached", "--name-status", "-z", "HEAD")
        .split("\0")
        .filter((part) => part !== "")
      const letters = { added: "A", deleted: "D", modified: "M" }
      assert.deepStrictEqual(
        files.flatMap(({ path, status }) => [letters[status], path.slice(folder.length + 1)]),
        kinds
      )
      git(folder, "reset", "-q", "--hard", "HEAD")
      execFileSync("git", ["apply", "--whitespace=nowarn", "-"], { cwd: folder, env: gitEnvironment, input: diff })
      assert.deepStrictEqual(
        treeOf(folder).filter((line) => line !== "deep/"),
        after
      )
    }).pipe(Effect.provide(changesLayer()), Effect.scoped)
  )

  it.live("is net: over turns, without what was taken back, and without what came to nothing", () =>
    Effect.gen(function* () {
      const session = yield* inRepository("printf 'one\\n' > a.txt; printf 'one\\n' > b.txt; printf 'one\\n' > c.txt")
      yield* session.turn(session.command("printf 'two\\n' > a.txt; printf 'two\\n' > b.txt"))
      yield* session.turn(session.command("printf 'three\\n' > a.txt; printf 'one\\n' > b.txt"))
      yield* session.turn(session.command("printf 'four\\n' > c.txt"))
      yield* session.undo
      const { diff, files } = yield* session.diff
      assert.deepStrictEqual(files, [{ path: join(session.folder, "a.txt"), status: "modified", added: 1, removed: 1 }])
      assert.strictEqual(
        diff,
        "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-one\n+three\n".replaceAll(",1 ", " ")
      )
      yield* session.undo
      yield* session.undo
      assert.deepStrictEqual(yield* session.diff, { diff: "", files: [], truncated: false })
    }).pipe(Effect.provide(changesLayer()), Effect.scoped)
  )

  it.live("a binary file among others does not keep git from the rest of it", () =>
    Effect.gen(function* () {
      const session = yield* inRepository("printf '\\0one' > b.bin; echo one > c.txt; printf 'caf\\351\\n' > a.txt")
      const { folder } = session
      yield* session.turn(session.command("printf '\\0two' > b.bin; echo two > c.txt; printf 'th\\351\\n' > a.txt"))
      const { diff } = yield* session.diff
      const own = git(folder, "diff", "--", "b.bin")
      assert.include(diff, own, "what git itself writes of it")
      git(folder, "checkout", "-q", ".")
      const patch = join(folder, "..", "session.patch")
      writeFileSync(patch, diff)
      git(folder, "apply", "--exclude=*.bin", "--exclude=a.txt", patch)
      assert.strictEqual(git(folder, "diff", "--name-only").trim(), "c.txt")
    }).pipe(Effect.provide(changesLayer()), Effect.scoped)
  )

  it.live("names binary files, and leaves out what is too much, and says so", () =>
    Effect.gen(function* () {
      const session = yield* inRepository("echo x > x")
      const { folder } = session
      yield* session.turn(
        Effect.andThen(
          session.command("printf '\\0\\1' > binary; seq 1 60000 > long.txt; seq 1 700000 > huge.txt; echo y > x"),
          Effect.sync(() => writeFileSync(join(folder, "later"), "not of the session"))
        )
      )
      const { diff, files, truncated } = yield* session.diff
      assert.isTrue(truncated)
      assert.include(
        diff,
        "diff --git a/binary b/binary\nnew file mode 100644\nBinary files /dev/null and b/binary differ\n"
      )
      assert.include(diff, "+y\n")
      assert.notInclude(diff, "long.txt")
      assert.deepStrictEqual(
        files.map(({ added, path }) => [path.slice(folder.length + 1), added]),
        [
          ["binary", 0],
          ["huge.txt", 0],
          ["long.txt", 60_000],
          ["x", 1]
        ]
      )
    }).pipe(Effect.provide(changesLayer()), Effect.scoped)
  )
})
