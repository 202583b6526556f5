/** The entry. What editors start is served at once; every other command line goes through the command tree. */
import * as Effect from "effect/Effect"
import { runMain } from "./cli/Process.ts"
import { type LeaderChoice, serveStdio } from "./cli/agent/Stdio.ts"

const args = process.argv.slice(2)

const direct: ReadonlyMap<string, LeaderChoice> = new Map([
  ["acp", {}],
  ["agent stdio", {}],
  ["acp --leader", { leader: true }],
  ["agent --leader stdio", { leader: true }]
])
const choice = direct.get(args.join(" "))

runMain(
  choice === undefined
    ? Effect.flatMap(
        Effect.promise(() => import("./cli/Commands.ts")),
        (commands) => commands.run(args)
      )
    : serveStdio({ alwaysApprove: false }, choice)
)
