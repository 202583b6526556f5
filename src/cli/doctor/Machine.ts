/** What the agent stands on: Node, programs, the sandbox, the folder that it keeps things in. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Schema from "effect/Schema"
import { version } from "../../domain/Version.ts"
import { findExecutable } from "../../services/sandbox/Executable.ts"
import { SandboxRunner } from "../../services/SandboxRunner.ts"
import type { SettingsValue } from "../../services/Settings.ts"
import { type Finding, found, ok } from "./Finding.ts"

/** The oldest Node that has all that the agent needs. */
const NODE = 24

export const node = (): Finding => {
  const major = Number.parseInt(process.versions.node, 10)
  const message = `${process.versions.node} at ${process.execPath}`
  return major >= NODE ? ok("node", message) : found("broken", "node", message, `install Node ${NODE} or later`)
}

/** The first line of what a program says of itself; undefined when it is not there or does not run. */
const versionOf = Effect.fnUntraced(function* (name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const spawner = yield* ChildProcessSpawner
  const program = name.includes("/") ? name : yield* findExecutable(fs, path, process.env, name)
  if (program === undefined) return undefined
  const said = yield* spawner
    .string(ChildProcess.make(program, ["--version"], { stdin: "ignore", forceKillAfter: "500 millis" }))
    .pipe(
      Effect.timeout("5 seconds"),
      Effect.orElseSucceed(() => "")
    )
  const [first = ""] = said.split("\n")
  return first === "" ? undefined : `${first.trim()} at ${program}`
})

const bundledRipgrep = Effect.gen(function* () {
  const name: string = "@vscode/ripgrep"
  const module = yield* Effect.tryPromise(() => import(name))
  return (yield* Schema.decodeUnknownEffect(Schema.Struct({ rgPath: Schema.String }))(module)).rgPath
}).pipe(Effect.orElseSucceed(() => undefined))

export const programs = Effect.gen(function* () {
  const own = ok("super-pi", `${version} at ${process.argv[1] ?? "?"}`)
  const bash = yield* versionOf("bash")
  const git = yield* versionOf("git")
  const bundled = yield* bundledRipgrep
  const ripgrep = (yield* versionOf("rg")) ?? (bundled === undefined ? undefined : yield* versionOf(bundled))
  return [
    own,
    node(),
    bash === undefined
      ? found("broken", "bash", "commands need it, and it is not there", "install bash")
      : ok("bash", bash),
    git === undefined
      ? found("warning", "git", "it is not there, so /undo knows less of what commands changed", "install git")
      : ok("git", git),
    ripgrep === undefined
      ? found("note", "ripgrep", "it is not there, so searches take longer", "install ripgrep")
      : ok("ripgrep", ripgrep)
  ]
})

export const sandbox = Effect.fnUntraced(function* ({
  sandboxProfile
}: SettingsValue): Effect.fn.Return<Finding, never, SandboxRunner> {
  const profile = sandboxProfile ?? "workspace"
  if (profile === "off") return found("note", "sandbox", "commands are not confined: sandbox.profile is off")
  const status = yield* SandboxRunner.use((runner) => runner.status(profile))
  if (status._tag === "Ready") return ok("sandbox", `${status.mechanism} can enforce the profile ${profile}`)
  const { reason, remedy } = status
  return sandboxProfile === undefined
    ? found("warning", "sandbox", `commands cannot be confined, so each is asked about: ${reason}`, remedy)
    : found("broken", "sandbox", `the profile ${profile} cannot be enforced: ${reason}`, remedy)
})

/** What stands at the path, or where it would be made. */
const nearest = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (let place = folder; ; place = path.dirname(place)) {
    const info = yield* Effect.option(fs.stat(place))
    if (info._tag === "Some" || place === path.dirname(place))
      return { place, type: info.pipe(Option.map(({ type }) => type)) }
  }
})

/** Nothing is made here: a folder that is not there yet is made when it is needed. */
export const home = Effect.fnUntraced(function* (
  folder: string
): Effect.fn.Return<Finding, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const { place, type } = yield* nearest(folder)
  const broken = (message: string, remedy = "make it yours") =>
    found("broken", "home", message, `${remedy}, or set SUPERCHARGE_HOME to another folder`)
  if (Option.getOrUndefined(type) !== "Directory") return broken(`${place} is no folder`, "move it away")
  const isWritable = yield* fs.access(place, { readable: true, writable: true }).pipe(Effect.isSuccess)
  if (place === folder) return isWritable ? ok("home", folder) : broken(`${folder} cannot be written`)
  return isWritable
    ? ok("home", `${folder} is made when it is needed`)
    : broken(`${folder} cannot be made, since ${place} cannot be written`)
})
