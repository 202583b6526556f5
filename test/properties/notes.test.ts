import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { type Note, NoteId, NoteScope } from "../../src/domain/Note.ts"
import { Notes } from "../../src/services/Notes.ts"
import { layerMemory } from "../../src/services/notes/NotesSqlite.ts"
import { wordsOf } from "../../src/services/notes/Words.ts"

const Project = Schema.Literals(["/a", "/b"])
const Word = Schema.Literals(["alpha", "beta", "gamma", "delta", "東京"])
const Draft = { title: Word, text: Schema.Array(Word).check(Schema.isMaxLength(3)), scope: NoteScope }
const Which = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 12 }))
const Operation = Schema.Union([
  Schema.TaggedStruct("Add", { project: Project, ...Draft }),
  Schema.TaggedStruct("Add", { project: Project, ...Draft }),
  Schema.TaggedStruct("Change", { project: Project, id: Which, ...Draft }),
  Schema.TaggedStruct("Remove", { project: Project, id: Which })
])

interface Kept extends Pick<Note, "scope" | "text" | "title"> {
  readonly project: string
}

/** What the notes have to be, said with a map. */
class Model {
  readonly kept = new Map<number, Kept>()
  next = 1

  see(project: string) {
    return [...this.kept].filter(([, note]) => note.scope === "global" || note.project === project)
  }

  apply(operation: typeof Operation.Type): "done" | "missing" {
    const { project } = operation
    if (operation._tag === "Add") {
      this.kept.set(this.next++, this.#noteOf(operation))
      return "done"
    }
    if (!this.see(project).some(([id]) => id === operation.id)) return "missing"
    if (operation._tag === "Remove") this.kept.delete(operation.id)
    else this.kept.set(operation.id, this.#noteOf(operation))
    return "done"
  }

  #noteOf({ project, scope, text, title }: Exclude<typeof Operation.Type, { readonly _tag: "Remove" }>): Kept {
    return { project, scope, title, text: text.join(" ") }
  }
}

const order = (left: number, right: number) => left - right

describe("notes", () => {
  it.effect.prop(
    "are what was written, for whoever may see it, and are found by each of their words",
    [Schema.Array(Operation).check(Schema.isMaxLength(20))],
    ([operations]) =>
      Effect.gen(function* () {
        const notes = yield* Notes
        const model = new Model()
        for (const operation of operations) {
          yield* TestClock.adjust("1 second")
          const { project } = operation
          const act =
            operation._tag === "Remove"
              ? notes.remove(project, NoteId.make(operation.id))
              : operation._tag === "Add"
                ? notes.add(project, { ...operation, text: operation.text.join(" ") })
                : notes.change(project, NoteId.make(operation.id), { ...operation, text: operation.text.join(" ") })
          const done = yield* Effect.match(act, { onFailure: ({ reason }) => reason, onSuccess: () => "done" })
          assert.strictEqual(done, model.apply(operation))
        }
        for (const project of Project.literals) {
          const seen = model.see(project)
          for (const words of ["", ...Word.literals]) {
            const found = yield* notes.search(project, { words, limit: 50 })
            const expected = seen.filter(([, { text, title }]) => `${title} ${text}`.includes(words)).map(([id]) => id)
            assert.deepStrictEqual(found.notes.map(({ id }) => Number(id)).toSorted(order), expected.toSorted(order))
            assert.strictEqual(found.total, seen.length)
            for (const note of found.notes) {
              const { scope, text, title } = note
              assert.deepInclude(Option.getOrThrow(Option.fromUndefinedOr(model.kept.get(note.id))), {
                scope,
                text,
                title
              })
            }
          }
        }
      }).pipe(Effect.provide(Layer.fresh(layerMemory))),
    { arbitrary: { runs: 30 } }
  )

  it.effect.prop(
    "can be asked for with any text",
    [Schema.String],
    ([words]) =>
      Effect.flatMap(Notes, (notes) => notes.search("/a", { words, limit: 1 })).pipe(
        Effect.tap(({ total }) => Effect.sync(() => assert.strictEqual(total, 0))),
        Effect.provide(Layer.fresh(layerMemory))
      ),
    { arbitrary: { runs: 60 } }
  )

  const signs = Arbitrary.schema(Schema.Literals([...'abcXYZ019éÜßжД漢字かアไ가 _-.,"*()🚀 \n']))
  const text = Arbitrary.map(Arbitrary.array(signs, { maxLength: 40 }), (found) => found.join(""))

  it.effect.prop(
    "are found by any of their words as they are written",
    [text],
    ([written]) =>
      Effect.gen(function* () {
        const notes = yield* Notes
        const { id } = yield* notes.add("/a", { title: "-", text: written })
        for (const word of wordsOf(written)) {
          const { notes: found } = yield* notes.search("/a", { words: word, limit: 1 })
          assert.deepStrictEqual(
            found.map((note) => note.id),
            [id],
            word
          )
        }
      }).pipe(Effect.provide(Layer.fresh(layerMemory))),
    { arbitrary: { runs: 60 } }
  )
})
