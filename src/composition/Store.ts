/** The sessions of this machine, in the home folder. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { Settings } from "../services/Settings.ts"
import * as SessionStoreSqlite from "../services/store/SessionStoreSqlite.ts"

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const path = yield* Path.Path
    const { home } = yield* Settings
    return SessionStoreSqlite.layer({ file: path.join(home, "sessions.db") })
  })
)
