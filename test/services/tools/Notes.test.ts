import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Projects } from "../../../src/services/Projects.ts"
import { call, makeWorkspace, prepare, textOf, toolbox } from "../../support/toolbox.ts"

const here = makeWorkspace("/work/project/src")
const there = makeWorkspace("/work/other")

/** The root of a project is two folders below the top. */
const projects = Layer.effect(
  Projects,
  Effect.map(Projects, ({ decide, of }) => ({ decide, of: (cwd) => of(cwd.split("/").slice(0, 3).join("/")) }))
).pipe(Layer.provide(Projects.layerNone))

const provided = Effect.provide(toolbox({ projects }))

const write = (input: object, workspace = here) =>
  Effect.map(call("note_write", input, workspace), ({ outcome }) => outcome)
const search = (input: object, workspace = here) =>
  Effect.map(call("note_search", input, workspace), ({ outcome }) => outcome)

describe("note_write and note_search", () => {
  it.effect("keep a note for other sessions of the project, wherever in it they are", () =>
    Effect.gen(function* () {
      const kept = yield* write({ title: "Tests", text: "Run npm test.", tags: ["npm"] })
      assert.deepInclude(kept, { status: "completed", text: `Kept the project note 1, "Tests".` })
      const found = yield* search({ query: "npm" }, makeWorkspace("/work/project"))
      assert.match(
        found.text,
        /^1 of 1 notes\. Notes are what earlier sessions wrote down: .*\n\n## 1: Tests\n\(project, 1970-01-01, #npm\)\nRun npm test\.$/
      )
      assert.strictEqual(textOf(found.content), "1 of 1 notes\n\n## 1: Tests")
      assert.deepInclude(yield* search({ query: "npm" }, there), {
        status: "completed",
        text: "No note was found; there are 0."
      })
      yield* write({ title: "Everywhere", text: "npm again", scope: "global" }, there)
      assert.deepInclude((yield* search({ query: "npm" })).rawOutput, { total: 2 })
    }).pipe(provided)
  )

  it.effect("change and delete by the id, and only what can be seen", () =>
    Effect.gen(function* () {
      yield* write({ title: "A", text: "one" })
      assert.include((yield* write({ id: 1, text: "two" })).text, `Changed the project note 1, "A"`)
      assert.include((yield* search({ id: 1 })).text, "\ntwo")
      const elsewhere = yield* write({ id: 1, delete: true }, there)
      assert.deepInclude(elsewhere, { status: "failed" })
      assert.include(elsewhere.text, "There is no note 1 in this project")
      assert.include((yield* write({ id: "1", delete: "true" })).text, `Deleted the project note 1, "A"`)
      assert.deepInclude(yield* search({ id: 1 }), { status: "failed" })
    }).pipe(provided)
  )

  it.effect("show a long note by what was looked for, and as a whole by its id", () =>
    Effect.gen(function* () {
      const text = `${"before ".repeat(2_000)}NEEDLE${" after".repeat(2_000)}`
      yield* write({ title: "Long", text })
      const excerpt = (yield* search({ query: "needle" })).text
      assert.include(excerpt, "NEEDLE")
      assert.isBelow(excerpt.length, 1_500)
      assert.include((yield* search({ id: 1 })).text, text)
      for (let index = 0; index < 49; index++) yield* write({ title: `Long ${index}`, text })
      const all = (yield* search({ query: "needle", limit: 1_000 })).text
      assert.isBelow(all.length, 30_500)
      assert.include(all, "(cut: ask for fewer, or for one by its id)")
    }).pipe(provided)
  )

  it.effect("tell what they will do, what is missing, and ask nobody", () =>
    Effect.gen(function* () {
      const title = (tool: string, input: object) =>
        Effect.map(prepare(tool, input, here), (prepared) => prepared.title)
      assert.strictEqual(yield* title("note_write", { title: "A", text: "x" }), `Write note "A"`)
      assert.strictEqual(yield* title("note_write", { id: 3, title: "A" }), `Change note "A"`)
      assert.strictEqual(yield* title("note_write", { id: 3, delete: true }), "Delete note 3")
      assert.strictEqual(yield* title("note_search", { query: " a b " }), `Search notes for "a b"`)
      assert.strictEqual(yield* title("note_search", {}), "Search notes")
      for (const name of ["note_write", "note_search"]) {
        assert.deepStrictEqual((yield* prepare(name, { title: "A", text: "x" }, here)).access, { _tag: "None" })
      }
      const complaint = (input: object) =>
        Effect.map(Effect.flip(prepare("note_write", input, here)), ({ message }) => message)
      assert.include(yield* complaint({ title: "A" }), `needs "title" and "text"`)
      assert.include(yield* complaint({ delete: true }), `"id" is missing`)
      assert.include(yield* complaint({ id: -1 }), `"id"`)
      assert.include((yield* write({ title: " ", text: "x" })).text, `"title" is empty`)
    }).pipe(provided)
  )
})
