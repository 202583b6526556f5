/** `doctor`: looks at all that the agent needs and says what to do, one line for each. */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as CliError from "effect/cli/CliError"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as References from "effect/References"
import { settings } from "../../composition/Platform.ts"
import { harnesses } from "../../domain/Harness.ts"
import { McpManager } from "../../services/McpManager.ts"
import { Models } from "../../services/Models.ts"
import * as ModelsLive from "../../services/models/ModelsLive.ts"
import * as SandboxRunnerLocal from "../../services/sandbox/SandboxRunnerLocal.ts"
import { Settings, type SettingsValue } from "../../services/Settings.ts"
import { plainLine } from "../terminal/Plain.ts"
import { databases } from "./Databases.ts"
import { entries } from "./Editors.ts"
import { type Finding, found, type Health, ok } from "./Finding.ts"
import { home, programs, sandbox } from "./Machine.ts"
import { keys, localServers, models } from "./Providers.ts"
import { servers } from "./Servers.ts"

const services = Layer.suspend(() =>
  Layer.mergeAll(ModelsLive.layer, SandboxRunnerLocal.layer(process.env), McpManager.layer(process.env)).pipe(
    Layer.provideMerge(Layer.merge(settings({ alwaysApprove: false }), NodeChildProcessSpawner.layer))
  )
)

/** What was written and does not hold. A rule that was to forbid something and is lost is more than a warning. */
const config = ({ lostRules, warnings }: SettingsValue, file: string, isThere: boolean): ReadonlyArray<Finding> =>
  warnings.length === 0
    ? [ok("config", isThere ? `${file} is understood` : `there is no ${file}, and none is needed`)]
    : warnings.map((warning) => found(lostRules.includes(warning) ? "broken" : "warning", "config", warning))

/** One that does not exist refuses every session that names no other. */
const harness = ({ harness: chosen }: SettingsValue, file: string): ReadonlyArray<Finding> => {
  if (chosen === undefined || harnesses.some(({ id }) => id === chosen)) return []
  const known = harnesses.map(({ id }) => id).join(", ")
  return [
    found("broken", "harness", `there is no harness "${chosen}"`, `set agent.harness in ${file} to one of: ${known}`)
  ]
}

const marks: Readonly<Record<Health, string>> = {
  ok: "ok     ",
  note: "note   ",
  warning: "warning",
  broken: "broken "
}

const lineOf = ({ check, health, message, name, remedy }: Finding): string => {
  const what = name === undefined ? check : `${check} ${name}`
  const line = `${marks[health]}  ${what}: ${message}`
  return plainLine(line) + (remedy === undefined ? "" : `\n         ${plainLine(`To do: ${remedy}`)}`)
}

export const run = Effect.fnUntraced(
  function* ({ json, offline }: { readonly json: boolean; readonly offline: boolean }) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const settings = yield* Settings
    const value = yield* settings.current
    const file = path.join(settings.home, "config.toml")
    const isThere = yield* Effect.orElseSucceed(fs.exists(file), () => false)
    const scratch = yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "super-pi-doctor-" }))
    const known = yield* Models
    const checks = [
      programs,
      Effect.map(sandbox(value), (finding) => [finding]),
      Effect.map(home(settings.home), (finding) => [finding]),
      Effect.succeed(config(value, file, isThere)),
      Effect.succeed(harness(value, file)),
      keys({ settings: value, models: known, file, offline }),
      models(value, known, file, offline),
      offline ? Effect.succeed([]) : localServers(value),
      servers(value, scratch, offline),
      databases(settings.home),
      entries
    ] as const
    const findings = (yield* Effect.all(checks, { concurrency: "unbounded" })).flat()
    for (const finding of findings) yield* Console.log(json ? JSON.stringify(finding) : lineOf(finding))
    const broken = findings.filter(({ health }) => health === "broken").length
    if (broken === 0) return
    const userMessage = broken === 1 ? "One thing is broken" : `${broken} things are broken`
    return yield* new CliError.UserError({ cause: userMessage, userMessage })
  },
  Effect.scoped,
  Effect.provide(services),
  // What would be logged stands in the findings.
  Effect.provideService(References.MinimumLogLevel, "None")
)
