/** Failures that a person at the terminal is told. */
import * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"

/** The message of the failure is what is told, and the command has failed. */
export const explained = Effect.mapError(
  (cause: { readonly message: string }) => new CliError.UserError({ cause, userMessage: cause.message })
)

/** Ends the command with code 1, and says why. */
export const failed = (userMessage: string) => new CliError.UserError({ cause: userMessage, userMessage })
