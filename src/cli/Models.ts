/** `models`: what can be chosen. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"

export const models = Command.make(
  "models",
  {
    json: Flag.Boolean("json").pipe(
      Flag.withoutNegation,
      Flag.withDescription("One JSON object a line, for scripts"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ json }) {
    const { run } = yield* Effect.promise(() => import("./login/RunModels.ts"))
    yield* run(json)
  })
).pipe(Command.withDescription("List the models of your providers, the one of new sessions first"))
