import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as SqliteClient from "../../../src/services/store/SqliteClient.ts"

const withTable = Effect.gen(function* () {
  const sql = yield* SqliteClient.open(":memory:")
  yield* sql`CREATE TABLE notes (id INTEGER NOT NULL, part INTEGER NOT NULL, text TEXT, PRIMARY KEY (id, part))`
  yield* sql`CREATE TABLE marks (note INTEGER, part INTEGER, FOREIGN KEY (note, part) REFERENCES notes (id, part))`
  return sql
})

describe("SqliteClient", () => {
  it.effect("takes the values that a program has, and gives plain rows", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      yield* sql`INSERT INTO notes ${sql.insert({ id: 1, part: true, text: undefined })}`
      const rows = yield* sql`SELECT * FROM notes`
      assert.deepStrictEqual(rows, [{ id: 1, part: 1, text: null }])
      assert.strictEqual(Object.getPrototypeOf(rows[0]), Object.prototype)
      assert.deepStrictEqual(yield* sql`SELECT id, text FROM notes`.values, [[1, null]])
      assert.deepStrictEqual(yield* Stream.runCollect(sql`SELECT id FROM notes`.stream), [{ id: 1 }])
      const bytes = new Uint8Array([1, 2, 3])
      assert.deepStrictEqual(yield* sql`SELECT ${bytes} AS bytes`, [{ bytes }])
      const failure = yield* Effect.flip(sql`SELECT ${{ an: "object" }}`)
      assert.match(failure.message, /no parameter of type object/)
    })
  )

  it.effect("names the key that is taken, and other broken rules as such", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      yield* sql`INSERT INTO notes VALUES (1, 1, 'x')`
      const taken = yield* Effect.flip(sql`INSERT INTO notes VALUES (1, 1, 'y')`)
      assert.isTrue(taken.reason._tag === "UniqueViolation" && taken.reason.constraint === "notes.id, notes.part")
      const orphan = yield* Effect.flip(sql`INSERT INTO marks VALUES (7, 7)`)
      assert.strictEqual(orphan.reason._tag, "ConstraintError")
      assert.strictEqual(SqliteClient.resultCode(orphan), 19)
    })
  )

  it.effect("undoes what a failed transaction did, and only what a failed part of one did", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      const insert = (id: number) => sql`INSERT INTO notes VALUES (${id}, 0, 'x')`
      const failing = (id: number) => sql.withTransaction(Effect.andThen(insert(id), Effect.fail("no" as const)))
      yield* Effect.ignore(failing(1))
      yield* sql.withTransaction(Effect.andThen(insert(2), Effect.ignore(failing(3))))
      assert.deepStrictEqual(yield* sql`SELECT id FROM notes`, [{ id: 2 }])
    })
  )

  it.effect("keeps working after more statements than it remembers", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      for (let index = 0; index < 400; index++) {
        assert.deepStrictEqual(yield* sql.unsafe(`SELECT ${index} AS found`), [{ found: index }])
      }
      assert.deepStrictEqual(yield* sql.unsafe("SELECT 0 AS found"), [{ found: 0 }])
    })
  )

  it.effect("fails, and does not throw, once it is closed", () =>
    Effect.gen(function* () {
      const sql = yield* Effect.scoped(withTable)
      assert.match((yield* Effect.flip(sql`SELECT 1`)).message, /not open/)
    })
  )
})
