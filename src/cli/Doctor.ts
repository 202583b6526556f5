/** `doctor`: what is missing, and what to do about it. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"

export const doctor = Command.make(
  "doctor",
  {
    json: Flag.Boolean("json").pipe(
      Flag.withoutNegation,
      Flag.withDescription("One JSON object a line, for scripts"),
      Flag.withDefault(false)
    ),
    offline: Flag.Boolean("offline").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Ask nobody over the network: no key is tried"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* (options) {
    const { run } = yield* Effect.promise(() => import("./doctor/RunDoctor.ts"))
    yield* run(options)
  })
).pipe(Command.withDescription("Look at all that the agent needs; code 1 if something is broken"))
