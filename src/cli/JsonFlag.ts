/** The flag of lists that scripts read. */
import * as Flag from "effect/cli/Flag"

export const jsonFlag = Flag.Boolean("json").pipe(
  Flag.withoutNegation,
  Flag.withDescription("One JSON object a line, for scripts"),
  Flag.withDefault(false)
)
