/** `models`: what can be chosen. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { jsonFlag } from "./JsonFlag.ts"

export const models = Command.make(
  "models",
  {
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ json }) {
    const { run } = yield* Effect.promise(() => import("./login/RunModels.ts"))
    yield* run(json)
  })
).pipe(Command.withDescription("List the models of your providers, the one of new sessions first"))
