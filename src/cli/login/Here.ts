/** What the commands about providers run with, and how they fail. */
import * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import { settings } from "../../composition/Platform.ts"

/** The settings, and files and paths of this machine. */
export const here = Effect.provide(settings({ alwaysApprove: false }))

/** Ends the command with code 1, and says why. */
export const failed = (userMessage: string) => new CliError.UserError({ cause: userMessage, userMessage })
