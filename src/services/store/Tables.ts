/** The tables of a SQLite file of the agent's own, and how an older file becomes a present one. */
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

const TABLE = "migrations"

const present = Effect.fnUntraced(function* () {
  const sql = yield* SqlClient
  const [latest] = yield* sql<{ version: number | null }>`SELECT MAX(migration_id) AS version FROM ${sql(TABLE)}`
  return latest?.version ?? 0
})

/** `steps` by their names, such as `0001_notes`, in their order. */
export const makeTables = (steps: Readonly<Record<string, Effect.Effect<void, SqlError, SqlClient>>>) => {
  /** The version of the tables that this program knows. */
  const known = Object.keys(steps).length
  return {
    known,
    /**
     * Brings the tables up to date, and gives their version: above `known` if a later program made them. Writes only if there
     * is something to do, so that a file that another process holds can still be opened.
     */
    migrate: Effect.fnUntraced(function* () {
      const found = yield* Effect.orElseSucceed(present(), () => 0)
      if (found >= known) return found
      yield* Migrator.make({})({ loader: Migrator.fromRecord(steps), table: TABLE })
      return yield* present()
    })
  }
}
