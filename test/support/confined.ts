/** Runs one command confined, for a process of another user: `node confined.ts '{"command":…}'` prints the result as JSON. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { SandboxProfile } from "../../src/domain/sandbox/Profile.ts"
import { SandboxRunner } from "../../src/services/SandboxRunner.ts"
import * as SandboxRunnerLocal from "../../src/services/sandbox/SandboxRunnerLocal.ts"
import { Settings } from "../../src/services/Settings.ts"
import { platform, withoutShell } from "./toolbox.ts"

export const Confined = Schema.Struct({
  command: Schema.String,
  profile: SandboxProfile,
  /** The workspace, and the home of the agent beside it. */
  work: Schema.String,
  home: Schema.String,
  processLimit: Schema.optionalKey(Schema.Int),
  timeout: Schema.optionalKey(Schema.Int)
})

export const runConfined = ({
  command,
  home,
  processLimit = 512,
  profile,
  timeout = 20_000,
  work
}: typeof Confined.Type) =>
  Effect.gen(function* () {
    const runner = yield* SandboxRunner
    const { exit, output, timedOut } = yield* runner.run({
      command,
      cwd: work,
      confinement: { profile, roots: [work], scratch: `${home}/sessions/s` },
      timeout: Duration.millis(timeout),
      spill: `${home}/sessions/s/spill.txt`,
      onOutput: () => Effect.void
    })
    return { exit, output, timedOut }
  }).pipe(
    Effect.provide(
      SandboxRunnerLocal.layer(withoutShell).pipe(
        Layer.provide(Settings.layerValues({ home, processLimit })),
        Layer.provide(platform)
      )
    )
  )

const [argument] = process.argv.slice(2)
if (import.meta.main && argument !== undefined) {
  Schema.decodeEffect(Schema.fromJsonString(Confined))(argument).pipe(
    Effect.flatMap(runConfined),
    Effect.flatMap((result) => Console.log(JSON.stringify(result))),
    NodeRuntime.runMain
  )
}
