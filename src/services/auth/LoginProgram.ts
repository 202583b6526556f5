/** How this program is started in a terminal to sign in. */
import * as Context from "effect/Context"
import type { Program } from "../Auth.ts"

/** Unknown unless the program itself says it: an application that embeds the agent is another program. */
export const LoginProgram = Context.Reference<Program | undefined>("super-pi/LoginProgram", {
  defaultValue: () => undefined
})
