import { assert, describe, it } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, rmdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { NoteId, noteLimits } from "../../../src/domain/Note.ts"
import { Notes, type NoteQuery, type NotesShape } from "../../../src/services/Notes.ts"
import * as NotesSqlite from "../../../src/services/notes/NotesSqlite.ts"
import { folder } from "../../support/Program.ts"

const A = "/projects/a"
const B = "/projects/b"

const memory = Effect.provide(Layer.fresh(NotesSqlite.layerMemory))

const open = (file: string) =>
  Effect.map(
    Layer.build(Layer.provide(Layer.fresh(NotesSqlite.layer({ file })), [NodeFileSystem.layer, NodePath.layer])),
    (context) => Context.get(context, Notes)
  )

const titles = (notes: NotesShape, project: string, query: Partial<NoteQuery> = {}) =>
  Effect.map(notes.search(project, { words: "", limit: 50, ...query }), (found) =>
    found.notes.map(({ title }) => title)
  )

describe("notes", () => {
  it.effect("are kept, found, changed and deleted", () =>
    Effect.gen(function* () {
      const notes = yield* Notes
      const kept = yield* notes.add(A, { title: " Build ", text: "Run make.", tags: ["ci", " ci ", "make"] })
      assert.deepInclude(kept, { scope: "project", title: "Build", text: "Run make.", tags: ["ci", "make"] })
      assert.deepStrictEqual(yield* notes.get(A, kept.id), kept)
      yield* TestClock.adjust("1 hour")
      const changed = yield* notes.change(A, kept.id, { text: "Run just." })
      assert.deepInclude(changed, { id: kept.id, title: "Build", text: "Run just.", createdAt: kept.createdAt })
      assert.strictEqual(changed.updatedAt, "1970-01-01T01:00:00.000Z")
      assert.deepStrictEqual(yield* titles(notes, A, { words: "make" }), ["Build"])
      yield* notes.change(A, kept.id, { tags: [] })
      assert.deepStrictEqual(yield* titles(notes, A, { words: "make" }), [])
      assert.deepStrictEqual(yield* titles(notes, A, { words: "just" }), ["Build"])
      yield* notes.remove(A, kept.id)
      assert.deepStrictEqual(yield* titles(notes, A, { words: "just" }), [])
      assert.deepInclude(yield* Effect.flip(notes.get(A, kept.id)), { reason: "missing" })
      // An id is never used again: an old answer of a model can name no other note.
      assert.isAbove((yield* notes.add(A, { title: "x", text: "" })).id, kept.id)
    }).pipe(memory)
  )

  it.effect("belong to a project, or to all", () =>
    Effect.gen(function* () {
      const notes = yield* Notes
      const own = yield* notes.add(A, { title: "own", text: "word" })
      yield* notes.add(B, { title: "other", text: "word" })
      const all = yield* notes.add(B, { title: "all", text: "word", scope: "global" })
      assert.sameMembers([...(yield* titles(notes, A))], ["own", "all"])
      assert.sameMembers([...(yield* titles(notes, A, { words: "word" }))], ["own", "all"])
      assert.deepStrictEqual(yield* titles(notes, A, { words: "word", scope: "project" }), ["own"])
      assert.deepStrictEqual(yield* titles(notes, A, { scope: "global" }), ["all"])
      for (const act of [notes.get(B, own.id), notes.remove(B, own.id), notes.change(B, own.id, { text: "y" })]) {
        assert.deepInclude(yield* Effect.flip(act), { reason: "missing" })
      }
      assert.strictEqual((yield* notes.change(A, all.id, { scope: "project" })).scope, "project")
      assert.deepStrictEqual(yield* titles(notes, B), ["other"])
      assert.strictEqual((yield* notes.search(A, { words: "nothing", limit: 5 })).total, 2)
    }).pipe(memory)
  )

  it.effect("are found by any word or the beginning of one, the best first, the newest without words", () =>
    Effect.gen(function* () {
      const notes = yield* Notes
      const write = (title: string, text: string, tags: ReadonlyArray<string> = []) =>
        Effect.andThen(TestClock.adjust("1 second"), notes.add(A, { title, text, tags }))
      yield* write("Deployment", "How to ship.")
      yield* write("Cats", "They deploy nothing. ".repeat(30))
      yield* write("Café", "Über naïve Straßen", ["Berlin"])
      yield* write("漢字", "東京都の天気予報", ["日本"])
      const find = (words: string) => titles(notes, A, { words })
      assert.deepStrictEqual(yield* find("deploy"), ["Deployment", "Cats"])
      assert.deepStrictEqual(yield* find("shipped deployments"), ["Deployment", "Cats"])
      assert.deepStrictEqual(yield* find("deployed"), ["Deployment", "Cats"])
      assert.deepStrictEqual(yield* find("CAFE"), ["Café"])
      assert.deepStrictEqual(yield* find("uber"), ["Café"])
      assert.deepStrictEqual(yield* find("京都"), ["漢字"])
      assert.deepStrictEqual(yield* find("天気"), ["漢字"])
      assert.deepStrictEqual(yield* find("京天"), [])
      assert.deepStrictEqual(yield* find("berlin"), ["Café"])
      assert.deepStrictEqual(yield* titles(notes, A, { tags: ["berlin"] }), ["Café"])
      assert.deepStrictEqual(yield* titles(notes, A, { words: "uber", tags: ["Berlin", "日本"] }), [])
      assert.deepStrictEqual(yield* find(" "), ["漢字", "Café", "Cats", "Deployment"])
      assert.lengthOf(yield* titles(notes, A, { limit: 2 }), 2)
      assert.lengthOf(yield* titles(notes, A, { limit: -2 }), 1)
    }).pipe(memory)
  )

  it.effect("are searched by words alone: nothing that is asked for is an expression", () =>
    Effect.gen(function* () {
      const notes = yield* Notes
      yield* notes.add(A, { title: "x", text: "title text and or not near a" })
      const odd = [
        `"`,
        `a"b`,
        "title:x",
        "NEAR(a b)",
        "a AND NOT b",
        "*",
        "(",
        "-a",
        "^x",
        "a\u0000b",
        "'; DROP TABLE notes; --",
        "%",
        "{title}: x"
      ]
      for (const words of odd) yield* notes.search(A, { words, limit: 5 })
      assert.deepStrictEqual(yield* titles(notes, A, { words: "near" }), ["x"])
    }).pipe(memory)
  )

  it.effect("are bounded, and say by what", () =>
    Effect.gen(function* () {
      const notes = yield* Notes
      const fail = (draft: {
        readonly title?: string
        readonly text?: string
        readonly tags?: ReadonlyArray<string>
      }) => Effect.flip(notes.add(A, { title: "t", text: "x", ...draft }))
      assert.include((yield* fail({ title: " " })).message, `"title" is empty`)
      assert.include((yield* fail({ title: "x".repeat(201) })).message, "201 characters; at most 200")
      assert.include((yield* fail({ text: "ü".repeat(32 * 1024 + 1) })).message, "65538 bytes; at most 65536")
      assert.include((yield* fail({ tags: Array.from({ length: 17 }, String) })).message, "17 entries")
      assert.include((yield* fail({ tags: ["a", " "] })).message, "an entry that is empty")
      assert.deepInclude(yield* fail({ tags: ["x".repeat(51)] }), { reason: "invalid" })
      const { id } = yield* notes.add(A, { title: "t", text: "ü".repeat(32 * 1024) })
      assert.deepInclude(yield* Effect.flip(notes.change(A, id, { title: "" })), { reason: "invalid" })
      assert.strictEqual((yield* notes.search(A, { words: "", limit: 5 })).total, 1)
    }).pipe(memory)
  )
})

const writer = fileURLToPath(new URL("./writer.ts", import.meta.url))

const runWriter = (file: string, name: string, count: number) =>
  Effect.callback<number | null>((resume) => {
    const child = spawn(process.execPath, [writer, file, name, String(count)], {
      stdio: ["ignore", "ignore", "inherit"]
    })
    child.on("close", (code) => resume(Effect.succeed(code)))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

describe("notes in a file", () => {
  it.live("outlive the process, readable by their owner alone, made at the first use", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "home", "notes.db")
      yield* Effect.scoped(open(file))
      assert.isFalse(existsSync(file))
      const write = Effect.flatMap(open(file), (notes) => notes.add(A, { title: "kept", text: "x" }))
      const { id } = yield* Effect.scoped(write)
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.strictEqual(statSync(join(file, "..")).mode & 0o777, 0o700)
      assert.deepInclude(yield* Effect.scoped(Effect.flatMap(open(file), (notes) => notes.get(A, id))), {
        title: "kept"
      })
    }).pipe(Effect.scoped)
  )

  it.live(
    "are shared by processes that write at the same time, from the first byte on",
    () =>
      Effect.gen(function* () {
        const file = join(yield* folder, "notes.db")
        const codes = yield* Effect.forEach(["a", "b", "c"], (name) => runWriter(file, name, 60), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(codes, [0, 0, 0])
        const notes = yield* open(file)
        const { notes: found, total } = yield* notes.search("/project", { words: "second", limit: 50 })
        assert.deepStrictEqual([total, found.length], [180, 50])
        assert.deepStrictEqual(yield* titles(notes, "/project", { words: "first" }), [])
        const database = new DatabaseSync(file, { readOnly: true })
        assert.deepInclude(database.prepare("SELECT COUNT(*) AS rows FROM notes_index").get(), { rows: 180 })
        database.close()
      }).pipe(Effect.scoped),
    30_000
  )

  it.live("stop at 10,000 and name the oldest", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "notes.db")
      const notes = yield* open(file)
      const first = yield* notes.add(A, { title: "the first", text: "" })
      const database = new DatabaseSync(file)
      database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${noteLimits.notes - 2})
        INSERT INTO notes (project, title, text, tags, created_at, updated_at)
        SELECT '${B}', 'n' || i, '', '[]', '2100', '2100' FROM n`)
      database.close()
      const last = yield* notes.add(A, { title: "the last", text: "" })
      const full = yield* Effect.flip(notes.add(A, { title: "one more", text: "" }))
      assert.strictEqual(full.reason, "full")
      assert.include(full.message, `10000 notes`)
      assert.include(full.message, `the oldest are ${first.id} "the first" (`)
      yield* notes.change(A, last.id, { text: "still" })
      yield* notes.remove(A, first.id)
      yield* notes.add(A, { title: "one more", text: "" })
    }).pipe(Effect.scoped)
  )

  it.live("that cannot be used fail with a remedy each time, and are there again once that is done", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const query = { words: "", limit: 1 }
      const problem = Effect.fnUntraced(function* (file: string) {
        const { message, reason } = yield* Effect.flip(
          Effect.scoped(Effect.flatMap(open(file), (notes) => notes.search(A, query)))
        )
        assert.strictEqual(reason, "unavailable")
        assert.include(message, file)
        return message
      })
      const noDatabase = join(place, "text.db")
      writeFileSync(noDatabase, "This is no database at all. ".repeat(50))
      assert.include(yield* problem(noDatabase), "it is no database; move it away")

      const newer = join(place, "newer.db")
      yield* Effect.scoped(Effect.flatMap(open(newer), (notes) => notes.search(A, query)))
      const database = new DatabaseSync(newer)
      database.exec("INSERT INTO migrations (migration_id, name) VALUES (99, 'later')")
      database.close()
      assert.include(yield* problem(newer), "a newer version of Super-Pi")

      const blocked = join(place, "blocked")
      writeFileSync(blocked, "")
      const file = join(blocked, "notes.db")
      assert.include(yield* problem(file), "cannot be opened")

      const late = join(place, "late.db")
      mkdirSync(late)
      const notes = yield* open(late)
      yield* Effect.flip(notes.search(A, query))
      rmdirSync(late)
      assert.strictEqual((yield* notes.search(A, query)).total, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("nothing is kept where there are none", () =>
    Effect.gen(function* () {
      const notes = yield* Notes
      assert.include((yield* Effect.flip(notes.get(A, NoteId.make(1)))).message, "keeps no notes")
    }).pipe(Effect.provide(Notes.layerNone))
  )
})
