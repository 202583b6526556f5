/** The entry. What editors start is served at once; every other command line goes through the command tree. */
import * as Effect from "effect/Effect"
import { runMain } from "./cli/Process.ts"
import { serveStdio } from "./cli/Stdio.ts"

const args = process.argv.slice(2)
const line = args.join(" ")

runMain(
  line === "acp" || line === "agent stdio"
    ? serveStdio({ alwaysApprove: false })
    : Effect.flatMap(
        Effect.promise(() => import("./cli/Commands.ts")),
        (commands) => commands.run(args)
      )
)
