/** The other program that can serve an HTTP inbox, where somebody wants that one: found, and run in place of this one. */
import * as CliError from "effect/cli/CliError"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import { findExecutableIn, searchedFolders } from "../../services/sandbox/Executable.ts"

export const program = "supercharge-superagent-server"

const searched = Effect.orElseSucceed(Config.String("PATH"), () => "")

/** Beside this program, by the name it was called and by the one it has, then in the folders of `PATH`. */
export const find = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const called = process.argv[1] ?? ""
  const real = yield* Effect.orElseSucceed(fileSystem.realPath(called), () => called)
  const beside = [path.dirname(called), path.dirname(real)].filter((folder) => path.isAbsolute(folder))
  const folders = [...beside, ...searchedFolders(path, { PATH: yield* searched })]
  return Option.fromUndefinedOr(yield* findExecutableIn(fileSystem, path, folders, program))
})

/** Becomes that program, so that signals and exit codes are its own. What it is told comes by variables: others see arguments. */
export const become = (
  file: string,
  variables: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, Redacted.Redacted<string>>>
): Effect.Effect<never, CliError.UserError> =>
  Effect.suspend(() => {
    const environment = { ...process.env, ...variables }
    for (const [name, secret] of Object.entries(secrets)) environment[name] = Redacted.value(secret)
    process.execve?.(file, [file], environment)
    const userMessage = `This system cannot run ${file} in place of super-pi: start it yourself, with ${Object.keys({ ...variables, ...secrets }).join(" and ")} set`
    return Effect.fail(new CliError.UserError({ cause: "execve", userMessage }))
  })
