/** `acp setup`: makes the agent known to an editor. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { editorIds } from "./setup/EditorIds.ts"

export const setup = Command.make(
  "setup",
  {
    editor: Flag.Literals("editor", editorIds).pipe(
      Flag.withDescription("The editor to set up; without it the editors are listed"),
      Flag.optional
    ),
    print: Flag.Boolean("print").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Show what belongs into the settings, and write nothing"),
      Flag.withDefault(false)
    ),
    file: Flag.String("file").pipe(
      Flag.withMetavar("path"),
      Flag.withDescription("The file of settings, where it is not in its usual place"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* (options) {
    const { run } = yield* Effect.promise(() => import("./setup/RunSetup.ts"))
    yield* run(options)
  })
).pipe(Command.withDescription("Put the agent into the settings of an editor, or show how"))
