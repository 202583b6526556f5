/** Opens the session store of a SQLite file. Loaded at the first operation, since it loads the driver. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { SqlClient } from "effect/sql/SqlClient"
import type { StoreFailed } from "../../domain/Failure.ts"
import type { SessionStoreShape } from "../SessionStore.ts"
import { tables } from "./Migrations.ts"
import * as SqliteClient from "./SqliteClient.ts"
import * as SqlSessionStore from "./SqlSessionStore.ts"
import { storeFailed, tooNew } from "./StoreFailure.ts"

/** The file is closed with the scope. */
export const open = Effect.fnUntraced(function* (
  file: string
): Effect.fn.Return<SessionStoreShape, StoreFailed, Scope.Scope> {
  const [sql, version] = yield* Effect.gen(function* () {
    const sql = yield* SqliteClient.open(file)
    return [sql, yield* Effect.provideService(tables.migrate(), SqlClient, sql)] as const
  }).pipe(Effect.mapError((error) => storeFailed(file, error)))
  if (version > tables.known) return yield* tooNew(file, version, tables.known)
  return SqlSessionStore.make(sql, (error) => storeFailed(file, error))
})
