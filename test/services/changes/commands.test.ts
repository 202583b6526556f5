import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Changes } from "../../../src/services/Changes.ts"
import { changesLayer, git, inFolder, inRepository, sh, treeOf } from "../../support/changes.ts"

const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof changesLayer>> | Scope.Scope>) =>
  effect.pipe(Effect.provide(changesLayer()), Effect.scoped)

/** A program that leaves a trace when it is run. */
const trap = Effect.fnUntraced(function* (folder: string) {
  const trace = join(folder, "..", "trace")
  const program = join(folder, "..", "trap")
  yield* Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.andThen(
      fs.writeFileString(program, `#!/bin/sh\necho "$0 $*" >> '${trace}'\ncat\n`),
      fs.chmod(program, 0o755)
    )
  )
  return { program, wasRun: () => existsSync(trace) }
})

describe("a repository that is not to be trusted", () => {
  it.live("runs nothing: no monitor, no hook, no filter, no conversion", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inRepository("echo one > file.txt; echo two > big.dat")
        const { folder } = session
        const { program, wasRun } = yield* trap(folder)
        const set = (name: string, value: string) => git(folder, "config", name, value)
        set("core.fsmonitor", program)
        set("core.hooksPath", join(folder, "hooks"))
        set("core.pager", program)
        set("core.sshCommand", program)
        set("core.alternateRefsCommand", program)
        set("filter.evil.clean", program)
        set("filter.evil.smudge", program)
        set("filter.evil.process", program)
        set("filter.evil.required", "true")
        set("diff.evil.textconv", program)
        set("diff.external", program)
        set("core.autocrlf", "true")
        mkdirSync(join(folder, "hooks"))
        for (const hook of ["post-index-change", "pre-commit", "reference-transaction"]) {
          symlinkSync(program, join(folder, "hooks", hook))
        }
        writeFileSync(join(folder, ".gitattributes"), "* filter=evil diff=evil text eol=crlf\n")
        writeFileSync(join(folder, "file.txt"), "mixed\r\nendings\n")
        const before = treeOf(folder)
        yield* session.turn(session.command("printf 'x\\n' > file.txt; rm big.dat; printf 'n\\r\\n' > new.txt"))
        assert.strictEqual((yield* session.undo)._tag, "Undone")
        yield* session.diff
        assert.deepStrictEqual(treeOf(folder), before)
        assert.isFalse(wasRun())
        // What git does when nobody is careful.
        yield* sh(folder, "git status; true")
        assert.isTrue(wasRun())
      })
    )
  )

  it.live("gets no object, no index, no reference and no setting from a snapshot", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inRepository("echo one > file.txt")
        const { folder } = session
        writeFileSync(join(folder, "untracked"), "bytes that no object has")
        const inside = () =>
          readdirSync(join(folder, ".git"), { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map((entry) => join(entry.parentPath, entry.name))
            .toSorted()
            .map((path) => `${path} ${readFileSync(path).toString("base64")}`)
        const before = inside()
        yield* session.turn(session.command("echo two > file.txt"))
        yield* session.undo
        assert.deepStrictEqual(inside(), before)
      })
    )
  )

  it.live("of which git itself is told otherwise by the environment is looked at all the same", () =>
    Effect.gen(function* () {
      const session = yield* inRepository("echo one > file.txt")
      const before = treeOf(session.folder)
      yield* session.turn(session.command("echo two > file.txt"))
      assert.lengthOf(session.state().changes, 1)
      yield* session.undo
      assert.deepStrictEqual(treeOf(session.folder), before)
    }).pipe(
      Effect.provide(
        changesLayer({ ...process.env, GIT_DIR: "/nowhere", GIT_WORK_TREE: "/", GIT_INDEX_FILE: "/nowhere/index" })
      ),
      Effect.scoped
    )
  )
})

describe("what belongs to nobody's turn", () => {
  it.live("is never taken back: files that are ignored, and that only stop being so", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inRepository("printf 'secret\\nbuild/\\n' > .gitignore; echo one > file.txt")
        const { folder } = session
        writeFileSync(join(folder, "secret"), "mine")
        mkdirSync(join(folder, "build"))
        writeFileSync(join(folder, "build/out"), "mine")
        yield* Effect.sleep("50 millis")
        const before = treeOf(folder)
        yield* session.turn(session.command("echo > .gitignore; git add -f secret; echo two > file.txt"))
        assert.strictEqual((yield* session.undo)._tag, "Undone")
        assert.deepStrictEqual(treeOf(folder), before)
      })
    )
  )

  it.live("is a file that a command hid from git, and that is still there", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inRepository("echo one > file.txt")
        const { folder } = session
        writeFileSync(join(folder, "note"), "mine")
        yield* session.turn(session.command("echo note > .gitignore; git rm -q --cached file.txt"))
        const result = yield* session.undo
        assert.deepStrictEqual(result._tag === "Undone" && result.files, [
          { path: join(folder, ".gitignore"), what: "removed" }
        ])
        assert.deepStrictEqual(readFileSync(join(folder, "note"), "utf8"), "mine")
      })
    )
  )

  it.live("is what came from elsewhere: it stays, and is named", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inRepository("echo one > file.txt")
        const { folder } = session
        const elsewhere = join(folder, "..", "elsewhere")
        mkdirSync(elsewhere)
        writeFileSync(join(elsewhere, "only-copy"), "precious")
        mkdirSync(join(elsewhere, "dir"))
        writeFileSync(join(elsewhere, "dir/only-copy"), "precious")
        yield* Effect.sleep("50 millis")
        yield* session.turn(session.command("mv ../elsewhere/only-copy ../elsewhere/dir . && echo two > file.txt"))
        const result = yield* session.undo
        assert.strictEqual(result._tag, "Undone")
        const notes = result._tag === "Undone" ? result.notes.join("\n") : ""
        assert.match(notes, /Only a part of the turn was recorded.*only-copy: it is older than the command/)
        assert.match(notes, /work\/dir: it is older than the command/)
        assert.deepStrictEqual(
          treeOf(folder).map((line) => line.split(" ")[0]),
          ["dir/", "dir/only-copy", "file.txt", "only-copy"]
        )
        assert.strictEqual(readFileSync(join(folder, "file.txt"), "utf8"), "one\n")
      })
    )
  )

  it.live("is what a turn could not record: it is marked, and the undo says so", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inRepository("echo one > file.txt")
        const { folder } = session
        yield* sh(folder, "head -c 70000000 /dev/zero > huge.bin; mkfifo pipe")
        yield* session.turn(session.command("echo x >> huge.bin; echo two > file.txt"))
        const result = yield* session.undo
        const notes = result._tag === "Undone" ? result.notes.join("\n") : ""
        assert.match(
          notes,
          /Only a part of the turn was recorded; the rest stays as it is\. .*huge\.bin: it is larger than 64 MB/
        )
        assert.strictEqual(readFileSync(join(folder, "file.txt"), "utf8"), "one\n")
        yield* session.turn(session.command("echo three > file.txt"))
        const second = yield* session.undo
        assert.notMatch(second._tag === "Undone" ? second.notes.join("\n") : "", /huge/)
      })
    )
  )

  it.live("is a pipe or a socket in the place of a file: it is never opened, and the rest is taken back", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inRepository("echo one > file.txt; echo one > pipe; echo one > pipes")
        const { folder } = session
        yield* session.turn(session.command("rm pipe pipes; mkfifo pipe pipes; echo two > file.txt"))
        const result = yield* session.undo
        const notes = result._tag === "Undone" ? result.notes.join("\n") : ""
        assert.match(notes, /work\/pipe: it could not be read/)
        assert.match(notes, /work\/pipes: it could not be read/)
        assert.strictEqual(readFileSync(join(folder, "file.txt"), "utf8"), "one\n")
      })
    )
  )

  it.live("is a folder with too many files: every command there is marked", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        yield* sh(session.folder, "seq 1 5100 | xargs touch")
        yield* session.turn(session.command("echo x > f1"))
        const result = yield* session.undo
        assert.deepStrictEqual(result._tag === "Undone" && result.files, [])
        assert.match(
          result._tag === "Undone" ? result.notes.join("\n") : "",
          /Only a part of the turn was recorded.*work: it is too large to record: it has more than 5000 files/
        )
        assert.strictEqual((yield* session.undo)._tag, "Nothing")
      })
    )
  )
})

describe("commands outside of one repository", () => {
  it.live("are taken back without git", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inFolder
        const { folder } = session
        yield* sh(
          folder,
          "mkdir -p a/b; echo 1 > a/b/one; ln -s a/b/one link; printf '\\0' > zero; echo x > .gitignore; echo i > x"
        )
        const before = treeOf(folder)
        yield* session.turn(session.command("mv a c; rm link; echo 2 > c/b/two; printf '\\1' > zero; mkdir -p e/f"))
        assert.strictEqual((yield* session.undo)._tag, "Undone")
        assert.deepStrictEqual(treeOf(folder), before)
        yield* session.turn(session.command("git init -q; echo 3 > zero"))
        assert.strictEqual((yield* session.undo)._tag, "Undone")
        assert.deepStrictEqual(treeOf(folder), before)
      })
    )
  )

  it.live("are taken back in repositories in repositories, in submodules, and in each folder of the workspace", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inRepository("echo one > file.txt")
        const { folder, workspace } = session
        const make = "git init -q && echo in > inner.txt && git add -A && git commit -qm inner"
        yield* sh(folder, `mkdir nested && cd nested && ${make}`)
        yield* sh(folder, `mkdir ../module && cd ../module && ${make}`)
        yield* sh(folder, "git -c protocol.file.allow=always submodule add -q ../module sub && git commit -qm sub")
        yield* sh(folder, `mkdir -p ../beside/deep && cd ../beside && ${make}`)
        const beside = join(folder, "..", "beside")
        const both = { ...workspace, roots: [folder, beside, join(folder, "nested")] }
        const before = [treeOf(folder), treeOf(beside)]
        yield* session.turn(
          Changes.use((changes) =>
            changes.recordingAll(
              both,
              (change) => session.log({ _tag: "FileChanged", change }),
              sh(folder, "for d in . nested sub ../beside; do echo x >> $d/inner.txt; echo n > $d/new.txt; done")
            )
          )
        )
        assert.lengthOf(session.state().changes[0]?.changes ?? [], 8)
        const result = yield* session.undo
        assert.strictEqual(result._tag, "Undone")
        assert.deepStrictEqual([treeOf(folder), treeOf(beside)], before)
      })
    )
  )

  it.live("in a folder of a repository look at that folder alone", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inRepository("mkdir sub; echo one > sub/file.txt; echo top > top.txt")
        const sub = join(session.folder, "sub")
        const workspace = { ...session.workspace, cwd: sub, roots: [sub] }
        yield* session.turn(
          Changes.use((changes) =>
            changes.recordingAll(
              workspace,
              (change) => session.log({ _tag: "FileChanged", change }),
              sh(sub, "echo two > file.txt; echo two > ../top.txt")
            )
          )
        )
        const result = yield* Changes.use((changes) => changes.undo(workspace, session.state(), session.log))
        assert.deepStrictEqual(result._tag === "Undone" && result.files, [
          { path: join(sub, "file.txt"), what: "restored" }
        ])
        assert.strictEqual(readFileSync(join(session.folder, "top.txt"), "utf8"), "two\n")
      })
    )
  )
})

describe("calls that run side by side", () => {
  it.live("are told apart: a command in the background, and tools meanwhile", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inRepository("echo one > file.txt; echo one > other.txt")
        const { folder } = session
        const before = treeOf(folder)
        const going = yield* Deferred.make<void>()
        const stop = yield* Deferred.make<void>()
        yield* session.turn(
          Effect.gen(function* () {
            const changes = yield* Changes
            const background = changes.recordingAll(
              session.workspace,
              (change) => session.log({ _tag: "FileChanged", change }),
              Effect.gen(function* () {
                yield* sh(folder, "echo background > other.txt")
                yield* Deferred.succeed(going, undefined)
                yield* Deferred.await(stop)
                yield* sh(folder, "echo background > late.txt; echo background >> file.txt")
              })
            )
            const fiber = yield* Effect.forkChild(background)
            yield* Deferred.await(going)
            yield* session.tool(
              ["file.txt"],
              Effect.sync(() => writeFileSync(join(folder, "file.txt"), "tool\n"))
            )
            yield* session.command("echo foreground > third.txt")
            yield* Deferred.succeed(stop, undefined)
            yield* Fiber.join(fiber)
          })
        )
        assert.strictEqual(readFileSync(join(folder, "file.txt"), "utf8"), "tool\nbackground\n")
        const result = yield* session.undo
        assert.strictEqual(result._tag, "Undone", JSON.stringify(result))
        assert.deepStrictEqual(treeOf(folder), before)
      })
    )
  )

  it.live("a command that is interrupted is recorded as far as it came", () =>
    run(
      Effect.gen(function* () {
        const session = yield* inRepository("echo one > file.txt")
        const before = treeOf(session.folder)
        const going = yield* Deferred.make<void>()
        yield* session.turn(
          Effect.gen(function* () {
            const changes = yield* Changes
            const fiber = yield* Effect.forkChild(
              changes.recordingAll(
                session.workspace,
                (change) => session.log({ _tag: "FileChanged", change }),
                Effect.andThen(
                  sh(session.folder, "echo two > file.txt; echo new > new.txt"),
                  Effect.andThen(Deferred.succeed(going, undefined), Effect.never)
                )
              )
            )
            yield* Deferred.await(going)
            yield* Fiber.interrupt(fiber)
          })
        )
        yield* session.undo
        assert.deepStrictEqual(treeOf(session.folder), before)
      })
    )
  )
})
