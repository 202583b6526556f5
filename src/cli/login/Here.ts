/** What the commands about providers run with. */
import * as Effect from "effect/Effect"
import { settings } from "../../composition/Platform.ts"

/** The settings, and files and paths of this machine. */
export const here = Effect.provide(settings({ alwaysApprove: false }))
