import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { changesLayer, git, inRepository, sh, treeOf } from "../../support/changes.ts"

/** What git and a look at every byte say of a repository. */
const witness = (folder: string) => ({
  status: git(folder, "status", "--porcelain=v1", "--untracked-files=all"),
  diff: git(folder, "diff", "HEAD"),
  head: git(folder, "rev-parse", "HEAD"),
  tree: treeOf(folder)
})

/** Read before git is asked anything, which brings its index up to date. */
const indexOf = (folder: string): string => readFileSync(join(folder, ".git/index")).toString("hex")

const prepare = [
  "printf 'one\\ntwo\\n' > text.txt",
  "printf 'a\\r\\nb\\r\\n' > windows.txt",
  "printf '\\0\\1\\2' > binary.bin",
  "printf '#!/bin/sh\\n' > run.sh && chmod 755 run.sh",
  "mkdir -p src/deep && echo x > src/deep/x.ts && echo y > src/y.ts",
  "ln -s text.txt link",
  "printf 'ignored/\\n*.log\\n' > .gitignore",
  "echo secret > 'with space.txt'"
].join(" && ")

/** Commands of all kinds, each of which an undo takes back to the byte. */
const commands: Readonly<Record<string, string>> = {
  "changes a text": "echo three >> text.txt",
  "replaces a text": "printf 'new' > text.new && mv text.new text.txt",
  "changes line endings": "printf 'a\\nb\\n' > windows.txt",
  "changes a binary": "printf '\\3\\0' > binary.bin",
  "makes an empty file": ": > empty.txt",
  "empties a file": ": > text.txt",
  "makes a file": "echo new > new.txt",
  "makes a file in new folders": "mkdir -p a/b/c && echo new > a/b/c/new.txt",
  "makes folders only": "mkdir -p empty/inner",
  "removes a file": "rm text.txt",
  "removes a folder": "rm -r src",
  "moves a file": "git mv -k nothing nothing2; mv text.txt moved.txt",
  "moves a folder": "mv src lib",
  "makes a file runnable": "chmod 755 text.txt",
  "closes a file to others": "chmod 600 text.txt",
  "turns a link elsewhere": "ln -sfn run.sh link",
  "removes a link": "rm link",
  "makes a link": "ln -s src/y.ts other",
  "turns a file into a link": "rm text.txt && ln -s run.sh text.txt",
  "turns a link into a file": "rm link && echo file > link",
  "turns a file into a folder": "rm text.txt && mkdir text.txt && echo x > text.txt/inside",
  "turns a folder into a file": "rm -r src && echo file > src",
  "turns a folder into a link": "mv src /tmp/super-pi-$$ && rm -r /tmp/super-pi-$$ && ln -s . src",
  "renames with strange names": "mv -- 'with space.txt' '-ü\"\\n \t.txt'",
  "changes an untracked file": "echo more >> untracked.txt",
  "removes an untracked file": "rm untracked.txt",
  "changes a staged file": "echo more >> staged.txt",
  "rewrites the same bytes": "cp text.txt t && mv t text.txt",
  "does nothing": "true"
}

describe("undo in a repository", () => {
  for (const [name, command] of Object.entries(commands)) {
    it.live(`takes back a command that ${name}`, () =>
      Effect.gen(function* () {
        const session = yield* inRepository(prepare)
        yield* sh(
          session.folder,
          "echo u > untracked.txt; echo s > staged.txt; git add staged.txt; echo dirty >> src/y.ts"
        )
        const before = witness(session.folder)
        const index = indexOf(session.folder)
        yield* session.turn(session.command(command))
        const result = yield* session.undo
        assert.notStrictEqual(result._tag, "Refused", JSON.stringify(result))
        assert.strictEqual(indexOf(session.folder), index)
        assert.deepStrictEqual(witness(session.folder), before)
      }).pipe(Effect.provide(changesLayer()), Effect.scoped)
    )
  }

  it.live("sees a change that comes within one tick of the clock", () =>
    Effect.gen(function* () {
      const session = yield* inRepository(prepare)
      for (let round = 0; round < 20; round++) {
        const text = `round ${String(round).padStart(2, "0")}`
        yield* session.turn(session.command(`printf '${text}' > text.txt`))
        assert.strictEqual(session.state().changes.length, round + 1)
      }
      for (let round = 19; round > 0; round--) {
        yield* session.undo
        assert.strictEqual(
          readFileSync(join(session.folder, "text.txt"), "utf8"),
          `round ${String(round - 1).padStart(2, "0")}`
        )
      }
    }).pipe(Effect.provide(changesLayer()), Effect.scoped)
  )
})
