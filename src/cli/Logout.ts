/** `logout`: forgets what a sign-in left behind, and with `--provider` the key of a provider. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"

export const logout = Command.make(
  "logout",
  {
    provider: Flag.String("provider").pipe(
      Flag.withMetavar("name"),
      Flag.withDescription("Forget the stored key of this provider"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ provider }) {
    const { run } = yield* Effect.promise(() => import("./login/RunLogout.ts"))
    yield* run(provider)
  })
).pipe(Command.withDescription("Forget cached sign-ins; the keys of providers stay unless --provider names one"))
