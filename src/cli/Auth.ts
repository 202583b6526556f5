/** `auth status`: which providers can be used, and where their keys are. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"

const status = Command.make(
  "status",
  {
    json: Flag.Boolean("json").pipe(
      Flag.withoutNegation,
      Flag.withDescription("One JSON object, for scripts"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ json }) {
    const { run } = yield* Effect.promise(() => import("./login/RunStatus.ts"))
    yield* run(json)
  })
).pipe(Command.withDescription("Show the providers and where their keys are; exit code 1 while no session can start"))

export const auth = Command.make("auth").pipe(
  Command.withDescription("Sign-in to model providers: see also login and logout"),
  Command.withSubcommands([status])
)
